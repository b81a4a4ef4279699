"""The contract's words against the program's: commands, options, codes, event types."""

import re

import pytest

from sophos_desktop.cli.parser import parse
from sophos_desktop.cli.running import exit_code
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import EVENT_TYPES
from tests.contract import contract
from tests.contract.in_process import Program

EXAMPLES = [
    "ask -c abcd -m smol --engine ollama --approve wait --json hello",
    "ask -",
    "ask --attach a.txt --attach b.png --json hello",
    "resume abcd --approve ask --json",
    "follow abcd --json",
    "list --status active --status archived --tag a --tag b --query x --limit 3 --json",
    "show abcd --json",
    "runs abcd --json",
    "trace abcd --json",
    "export abcd --format jsonl -o out",
    "export abcd efgh --format md -o out",
    "export --all -o out",
    "delete abcd --yes",
    "approvals --json",
    "decide abcd abcd:0 allow --args {} --reason why --no-run --json",
    "decide abcd abcd:0 result --result text",
    "decide abcd abcd:0 deny --always --approve wait",
    "attachment abcd -o out --force --json",
    "models --json",
    "mcp --json",
    "mcp logs lines --json",
    "mcp restart lines --json",
    "mcp call lines append_line {} --json",
    "mcp call lines append_line --json -",
    "mcp add lines --env A=b --env C=d --cwd x --replace --no-check -- npx -y --env=x server -- more",
    "mcp add lines --url https://example.org/mcp --header A=b",
    "mcp add --paste - --replace",
    "mcp remove lines",
    "mcp trust lines --revoke",
    "mcp permissions --json",
    "mcp allow fetch fetch --host example.org",
    "mcp deny lines",
    "mcp deny fetch fetch --host https://Example.org:8443/page",
    "mcp ask lines append_line",
    "mcp forget fetch --host example.org",
    "doctor --json",
    "config --json",
    "config engine.model smol --json",
]


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_command_of_the_contract_is_understood(line: str) -> None:
    assert parse(line.split()).command == line.split()[0]


def test_all_commands_are_there_but_those_of_later_issues() -> None:
    with pytest.raises(SophosError) as refused:
        parse(["nonsense"])
    offered = set(re.findall(r"'([a-z]+)'", refused.value.title)) - {"nonsense"}
    assert offered == set(contract.commands()) - contract.LATER
    assert {line.split()[0] for line in EXAMPLES} | {"desktop"} == offered


@pytest.mark.parametrize("argv", [[], ["--data-dir", "x"], ["desktop"], ["desktop", "--demo", "hi"]])
def test_without_a_command_the_window_opens(argv: list[str]) -> None:
    assert parse(argv).command == "desktop"


@pytest.mark.parametrize("argv", [["--data-dir", "x", "list"], ["list", "--data-dir", "x"]])
def test_the_data_folder_may_be_named_before_and_after_the_command(argv: list[str]) -> None:
    assert parse(argv).data_dir == "x"


@pytest.mark.parametrize(
    "line",
    [
        "ask",
        "ask hello --attach",
        "ask one two",
        "list --limit 0",
        "list --limit many",
        "list --lim 1",
        "list --status gone",
        "decide abcd call maybe",
        "decide abcd call allow --args [1]",
        "decide abcd call allow --args {",
        "decide abcd call skip --args {}",
        "decide abcd call skip --result done",
        "decide abcd call skip --always",
        "decide abcd call run-again --always",
        "attachment",
        "search words",
        "export abcd --format txt",
        "export abcd --json",
        "--nonsense",
        "mcp nonsense",
        "mcp logs",
        "mcp logs a b",
        "mcp call lines",
        "mcp add lines",
        "mcp add lines --",
        "mcp add -- npx",
        "mcp add lines npx",
        "mcp add lines --env A -- npx",
        "mcp add lines --header A=b -- npx",
        "mcp add lines --url x -- npx",
        "mcp add lines --url x --env A=b",
        "mcp add lines --paste - --env A=b",
        "mcp remove",
        "mcp permissions lines",
        "mcp allow lines",
        "mcp allow",
        "mcp deny",
        "mcp deny fetch --host example.org",
        "mcp deny fetch fetch --host",
        "mcp deny fetch fetch --host *.example.org",
        "mcp deny fetch fetch --host http://[1",
        "mcp allow fetch fetch --host [::1",
        "mcp allow fetch fetch --host my_host",
        "mcp allow fetch fetch --host ftp://example.org",
        "mcp allow fetch fetch --host -bücher-.example",
        "mcp ask lines one two",
        "mcp forget",
    ],
)
def test_what_does_not_fit_is_a_bad_request(line: str) -> None:
    with pytest.raises(SophosError) as refused:
        parse(line.split())
    assert refused.value.code is ErrorCode.BAD_REQUEST


def test_exit_codes_are_those_of_the_contract() -> None:
    table = contract.exit_codes()
    assert {code.exit_code for code in ErrorCode} == {2, 3, 5, 6, 7}
    assert set(table) == {0, 1, 2, 3, 4, 5, 6, 7, 130, 143}
    outcomes = {
        exit_code("completed", None): "completed",
        exit_code("failed", "ENGINE_ERROR"): "run failed",
        exit_code("waiting", None): "waiting for a decision",
        exit_code("failed", "STORE_BUSY"): "store error",
        exit_code("cancelled", None): "stopped (SIGINT)",
        exit_code("interrupted", None): "drained (SIGTERM)",
    }
    assert outcomes == {code: table[code] for code in (0, 3, 4, 7, 130, 143)}
    assert exit_code("failed", "NO_SUCH_CODE") == 3


def test_event_types_are_those_of_the_contract() -> None:
    for kind in EVENT_TYPES:
        assert contract.fields(f"`{kind} "), kind


async def test_help_and_version_are_printed(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    for argv, words in ((["--version"], "sophos-desktop 0."), (["ask", "--help"], "--approve")):
        with pytest.raises(SystemExit) as left:
            await program(*argv)
        assert left.value.code == 0
        assert words in capsys.readouterr().out


def test_what_follows_the_dashes_of_mcp_add_is_the_servers_own_command_line() -> None:
    line = "--data-dir d mcp add lines --env A=b=c -- npx -y --json -- x --data-dir y"
    parsed = parse(line.split())
    assert parsed.server_command == ["npx", "-y", "--json", "--", "x", "--data-dir", "y"]
    assert (parsed.name, parsed.env, parsed.data_dir) == ("lines", [("A", "b=c")], "d")
    assert parse(["ask", "--", "mcp add -- x"]).text == "mcp add -- x"


@pytest.mark.parametrize("line", ["mcp --json call a b", "mcp call a b --json", "mcp call a b {} --json"])
def test_json_may_be_said_on_either_side_of_the_action(line: str) -> None:
    assert parse(line.split()).json is True
    assert parse(line.replace(" --json", "").split()).json is False


@pytest.mark.parametrize(
    "line",
    [
        "mcp forget fetch fetch --host https://user@Example.org:1/x",
        "mcp forget --host example.org fetch fetch",
        "mcp forget fetch --host=example.org fetch --data-dir d",
        "mcp allow fetch fetch --host EXAMPLE.org.",
        "mcp ask fetch fetch --host example.org:8080",
    ],
)
def test_a_host_may_be_said_anywhere_and_as_an_address(line: str) -> None:
    parsed = parse(line.split())
    assert (parsed.name, parsed.tool, parsed.host) == ("fetch", "fetch", "example.org")


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        ("Bücher.example", "xn--bcher-kva.example"),
        ("https://user@straße.example:8080/a//b?c=ü", "xn--strae-oqa.example"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
    ],
)
def test_a_host_in_other_letters_is_the_one_that_the_network_knows(typed: str, host: str) -> None:
    assert parse(["mcp", "allow", "fetch", "fetch", "--host", typed]).host == host


def test_what_an_older_version_stored_for_a_host_can_be_taken_back() -> None:
    assert parse(["mcp", "forget", "fetch", "--host", "::1"]).host == "::1"
