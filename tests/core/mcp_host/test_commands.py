"""Finding a command on PATH and by Windows' rules; and what is said when it cannot be started."""

import os
import stat
import sys
from pathlib import Path

import pytest

from sophos_desktop.core.mcp_host.program_file import extensions_of, find_program
from sophos_desktop.core.mcp_host.windows_command_line import batch_line
from tests.core.mcp_host.child_harness import SYSTEM_PATH, output_of, program, sentence_of


def _exec_format(folder: Path) -> Path:
    return program(folder / "x", b"\x7fELF no")


def _no_first_line(folder: Path) -> Path:
    return program(folder / "x", "echo hello\n")


def _no_permission(folder: Path) -> Path:
    return program(folder / "x", "#!/bin/sh\n", stat.S_IRUSR)


def _no_interpreter(folder: Path) -> Path:
    return program(folder / "x", "#!/no/such/python3 -u\n")


def _line_end_of_windows(folder: Path) -> Path:
    return program(folder / "x", "#!/bin/sh\r\necho\r\n")


def _interpreter_no_program(folder: Path) -> Path:
    plain = program(folder / "plain", "text", 0o600)
    return program(folder / "x", f"#!{plain}\n")


def _folder(folder: Path) -> Path:
    (folder / "x").mkdir()
    return folder / "x"


def _broken_link(folder: Path) -> Path:
    (folder / "x").symlink_to(folder / "nothing")
    return folder / "x"


def _needs_another(folder: Path) -> Path:
    return program(folder / "x", "#!/usr/bin/env -S no-such-node --flag\n")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_exec_format, "Exec format error: it is made for another kind of machine"),
        (_no_first_line, "Exec format error: it is made for another kind of machine, or is a script without"),
        (_no_permission, "it is not a program that you may execute; chmod +x makes it one"),
        (_no_interpreter, "its first line asks for /no/such/python3, which does not exist; install that"),
        (
            _line_end_of_windows,
            "its first line ends as on Windows; save it with the line ends of this",
        ),
        (_interpreter_no_program, "plain, which is not a program that you may execute"),
        (_folder, "it is a folder, not a program"),
        (_broken_link, "it is a link to something that does not exist"),
        (_needs_another, "it needs no-such-node, which was not found in the 2 folders of PATH; check how"),
    ],
)
@pytest.mark.parametrize("by_path", [True, False])
async def test_what_is_there_but_cannot_be_started_says_why_and_what_to_do(
    tmp_path: Path, make: object, said: str, by_path: bool
) -> None:
    assert callable(make)
    path = make(tmp_path)
    folders = "/usr/bin" if by_path else f"{tmp_path}"
    environment = {"PATH": f"{folders}:/bin"}
    text = await sentence_of(str(path) if by_path else "x", environment)
    assert text.startswith(f"the command {path} was found but cannot be started: ")
    assert said in text


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("npx", "install Node.js, which it belongs to, or give its full path"),
        ("uvx", "install uv, which it belongs to, or give its full path"),
        ("uv", "install uv, or give its full path"),
        ("docker", "install Docker, or give its full path"),
        ("python3", "install Python, which it belongs to, or give its full path"),
        ("my-server", "check how it is written, install it, or give its full path"),
    ],
)
async def test_not_found_says_what_to_install(tmp_path: Path, command: str, hint: str) -> None:
    text = await sentence_of(command, {"PATH": str(tmp_path)})
    assert text == f"the command {command} was not found in the one folder of PATH; {hint}"


@pytest.mark.parametrize("command", ["npx -y @scope/server", "{}/npx -y @scope/server"])
async def test_arguments_in_the_command_are_said_with_the_right_form(tmp_path: Path, command: str) -> None:
    program(tmp_path / "npx", "#!/bin/sh\n")
    command = command.format(tmp_path)
    text = await sentence_of(command, {"PATH": str(tmp_path)})
    assert text == (
        f"the command {command} holds its arguments too; "
        f'write "command": "{command.split()[0]}" and put "-y", "@scope/server" first into "args" in mcp.json'
    )


async def test_a_program_may_have_spaces_in_its_name(tmp_path: Path) -> None:
    program(tmp_path / "my server", "#!/bin/sh\necho hello\n")
    assert await output_of("my server", {"PATH": f"{tmp_path}:{SYSTEM_PATH}"}, str(tmp_path)) == ["hello"]
    missing = tmp_path / "no server"
    assert "does not exist; correct it" in await sentence_of(str(missing), {"PATH": SYSTEM_PATH})


async def test_a_script_that_needs_node_says_so(tmp_path: Path) -> None:
    script = program(tmp_path / "npx", "#!/usr/bin/env node\n")
    text = await sentence_of("npx", {"PATH": str(tmp_path)})
    assert text == (
        f"the command {script} was found but cannot be started: it needs node, which was not found in "
        "the one folder of PATH; install Node.js, which it belongs to, or give its full path"
    )


async def test_a_full_path_that_is_not_there_is_another_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "server"
    text = await sentence_of(str(missing), {"PATH": SYSTEM_PATH})
    assert text == f"the command {missing} does not exist; correct it in mcp.json"
    assert "does not exist" in await sentence_of("/" + "x" * 5_000, {"PATH": SYSTEM_PATH})


async def test_a_relative_command_counts_from_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "server", "#!/bin/sh\npwd\n")
    for command, path in (("bin/server", SYSTEM_PATH), ("./bin/server", SYSTEM_PATH), ("server", "bin:/bin")):
        assert await output_of(command, {"PATH": path}, str(tmp_path)) == [str(tmp_path)]


async def test_what_cannot_be_handed_on_is_said(tmp_path: Path) -> None:
    environment = {"PATH": SYSTEM_PATH}
    assert "cannot be handed on: embedded null byte" in await sentence_of("true", environment, args=["a\0"])
    assert "Argument list too long" in await sentence_of("true", environment, args=["a" * 3_000_000])
    assert "does not exist; make it" in await sentence_of("true", environment, str(tmp_path / "none"))


# Windows, by its rules, anywhere.

NODE = "C:\\Program Files\\nodejs"
WINDOWS_FILES = {
    f"{NODE}\\npx",
    f"{NODE}\\npx.cmd",
    f"{NODE}\\npx.ps1",
    f"{NODE}\\node.exe",
    "D:\\tools\\uvx.exe",
    "D:\\tools\\both.bat",
    "D:\\tools\\both.exe",
    "D:\\tools\\script.py",
}


def on_windows(command: str, pathext: str | None = ".COM;.EXE;.BAT;.CMD") -> str | None:
    lowered = {file.lower() for file in WINDOWS_FILES}
    return find_program(
        command,
        ["C:\\Windows\\System32", NODE, "D:\\tools"],
        platform="win32",
        extensions=extensions_of(pathext),
        is_program=lambda path: path.lower().replace("/", "\\") in lowered,
    )


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("npx", f"{NODE}\\npx.cmd"),
        ("NPX", f"{NODE}\\NPX.cmd"),
        ("npx.cmd", f"{NODE}\\npx.cmd"),
        ("node", f"{NODE}\\node.exe"),
        ("uvx", "D:\\tools\\uvx.exe"),
        ("both", "D:\\tools\\both.exe"),
        ("D:\\tools\\uvx", "D:\\tools\\uvx.exe"),
        ("D:/tools/uvx", "D:/tools/uvx.exe"),
        ("script.py", None),
        ("missing", None),
        ("D:\\tools\\missing", None),
    ],
)
def test_on_windows_a_command_is_found_by_pathext(command: str, found: str | None) -> None:
    assert on_windows(command) == found


def test_on_windows_pathext_decides_what_is_a_program() -> None:
    assert on_windows("both", ".BAT;.EXE") == "D:\\tools\\both.bat"
    assert on_windows("script", ".PY") == "D:\\tools\\script.py"
    assert on_windows("npx", None) == on_windows("npx", "") == f"{NODE}\\npx.cmd"
    assert on_windows("npx", ".EXE") is None


def test_elsewhere_a_name_is_taken_as_it_is() -> None:
    found = find_program(
        "npx", ["/a", "/b"], platform="linux", is_program=lambda path: path in ("/b/npx", "/a/npx.cmd")
    )
    assert found == "/b/npx"


def test_a_batch_file_gets_its_arguments_as_they_are() -> None:
    line = batch_line(f"{NODE}\\npx.cmd", ["-y", "a b", "", "x&calc", 'say "hi"', "C:\\dir\\", "100%PATH%"])
    assert line == (
        f'"{NODE}\\npx.cmd" "-y" "a b" "" "x&calc" "say ""hi""" "C:\\dir\\\\" "100%%cd:~,%PATH%%cd:~,%"'
    )


def test_backslashes_before_a_quotation_mark_are_doubled() -> None:
    assert batch_line("x.cmd", ['\\\\"', "\\a"]) == '"x.cmd" "\\\\\\\\""" "\\a"'


@pytest.mark.parametrize("argument", ["a\nb", "a\rb", "a\0b"])
def test_an_argument_that_would_end_the_line_is_refused(argument: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        batch_line("x.cmd", [argument])


@pytest.mark.skipif(sys.platform == "win32", reason="the folders of a PATH as written here")
async def test_the_search_is_done_in_the_order_of_path(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        program(tmp_path / name / "tool", f"#!/bin/sh\necho {name}\n")
    path = os.pathsep.join(["", str(tmp_path / "first"), str(tmp_path / "second")])
    assert await output_of("tool", {"PATH": path}) == ["first"]
