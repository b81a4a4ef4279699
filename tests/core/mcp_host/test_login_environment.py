"""A command that only the user's login shell knows is found; the shell is bounded and leaves nothing."""

import asyncio
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sophos_desktop.core.mcp_host.command import child_environment, locate
from sophos_desktop.core.mcp_host.environment import UserEnvironment
from sophos_desktop.core.mcp_host.login_environment import LoginShell, user_environment
from tests.core.mcp_host.child_harness import ENOUGH_SECONDS, SYSTEM_PATH, output_of, program, sentence_of
from tests.core.mcp_host.harness import MemoryRecords
from tests.support.processes import is_alive, living, until_written

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there a program gets the user's PATH")

# The file that each shell reads at the start of a login, and how it adds a folder there.
RC_FILES = {
    "bash": (".bash_profile", 'export PATH="{folder}:$PATH"'),
    "dash": (".profile", 'export PATH="{folder}:$PATH"'),
    "zsh": (".zshrc", 'export PATH="{folder}:$PATH"'),
    "fish": (".config/fish/config.fish", "set -gx PATH {folder} $PATH"),
}


class Home:
    """A user whose shell starts from files that the test writes, and whose own PATH is short."""

    def __init__(self, root: Path, shell: str = "bash") -> None:
        self.root = root
        self.tools = root / "tools"
        self.tools.mkdir()
        path = shutil.which(shell)
        if path is None:
            pytest.skip(f"{shell} is not installed here")
        self.shell = path
        self.name = shell

    def rc(self, *lines: str) -> None:
        """What the shell does when it starts; `{folder}` is where the tools are."""
        name, _ = RC_FILES[self.name]
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(line.replace("{folder}", str(self.tools)) + "\n" for line in lines))

    def tool(self, name: str, text: str = "#!/bin/sh\necho it runs\n", mode: int = 0o700) -> Path:
        """A program in a folder that only the shell knows."""
        return program(self.tools / name, text, mode)

    def variables(self, **more: str) -> dict[str, str]:
        """What an app gets that is started from an icon."""
        return {"PATH": SYSTEM_PATH, "HOME": str(self.root), "SHELL": self.shell, **more}

    def environment(self, **more: str) -> "Environment":
        variables = self.variables(**more)
        return Environment(variables, LoginShell(variables, ask_seconds=ENOUGH_SECONDS))


class Environment(UserEnvironment):
    """With the child's environment at hand."""

    def child(self, **entry: str) -> Mapping[str, str]:
        return child_environment(self, entry)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("shell", list(RC_FILES))
async def test_a_command_that_only_the_login_shell_knows_is_started_with_its_path(
    tmp_path: Path, shell: str
) -> None:
    home = Home(tmp_path, shell)
    home.rc("echo Welcome back", RC_FILES[shell][1])
    home.tool("my-node", '#!/bin/sh\necho "node runs $1"\n')
    home.tool("my-npx", "#!/usr/bin/env my-node\n")
    lines = await output_of("my-npx", home.environment().child())
    assert lines == [f"node runs {home.tools / 'my-npx'}"]


async def test_a_command_on_the_own_path_costs_no_shell(home: Home) -> None:
    home.rc("touch asked")
    assert await output_of("true", home.environment().child()) == []
    assert not (home.root / "asked").exists()


async def test_the_shell_is_asked_once_also_by_servers_that_start_together(home: Home) -> None:
    home.rc("echo asked >> asked", RC_FILES["bash"][1])
    for name in ("one", "two", "three"):
        home.tool(name)
    environment = home.environment().child()
    outputs = await asyncio.gather(*(output_of(name, environment) for name in ("one", "two", "three")))
    assert outputs == [["it runs"]] * 3
    assert await sentence_of("four", environment)
    assert (home.root / "asked").read_text() == "asked\n"


async def test_only_path_locale_home_and_temporary_folder_are_taken_from_the_shell(home: Home) -> None:
    home.rc(RC_FILES["bash"][1], "export LC_TIME=C TMPDIR=/tmp SECRET=s PYTHONPATH=/x LD_PRELOAD=")
    home.tool("show", "#!/bin/sh\nenv\n")
    lines = await output_of("show", home.environment().child(GIVEN="1"))
    names = {line.partition("=")[0] for line in lines} - {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names >= {"PATH", "HOME", "SHELL", "LC_TIME", "TMPDIR", "GIVEN", "SOPHOS_CHILD_TOKEN"}
    assert names <= {"PATH", "HOME", "SHELL", "LC_TIME", "TMPDIR", "GIVEN", "SOPHOS_CHILD_TOKEN", "LANG"}


async def test_a_path_that_the_entry_sets_comes_first(home: Home) -> None:
    home.rc(RC_FILES["bash"][1])
    home.tool("show", "#!/bin/sh\necho $PATH\n")
    (line,) = await output_of("show", home.environment().child(PATH="/opt/own:/usr/bin"))
    assert line.split(":")[:3] == ["/opt/own", "/usr/bin", str(home.tools)]


async def test_a_script_whose_interpreter_only_the_shell_knows_is_started(home: Home) -> None:
    home.rc(RC_FILES["bash"][1])
    home.tool("interpreter", "#!/bin/sh\necho interpreted\n")
    script = program(home.root / "script", "#!/usr/bin/env interpreter\n")
    assert await output_of(str(script), home.environment().child()) == ["interpreted"]


async def test_not_found_names_both_places(home: Home) -> None:
    home.rc("export PATH=/a:/b:/c:/d")
    text = await sentence_of("npx-of-mine", home.environment().child())
    assert text == (
        "the command npx-of-mine was not found in the 2 folders of PATH, nor in the 4 of your login shell; "
        "check how it is written, install it, or give its full path"
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["exit 3"], "ended without saying its PATH"),
        (["exec true"], "ended without saying its PATH"),
        (["kill -9 $$"], "ended without saying its PATH"),
        (["unset PATH"], "ended without saying its PATH"),
    ],
)
async def test_a_shell_that_does_not_answer_leaves_the_own_path_and_is_named(
    home: Home, lines: list[str], said: str
) -> None:
    home.rc(*lines)
    text = await sentence_of("npx-of-mine", home.environment().child())
    assert text.startswith(
        "the command npx-of-mine was not found in the 2 folders of PATH, and your login shell could not be "
        f"asked: {home.shell} {said}"
    )
    assert await output_of("true", home.environment().child()) == []


async def test_what_rc_files_print_is_not_taken_for_the_answer(home: Home) -> None:
    garbage = "printf 'PATH=/evil\\0\\0\\n\\n'; head -c 3000000 /dev/zero; printf 'PATH=/x\\0'"
    home.rc("set -v", garbage, "export PATH=/one:/two", "trap 'echo bye; exit 5' EXIT")
    environment = home.environment()
    assert environment.login is not None
    answer = await environment.login.ask(MemoryRecords())
    assert answer.variables["PATH"] == "/one:/two"


@pytest.mark.parametrize(
    "line",
    [
        "sleep 600",
        "while :; do echo y; done",
        "trap '' TERM HUP; while :; do sleep 1; done",
        "read line; sleep 600",
    ],
)
async def test_a_shell_that_hangs_is_given_up_and_ended(home: Home, line: str) -> None:
    home.rc("echo $$ > shell.pid", f"({line}) & sleep 600 & {line}")
    records = MemoryRecords()
    login = LoginShell(home.variables(), ask_seconds=1.0)
    answer = await login.ask(records)
    assert answer.problem == f"{home.shell} did not answer within 1 seconds"
    (token,) = {token for _, token in records.said if token != "login shell"}
    assert living(token) == {}
    if (home.root / "shell.pid").exists():
        assert not is_alive(int((home.root / "shell.pid").read_text()))
    assert records.alive == {}


async def test_what_an_rc_file_leaves_in_the_background_is_ended_with_the_shell(home: Home) -> None:
    home.rc(
        "(trap '' TERM; echo x >> started; exec sleep 600) &",
        "setsid sh -c 'trap \"\" TERM; echo x >> started; exec sleep 600' &",
        "while [ $(wc -l < started) != 2 ]; do sleep 0.01; done 2>/dev/null",
    )
    (home.root / "started").touch()
    records = MemoryRecords()
    answer = await LoginShell(home.variables(), ask_seconds=ENOUGH_SECONDS).ask(records)
    assert answer.variables["PATH"]
    assert living(records.tokens()[0]) == {}


async def test_the_shell_has_no_terminal_and_no_input(home: Home) -> None:
    home.rc("(exec 3</dev/tty) 2>/dev/null && echo tty >> seen", "cat > input", "tty >> seen")
    answer = await LoginShell(home.variables(), ask_seconds=ENOUGH_SECONDS).ask(MemoryRecords())
    assert answer.variables["PATH"]
    assert (home.root / "seen").read_text() == "not a tty\n"
    assert (home.root / "input").read_text() == ""


async def test_stopping_while_the_shell_is_asked_leaves_none_of_it(home: Home) -> None:
    home.rc("echo $$ >> shells", "sleep 600")
    environment, records = home.environment().child(), MemoryRecords()
    asking = [asyncio.ensure_future(locate("my-npx", environment, None, records)) for _ in range(2)]
    (first,) = await until_written(home.root / "shells")
    for one in asking:
        one.cancel()
    assert [type(end) for end in await asyncio.gather(*asking, return_exceptions=True)] == [
        asyncio.CancelledError
    ] * 2
    assert not is_alive(int(first))
    assert [pid for token in records.tokens() for pid in living(token)] == []
    assert records.alive == {}


async def test_a_shell_that_does_not_exist_is_replaced_by_that_of_the_password_database(home: Home) -> None:
    environment = home.variables(SHELL="/no/such/shell")
    answer = await LoginShell(environment, ask_seconds=ENOUGH_SECONDS).ask(MemoryRecords())
    assert answer.problem or answer.variables["PATH"]
    assert "/no/such/shell" not in answer.problem


async def test_a_shell_that_cannot_be_started_is_a_sentence(home: Home) -> None:
    shell = program(home.root / "shell", b"\x7fELF no")
    answer = await LoginShell(home.variables(SHELL=str(shell))).ask(MemoryRecords())
    assert "was found but cannot be started: Exec format error" in answer.problem


def test_the_programs_own_variables_are_what_they_were() -> None:
    environment = user_environment({"PATH": "/bin", "HOME": "/h"})
    assert dict(environment) == {"PATH": "/bin", "HOME": "/h"}
    assert len(environment) == 2
    assert isinstance(environment.login, LoginShell)
