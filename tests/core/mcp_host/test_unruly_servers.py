"""What servers say and list that they should not, and what comes of it: real child processes."""

from typing import Any

import pytest

from sophos_desktop.core.domain.ports import ToolCallLost
from sophos_desktop.core.domain.specs import ServerState, ServerStatus
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.harness import ready, running_host, scripted, status_of, tool, until, until_state


def _unruly(mode: str, *args: str, **fields: Any) -> ServerConfig:
    return scripted(mode, "unruly", mode, *args, **fields)


async def _said(host: ToolHost, name: str) -> str:
    return (await host.call(tool(host, host.statuses()[0].name, name), {})).text


def _notes(host: ToolHost) -> list[str]:
    return [line.strip("[]") for line in host.statuses()[0].stderr_tail]


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("nuls", ["stdout line 3, no message: ared"]),
        ("halves", []),
        (
            "no_message",
            [
                'stdout line 3, no message: {"jsonrpc": "2.0"}',
                "stdout line 4, no message: 17",
                "stdout line 5, no message: null",
            ],
        ),
        (
            "unknown_answers",
            [
                "an answer that nobody waits for was dropped (id nobody)",
                "an answer that nobody waits for was dropped (id 999)",
            ],
        ),
        ("wrong_notifications", []),
        ("deep", ["stdout line 3, no message: " + "[" * 200]),
        ("overlong", ["stdout line 3: longer than 64 MB, dropped"]),
    ],
)
async def test_odd_output_is_named_by_its_line_and_survived(name: str, notes: list[str]) -> None:
    async with running_host(_unruly("odd-output")) as host:
        await ready(host, "odd-output")
        pid = host.statuses()[0].pid
        assert await _said(host, name) == "fine"
        assert [line[1:-1] for line in host.statuses()[0].stderr_tail] == notes
        assert await _said(host, "halves") == "fine"
        assert host.statuses()[0].pid == pid


async def test_half_a_line_at_the_end_is_reported_and_the_server_comes_back() -> None:
    async with running_host(_unruly("odd-output")) as host:
        await ready(host, "odd-output")
        with pytest.raises(ToolCallLost):
            await _said(host, "half_a_line_and_gone")
        await ready(host, "odd-output")
        assert _notes(host) == ['stdout line 3, no message: {"jsonrpc": "2.0", "id"']


async def test_one_broken_tool_costs_itself_alone() -> None:
    async with running_host(_unruly("odd-lists")) as host:
        await ready(host, "odd-lists")
        names = [spec.tool for spec in host.tools()]
        assert names == ["good", "change", "hints", "described", "last"]
        assert tool(host, "odd-lists", "good").description == "The tool good."
        assert tool(host, "odd-lists", "hints").annotations.read_only is None
        assert tool(host, "odd-lists", "described").description == ""
        tail = "\n".join(_notes(host))
        assert "tools/list: an entry without a name was left out (Input should be" in tail
        assert "tools/list: an entry without a name was left out (name: Field required)" in tail
        assert 'tools/list: "no schema" was left out (inputSchema: Field required)' in tail
        assert 'tools/list: "hints" is taken without what cannot be read (annotations.readOnlyHint' in tail
        assert 'tools/list: "described" is taken without what cannot be read (description' in tail
        assert 'tools/list: a second tool called "good" was left out' in tail
        assert (await host.call(tool(host, "odd-lists", "good"), {})).text == "good"


async def test_resources_prompts_and_instructions_are_listed_and_follow_their_changes() -> None:
    async with running_host(_unruly("odd-lists")) as host:
        await ready(host, "odd-lists")
        status = status_of(host, "odd-lists")
        assert status.resources == ("file:///a", "no uri")
        assert status.prompts == ("greet",)
        assert status.instructions.startswith("Use me well.\nxxx")
        assert len(status.instructions) == 4_000
        assert status.to_json()["resources"] == ["file:///a", "no uri"]
        assert status.to_json()["prompts"] == ["greet"]
        assert status.to_json()["instructions"] == status.instructions
        await host.call(tool(host, "odd-lists", "change"), {})
        await until(host, lambda: _lists(status_of(host, "odd-lists")) == (("file:///new",), ()))


def _lists(status: ServerStatus) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return status.resources, status.prompts


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("circle", "tools/list: its pages go in a circle or cannot be followed, the rest was not read"),
        ("number", "tools/list: its pages go in a circle or cannot be followed, the rest was not read"),
        ("endless", "tools/list: only the first 200 pages were read"),
    ],
)
async def test_pages_without_an_end_are_read_to_a_bound(kind: str, note: str) -> None:
    async with running_host(_unruly("odd-pages", kind)) as host:
        await ready(host, "odd-pages")
        assert [spec.tool for spec in host.tools()] == ["hello"]
        assert note in _notes(host)


async def test_a_page_that_holds_no_list_leaves_the_server_without_tools() -> None:
    async with running_host(_unruly("odd-pages", "empty")) as host:
        await ready(host, "odd-pages")
        assert host.tools() == []
        assert "tools/list: a page without a list of tools" in _notes(host)


async def test_a_server_that_never_lists_its_resources_is_ready_all_the_same() -> None:
    async with running_host(_unruly("silent-lists", initialize_timeout_seconds=3)) as host:
        await ready(host, "silent-lists")
        assert await _said(host, "hello") == "hello"
        await until(host, lambda: "resources/list could not be read: no answer" in _notes(host))
        assert status_of(host, "silent-lists").state is ServerState.READY


async def test_names_that_hide_something_are_shown_plainly_and_sent_exactly() -> None:
    async with running_host(_unruly("hidden-names")) as host:
        await ready(host, "hidden-names")
        specs = {spec.tool: spec for spec in host.tools()}
        assert all(name.isprintable() for name in specs)
        assert len(specs) == 6
        assert next(iter(specs)) == "plain"
        exact = {(await host.call(specs[name], {})).text for name in specs if name != "titled"}
        assert exact == {
            repr(name) for name in ("plain", "read\u202efdp", "nul\0byte", "two\nlines", "read\u2066fdp")
        }
        assert specs["titled"].description == "Reads a file.\nCarefully."
        assert specs["titled"].annotations.title == "A title"
        shown = [name.rpartition("_")[0] for name in specs if name not in ("plain", "titled")]
        assert shown == ["readfdp", "nulbyte", "two lines", "readfdp"]
        before = {spec.tool: (spec.name, spec.fingerprint) for spec in specs.values()}
        await host.restart("hidden-names")
        assert {spec.tool: (spec.name, spec.fingerprint) for spec in host.tools()} == before


async def test_a_thousand_changes_in_one_burst_are_one_or_two_readings() -> None:
    async with running_host(_unruly("bursts")) as host:
        await ready(host, "bursts")
        await host.call(tool(host, "bursts", "burst"), {})
        await until(host, lambda: host.find("bursts__new") is not None)
        assert int(await _said(host, "readings")) in (2, 3)  # the first one is the start's


async def test_a_tool_that_vanished_unsaid_gives_an_error_result() -> None:
    async with running_host(_unruly("vanishing-tool")) as host:
        await ready(host, "vanishing-tool")
        gone = tool(host, "vanishing-tool", "gone")
        assert (await host.call(gone, {})).text == "here"
        await host.call(tool(host, "vanishing-tool", "vanish"), {})
        result = await host.call(gone, {})
        assert (result.text, result.is_error) == ("The tool server refused the call: Unknown tool", True)


async def test_fingerprints_follow_the_definition_and_the_configured_server() -> None:
    configs = [
        scripted(name, "unruly", "vanishing-tool", fingerprint=fingerprint)
        for name, fingerprint in (("a", "one"), ("b", "one"), ("c", "another"))
    ]
    async with running_host(*configs) as host:
        prints = {}
        for name in ("a", "b", "c"):
            await ready(host, name)
            prints[name] = [spec.fingerprint for spec in host.tools() if spec.server == name]
        assert prints["a"] == prints["b"]
        assert len({*prints["a"], *prints["c"]}) == 4
        assert all(len(fingerprint) == 64 for fingerprint in prints["a"])


async def test_a_server_that_asks_and_asks_without_reading_holds_up_nobody() -> None:
    async with running_host(_unruly("asks-without-reading")) as host:
        await ready(host, "asks-without-reading")
        assert await _said(host, "flood") == "done"
        (note,) = _notes(host)
        assert note.startswith("it does not read its stdin: a message to it was dropped")
        assert await _said(host, "flood") == "done"


async def test_a_server_that_greets_and_never_lists_its_tools_fails_with_that_reason() -> None:
    async with running_host(_unruly("lists-no-tools", initialize_timeout_seconds=2)) as host:
        status = await until_state(host, "lists-no-tools", ServerState.FAILED)
        assert status.reason == "It did not list its tools within 2 seconds. The next call tries again."
