"""What is decided about tools for good, on the command line: given, seen, taken back."""

from typing import Any

from tests.contract import contract
from tests.e2e.cli_program import Program, typed
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def policies(program: Program) -> dict[str, str]:
    """What happens to the calls of the tools of `lines`, as the list says it."""
    servers = (await typed(program, "mcp", "--json")).json
    (lines,) = [server for server in servers if server["name"] == "lines"]
    return {tool["name"]: tool["policy"] for tool in lines["tools"]}


async def decided(program: Program) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await typed(program, "mcp", "permissions", "--json")).json
    return found


async def asked(program: Program, server: OllamaServer, text: str) -> int:
    """The exit code of a turn that appends a line."""
    server.script(Reply(calls=(program.append(text),)))
    return (await typed(program, "ask", "append")).code


async def test_each_tool_shows_what_happens_to_its_calls_and_why(program: Program) -> None:
    assert "append_line  allow (mcp.json allows this server's tools)" in (await typed(program, "mcp")).out
    program.ask_about_lines()
    asked_about = await typed(program, "mcp")
    assert "append_line  ask (you have not said that you trust this server)" in asked_about.out
    assert (await typed(program, "mcp", "trust", "lines")).code == 0
    assert await policies(program) == {"append_line": "ask", "read_lines": "allow", "slow_append": "ask"}


async def test_what_is_decided_for_good_holds_until_it_is_taken_back(program: Program) -> None:
    program.ask_about_lines()
    nothing = await typed(program, "mcp", "permissions")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "nothing was decided for good\n")
    allowed = await typed(program, "mcp", "allow", "lines", "append_line")
    assert (allowed.code, allowed.out) == (0, "lines.append_line is always allowed\n")
    assert (await typed(program, "mcp", "deny", "lines")).out == "every tool of lines is forbidden\n"
    assert await policies(program) == {"append_line": "allow", "read_lines": "deny", "slow_append": "deny"}
    every, one = await decided(program)
    assert set(one) == contract.fields("what was decided for good | array `")
    assert [every["tool"], every["decision"], one["tool"], one["scope"]] == [
        None,
        "deny",
        "append_line",
        None,
    ]
    table = (await typed(program, "mcp", "permissions")).out.splitlines()
    assert table[0].split() == ["SERVER", "TOOL", "HOST", "DECISION", "DECIDED"]
    assert [line.split()[-2] for line in table[1:]] == ["deny", "allow"]
    async with OllamaServer() as server:
        program.use(server)
        assert await asked(program, server, "a") == 0
        (offered,) = [tool["function"]["name"] for tool in server.chats[0].body["tools"]]
        assert offered == "lines__append_line", "what is forbidden is not even offered"
        assert (await typed(program, "mcp", "ask", "lines", "append_line")).code == 0
        assert await asked(program, server, "b") == 4
        assert (await typed(program, "mcp", "forget", "lines", "append_line")).code == 0
        assert await asked(program, server, "c") == 0
    assert program.appended() == ["a"], "the whole server is forbidden still"
    taken = await typed(program, "mcp", "forget", "lines")
    assert (taken.code, taken.out) == (0, "took back 1 decision about lines\n")
    assert await policies(program) == dict.fromkeys(("append_line", "read_lines", "slow_append"), "ask")


async def test_what_cannot_be_decided_is_refused_in_words(program: Program) -> None:
    entries = program.entries()
    program.write_entries({**entries, "gone": {**entries["lines"], "disabled": True}})
    for argv, code, words in (
        (("allow", "nope", "x"), 6, "There is no tool server “nope”"),
        (("deny", "nope"), 6, "There is no tool server “nope”"),
        (("deny", "lines", "apend_line"), 6, "It offers: append_line"),
        (("ask", "lines", "append_line", "--host", "example.org"), 2, "not told apart by host"),
        (("allow", "gone", "append_line"), 3, "error TOOL_SERVER_DOWN: "),
        (("forget", "lines"), 6, "Nothing was decided for good about lines"),
        (("forget", "nope", "--host", "h"), 6, "Nothing was decided for good about nope for h"),
    ):
        refused = await typed(program, "mcp", *argv)
        assert (refused.code, words in refused.err, refused.out) == (code, True, ""), refused.err
    assert await decided(program) == []
    unseen = await typed(program, "mcp", "deny", "gone", "append_line")
    assert unseen.code == 0
    assert "nobody can tell whether it has a tool append_line" in unseen.err
    assert [permission["server"] for permission in await decided(program)] == ["gone"]


async def test_a_definition_that_changed_is_asked_about_again(program: Program) -> None:
    program.ask_about_lines()
    assert (await typed(program, "mcp", "allow", "lines", "append_line")).code == 0
    entries = program.entries()
    log = str(program.data_dir / "log.txt")
    changed = {**entries["lines"], "args": [*entries["lines"]["args"], log]}
    program.write_entries({**entries, "lines": changed})
    told = (await typed(program, "mcp")).out
    assert "append_line  ask (its definition, or what its server is started with, is not what it was" in told
    async with OllamaServer() as server:
        program.use(server)
        assert await asked(program, server, "a") == 4
    assert program.appended() == []


def fetching(server: OllamaServer, url: str) -> None:
    server.script(Reply(calls=({"name": "fetch__fetch", "arguments": {"url": url}},)))


async def test_a_fetch_is_asked_about_with_its_whole_address_and_always_is_for_its_host(
    program: Program,
) -> None:
    program.write_entries({"memory": {"disabled": True}})
    here = f"http://127.0.0.1:1/{'a/' * 80}?q=1"
    async with OllamaServer() as server:
        program.use(server)
        fetching(server, here)
        first = await typed(program, "ask", "read it")
        assert (first.code, here in first.err) == (4, True), first.err
        assert here in (await typed(program, "approvals")).out
        (pending,) = (await typed(program, "approvals", "--json")).json
        assert (pending["scope"], pending["reason"]) == ("127.0.0.1", "It reads a page on the web.")
        always = await typed(program, "decide", pending["conversation_id"], ":0", "allow", "--always")
        assert (always.code, always.out) == (0, "Hello!\n")
        shown = (await typed(program, "show", pending["conversation_id"], "--json")).json["messages"]
        (result,) = [message for message in shown if message["role"] == "tool"]
        assert result["tool_status"] == "error"
        assert "127.0.0.1" in result["text"], "allowed, sent, and refused in words by the server itself"
        (permission,) = await decided(program)
        assert (permission["server"], permission["scope"]) == ("fetch", "127.0.0.1")
        fetching(server, "http://127.0.0.1:2/another")
        assert (await typed(program, "ask", "read it")).code == 0
        fetching(server, "http://127.0.0.2:1/")
        other = await typed(program, "ask", "read it")
        assert (other.code, "127.0.0.2" in other.err) == (4, True)
        denied = await typed(program, "mcp", "deny", "fetch", "fetch", "--host", "http://127.0.0.2:9/x")
        assert denied.out == "fetch.fetch is forbidden for 127.0.0.2, whatever the port and the page\n"
        assert (await typed(program, "mcp", "forget", "fetch", "--host", "127.0.0.1")).code == 0
        fetching(server, here)
        assert (await typed(program, "ask", "read it")).code == 4
    assert [permission["scope"] for permission in await decided(program)] == ["127.0.0.2"]
