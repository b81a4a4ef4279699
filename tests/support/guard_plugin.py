"""The fixtures and hooks that every test runs under; `tests/conftest.py` takes them all.

Invariant: a test sees neither the person's settings nor the person's files, and is silent, clean and offline,
or it fails (guards*.py). A test marked `needs_node` is left out loudly where Node.js is missing, and fails
for that in CI.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.guards import ExpectedLogs, log_records_collected, qt_messages_collected
from tests.support.guards_leaks import LeakGuard, watch_loops
from tests.support.guards_network import network_forbidden

_REMOVED_PREFIXES = ("SOPHOS_", "OLLAMA_", "LANGSMITH_", "LANGCHAIN_")
_REMOVED_NAMES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NO_COLOR", "FORCE_COLOR"})
# What the commands of packaging/dev.py tell the tests.
_KEPT_PREFIXES = ("SOPHOS_TORTURE_", "SOPHOS_TEST_")

_home = pytest.StashKey[str]()
_left_out = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Cut the session off from the person's environment."""
    config.addinivalue_line("markers", "long: left out of `make test`; `make long` and CI run it")
    config.addinivalue_line("markers", "needs_node: left out where Node.js is missing, but never in CI")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    config.option.qt_log = False  # guards.py has its own handler, for set-up and teardown too
    clean_environment()
    config.stash[_home] = tempfile.mkdtemp(prefix="sophos-tests-")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(Path(config.stash[_home]) / name)
    config.stash[_left_out] = []
    # Wall-clock limits would make a busy machine fail the tests.
    settings.register_profile("sophos", deadline=None)
    settings.load_profile("sophos")
    watch_loops()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the session's folders away."""
    if (home := config.stash.get(_home, None)) is not None:
        shutil.rmtree(home, ignore_errors=True)


def clean_environment() -> None:
    """Remove what steers the program, the libraries below it, or their network, from this process."""
    for name in list(os.environ):
        steers = name.startswith(_REMOVED_PREFIXES) and not name.startswith(_KEPT_PREFIXES)
        if steers or name.upper() in _REMOVED_NAMES:
            del os.environ[name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out tests that need Node.js where it is missing; in CI they fail."""
    if item.get_closest_marker("needs_node") is None or (shutil.which("node") and shutil.which("npm")):
        return
    if os.environ.get("CI") == "true":
        pytest.fail("Node.js is missing, and in CI no test is left out", pytrace=False)
    item.config.stash[_left_out].append(item.nodeid)
    pytest.skip("needs Node.js")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say loudly what was left out."""
    if left_out := config.stash[_left_out]:
        terminalreporter.section("LEFT OUT: tests that need Node.js", red=True, bold=True)
        for nodeid in left_out:
            terminalreporter.line(nodeid)


@pytest.fixture
def expected_logs() -> ExpectedLogs:
    """Announces log records and Qt messages: `expected_logs("regular expression")`."""
    return ExpectedLogs()


@pytest.fixture(autouse=True)
def guards(expected_logs: ExpectedLogs) -> Iterator[None]:
    """Fail the test for what it said unannounced, left behind, or tried to reach."""
    leaks = LeakGuard()
    tried: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(log_records_collected(expected_logs.said))
        stack.enter_context(qt_messages_collected(expected_logs.said))
        stack.enter_context(network_forbidden(tried))
        yield
        found = leaks.problems()
    found = [*tried, *found, *expected_logs.problems()]
    if found:
        pytest.fail("The guards found that this test\n- " + "\n- ".join(found), pytrace=False)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Where the program under test keeps everything; its name is as awkward as a person may choose."""
    return tmp_path / "Sophos data #1 100% 🦉"


@pytest.fixture
def environ(data_dir: Path) -> dict[str, str]:
    """The environment for a child process that is the program: everything in `data_dir`, no window."""
    return {
        **os.environ,
        "SOPHOS_DATA_DIR": str(data_dir),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "QT_QPA_PLATFORM": "offscreen",
    }
