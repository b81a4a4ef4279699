"""The guards of tests/support fail the tests they should fail, and no others."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "support" / "guard_samples.py"
NAMES = [
    line.removeprefix("async ").removeprefix("def ").split("(")[0]
    for line in SAMPLES.read_text(encoding="utf-8").splitlines()
    if line.removeprefix("async ").startswith("def test_")
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """How each sample ended: what its report says, empty if it passed."""
    return run_samples(tmp_path_factory.mktemp("samples"), {})[0]


def run_samples(
    folder: Path, environment: dict[str, str], choice: str = "test"
) -> tuple[dict[str, str], str]:
    """Run the samples in a process of their own: reports by test name, and what was printed."""
    shutil.copy(SAMPLES, folder / "test_samples.py")
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "conftest.py")
    report = folder / "report.xml"
    command = [
        *(sys.executable, "-m", "pytest", str(folder), "-c", str(ROOT / "pyproject.toml"), "-k", choice),
        *("-p", "no:langsmith_plugin", "-p", "no:cacheprovider"),
        *("--rootdir", str(folder), "--junitxml", str(report)),
    ]
    person = {"SOPHOS_DATA_DIR": "/nowhere", "OLLAMA_HOST": "elsewhere", "LANGSMITH_TRACING": "true"}
    printed = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", **person, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert report.exists(), printed.stdout + printed.stderr
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "").split("[")[0]
        problems = [*case.findall("failure"), *case.findall("error"), *case.findall("skipped")]
        found[name] = found.get(name, "") + "".join(f"{item.get('message')} {item.text}" for item in problems)
    return found, printed.stdout


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("test_fails_")])
def test_a_guard_fails_the_test_that_caused_it(name: str, outcomes: dict[str, str]) -> None:
    words = {
        "warning": "DeprecationWarning",
        "log_record": "not announced with expected_logs: WARNING sample: something is wrong",
        "does_not_come_true": "announced with expected_logs, and not said",
        "qt_message": "not announced with expected_logs: QT default",
        "pending_task": "left a pending task",
        "nobody_hears": "Task exception was never retrieved",
        "for_a_thread": "left a thread: left-behind",
        "child_process": "left a child process",
        "descriptor": "left a descriptor",
        "socket": "left a descriptor",
        "connection_beyond": "tried to reach the network: connect to 192.0.2.1:80",
        "look_up_beyond": "tried to reach the network: look up example.org",
        "async_connection": "tried to reach the network: look up example.org",
    }
    expected = next(text for part, text in reversed(words.items()) if part in name)
    assert expected in outcomes[name]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("test_passes_")])
def test_the_guards_leave_a_clean_test_alone(name: str, outcomes: dict[str, str]) -> None:
    assert outcomes[name] == ""


def test_tests_that_need_node_are_left_out_loudly_and_never_in_ci(tmp_path: Path) -> None:
    (tmp_path / "person").mkdir()
    (tmp_path / "ci").mkdir()
    no_node = {"PATH": str(tmp_path), "CI": ""}
    outcome, printed = run_samples(tmp_path / "person", no_node, "is_left_out_without_node")
    assert "needs Node.js" in outcome["test_is_left_out_without_node"]
    assert "LEFT OUT: tests that need Node.js" in printed
    outcome, _ = run_samples(tmp_path / "ci", {**no_node, "CI": "true"}, "is_left_out_without_node")
    assert "in CI no test is left out" in outcome["test_is_left_out_without_node"]
