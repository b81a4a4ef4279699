"""The `mcp` commands as a person types them: real servers, and a second process of ours beside."""

import asyncio
import json
import shlex
import sys
from typing import Any

from sophos_desktop.foundation.child_processes import identify
from sophos_desktop.foundation.paths import resolve_paths
from tests.e2e.cli_program import SECONDS, Program, typed
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.sources import ROOT


def hostile(program: Program, name: str, mode: str, *args: str, **fields: Any) -> None:
    """Write a scripted server into the user's file."""
    entry = {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.hostile", mode, *args],
        "env": {"PYTHONPATH": program.environ["PYTHONPATH"]},
        "cwd": str(ROOT),
        **fields,
    }
    program.write_entries({**program.entries(), name: entry})


async def test_a_tool_is_called_outside_any_run(program: Program) -> None:
    hostile(program, "answers", "answers")
    arguments = json.dumps({"file": str(program.lines_file), "text": "hello"})
    called = await typed(program, "mcp", "call", "lines", "append_line", arguments)
    assert (called.code, called.out, called.err) == (0, "appended hello\n", "")
    assert (await typed(program, "mcp", "call", "lines", "append_line", "-", stdin=arguments)).code == 0
    assert program.appended() == ["hello", "hello"]
    whole = await typed(program, "mcp", "call", "answers", "structured", "--json")
    assert whole.json == {"content": [], "isError": False, "structuredContent": {"answer": 42}}
    failed = await typed(program, "mcp", "call", "answers", "error")
    assert (failed.code, failed.out) == (3, "the disk is full\n")
    assert (await typed(program, "list")).err == "no conversations\n"


async def test_a_call_that_cannot_be_made_says_what_is_wrong(program: Program) -> None:
    hostile(program, "dies", "dies_at_start")
    wrong = await typed(program, "mcp", "call", "lines", "append_line", '{"file": 3}')
    assert wrong.code == 2
    assert "file" in wrong.err and "text" in wrong.err
    assert (await typed(program, "mcp", "call", "lines", "append_line", "{")).code == 2
    tool = await typed(program, "mcp", "call", "lines", "nope")
    assert (tool.code, "It offers: append_line" in tool.err) == (6, True)
    for argv in (
        ("call", "nope", "x"),
        ("logs", "nope"),
        ("restart", "nope"),
        ("trust", "../nope\n"),
        ("remove", "n" * 300),
    ):
        unknown = await typed(program, "mcp", *argv)
        assert (unknown.code, unknown.err.startswith("error NOT_FOUND: ")) == (6, True), unknown.err
        assert "lines" in unknown.err
    down = await typed(program, "mcp", "call", "dies", "hello", "--json")
    assert down.code == 3
    assert down.json["error"]["code"] == "TOOL_SERVER_DOWN"
    assert "It ended with exit status 3" in down.json["error"]["title"]
    assert "no key was given" in down.err


async def test_a_server_is_added_tried_trusted_and_removed(program: Program) -> None:
    before = program.mcp_file.read_bytes()
    path = program.environ["PYTHONPATH"]
    command = (sys.executable, "-m", "tests.support.mcp_servers.append_line")
    added = await typed(program, "mcp", "add", "mine", "--env", f"PYTHONPATH={path}", "--", *command)
    assert added.code == 0, added.err
    assert added.out.splitlines() == [
        f"wrote mine to {program.mcp_file}",
        "mine: ready, 3 tools: append_line, read_lines, slow_append",
    ]
    assert program.entries()["mine"] == {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.append_line"],
        "env": {"PYTHONPATH": path},
    }
    taken = await typed(program, "mcp", "add", "mine", "--", *command)
    assert (taken.code, "--replace" in taken.err) == (2, True)
    assert await trust_of(program, "mine") == ("none", False)
    assert (await typed(program, "mcp", "trust", "mine")).code == 0
    assert await trust_of(program, "mine") == ("user", True)
    entries = program.entries()
    program.write_entries(
        {
            **entries,
            "mine": {**entries["mine"], "args": [*entries["mine"]["args"], f"{program.mcp_file}.log"]},
        }
    )
    changed = await typed(program, "mcp")
    assert "notice TRUST_LOST: tool server mine" in changed.err
    assert "no longer trusted, it has changed" in changed.out
    assert await trust_of(program, "mine") == ("changed", False)
    assert (await typed(program, "mcp", "trust", "mine", "--revoke")).code == 0
    assert await trust_of(program, "mine") == ("none", False)
    program.write_entries({**entries, "mine": {**entries["mine"], "trusted": True}})
    assert await trust_of(program, "mine") == ("file", True)
    assert (await typed(program, "mcp", "trust", "mine", "--revoke")).code == 0
    assert program.entries()["mine"] == entries["mine"]
    removed = await typed(program, "mcp", "remove", "mine")
    assert (removed.code, removed.out) == (0, f"removed mine from {program.mcp_file}\n")
    assert json.loads(before) == program.entries()
    assert (await typed(program, "mcp", "remove", "fetch")).code == 0
    assert program.entries()["fetch"] == {"disabled": True}


async def trust_of(program: Program, name: str) -> tuple[str, bool]:
    """What the list says of a server's trust."""
    servers = (await typed(program, "mcp", "--json")).json
    return next((one["trust"], one["trusted"]) for one in servers if one["name"] == name)


async def test_an_added_server_that_does_not_start_is_written_and_explained(program: Program) -> None:
    added = await typed(program, "mcp", "add", "ghost", "--", "no-such-program-anywhere", "--flag")
    assert added.code == 0
    assert "ghost: failed. It cannot be started: the command no-such-program-anywhere" in added.out
    assert program.entries()["ghost"]["args"] == ["--flag"]
    quiet = await typed(program, "mcp", "add", "other", "--no-check", "--url", "https://example.org/mcp")
    assert quiet.out == f"wrote other to {program.mcp_file}\n"
    assert program.entries()["other"] == {"url": "https://example.org/mcp"}
    for name in ("../up", "a\nb", "n" * 300):
        refused = await typed(program, "mcp", "add", name, "--", "x")
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
    broken = '{"a": {"command": "x"}'
    program.mcp_file.write_text(broken)
    refused = await typed(program, "mcp", "add", "more", "--", "x")
    assert (refused.code, refused.err.startswith("error CONFIG_INVALID: ")) == (2, True)
    assert program.mcp_file.read_text() == broken


async def test_a_configuration_of_another_program_is_pasted_and_works(program: Program) -> None:
    entry = {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.append_line"],
        "env": {"PYTHONPATH": "${env:PYTHONPATH}"},
    }
    text = f'// .vscode/mcp.json\n{{"servers": {{"pasted": {json.dumps(entry)},}}, "inputs": []}}'
    pasted = await typed(program, "mcp", "add", "--paste", "-", stdin=text)
    assert pasted.code == 0, pasted.err
    assert "pasted: ready, 3 tools" in pasted.out
    assert program.entries()["pasted"] == entry
    asking = {"servers": {"asks": {"command": "x", "env": {"KEY": "${input:key}"}}}}
    added = await typed(program, "mcp", "add", "--paste", "-", stdin=json.dumps(asking))
    assert (added.code, added.out.splitlines()[-1]) == (0, "asks: stopped. Switched off in mcp.json.")
    assert "notice: asks was added switched off: ${input:key} is a question that VS Code asks" in added.err
    assert program.entries()["asks"] == {"command": "x", "env": {"KEY": "${input:key}"}, "disabled": True}
    bare = f"```json\n{json.dumps(entry)}\n```\n"
    nameless = await typed(program, "mcp", "add", "--paste", "-", stdin=bare)
    assert (nameless.code, "Give it a name: `mcp add NAME --paste -`" in nameless.err) == (2, True)
    named = await typed(program, "mcp", "add", "bare", "--paste", "-", stdin=bare)
    assert (named.code, "bare: ready, 3 tools" in named.out) == (0, True), named.err


async def test_a_server_that_fails_is_shown_once_as_that_and_not_started_again(program: Program) -> None:
    starts = program.data_dir / "starts"
    file = shlex.quote(str(starts))
    script = f"echo begun >> {file}; echo npm error code E404 >&2; exit 1"
    program.write_entries(
        {
            "memory": {"disabled": True},
            "fetch": {"disabled": True},
            "bad": {"command": "sh", "args": ["-c", script]},
            # As long as another one takes, the first would be started again and again.
            "slow": {
                "command": "sh",
                "args": ["-c", f"while [ ! -s {file} ]; do sleep 0.1; done; sleep 4"],
            },
        }
    )
    listed = await typed(program, "mcp")
    assert "bad  stdio  failed since" in listed.out
    assert listed.out.count("| npm error code E404") == 1
    assert starts.read_text() == "begun\n"
    starts.unlink()
    checked = await typed(program, "doctor", "--json")
    (servers,) = [check for check in checked.json["checks"] if check["id"] == "servers"]
    assert (servers["ok"], "bad: It ended with exit status 1" in servers["text"]) == (False, True)
    starts.unlink()
    called = await typed(program, "mcp", "call", "bad", "tool")
    assert "“bad” is failed. It ended with exit status 1" in called.err


async def test_arguments_in_the_command_are_explained_by_mcp_doctor_and_add(program: Program) -> None:
    form = 'write "command": "npx" and put "-y", "x" first into "args"'
    off = {"memory": {"disabled": True}, "fetch": {"disabled": True}}
    program.write_entries({**off, "one": {"command": "npx -y x"}})
    assert form in (await typed(program, "mcp")).out
    (servers,) = [
        check
        for check in (await typed(program, "doctor", "--json")).json["checks"]
        if check["id"] == "servers"
    ]
    assert form in servers["text"]
    for line in (("two", "--", "npx -y x"), ("two", "--paste", "-")):
        refused = await typed(program, "mcp", "add", *line, stdin='{"command": "npx -y x"}')
        assert (refused.code, form.lower() in refused.err.lower()) == (2, True), refused.err
    assert "two" not in program.entries()


async def test_the_logs_of_a_server_that_runs_nowhere_are_those_of_a_start(program: Program) -> None:
    hostile(program, "dies", "dies_at_start")
    logs = await typed(program, "mcp", "logs", "dies")
    assert logs.code == 0
    assert "no key was given\n" in logs.out
    assert logs.err.startswith("dies started here: ")


async def test_another_process_is_read_and_its_server_started_anew(program: Program) -> None:
    lines = program.entries()["lines"]
    code = "import sys; sys.stderr.write('hello from the server\\n'); sys.stderr.flush();"
    code += "import runpy; runpy.run_module('tests.support.mcp_servers.append_line', run_name='__main__')"
    program.write_entries({**program.entries(), "lines": {**lines, "args": ["-c", code]}})
    async with OllamaServer() as server, asyncio.timeout(SECONDS * 2):
        program.use(server)
        server.script(Reply(pieces=("I think. ", "Done."), hold_after=1))
        async with program.started("ask", "wait") as running:
            await running.text("I think. ")
            await look_at_another(program, running.process.pid)
    # The other process was killed: what its servers wrote goes with the next start.
    folder = resolve_paths(program.data_dir, {}).log_dir / "servers"
    assert list(folder.glob("*.log")) != []
    logs = await typed(program, "mcp", "logs", "lines", "--json")
    assert logs.json["processes"][0]["process"] is None
    assert list(folder.iterdir()) == []


async def look_at_another(program: Program, pid: int) -> None:
    """Read what the server of another process wrote, and have it started anew."""
    kept: dict[str, Any] = {"state": "starting"}
    while kept["state"] != "ready":  # what it keeps is written once a second
        logs = await typed(program, "mcp", "logs", "lines", "--json")
        (kept,) = logs.json["processes"]
    assert kept["process"] == pid
    assert kept["lines"] == ["hello from the server"]
    folder = resolve_paths(program.data_dir, {}).log_dir / "servers"
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.log")} == {0o600}
    restarted = await typed(program, "mcp", "restart", "lines", "--json")
    (again,) = restarted.json["processes"]
    assert restarted.code == 0
    assert (again["process"], again["state"]) == (pid, "ready")
    assert again["since"] > kept["since"]
    assert again["lines"].count("hello from the server") == 2
    assert identify(pid) is not None


async def test_a_tool_that_changed_is_told_by_name(program: Program) -> None:
    hostile(program, "notes", "answers")
    first = await typed(program, "mcp")
    assert "TOOLS_CHANGED" not in first.err
    hostile(program, "notes", "dies_in_call")
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(calls=(program.append("x"),)), Reply(pieces=("Done.",)))
        asked = await typed(program, "ask", "append")
    told = [line for line in asked.err.splitlines() if "TOOLS_CHANGED" in line]
    later = [line for line in (await typed(program, "mcp")).err.splitlines() if "TOOLS_CHANGED" in line]
    assert [line for line in [*told, *later] if "tool server notes: it offers new tools" in line] != []
    assert len({*told, *later}) == len([*told, *later]), "each change is told once"
