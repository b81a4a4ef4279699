"""Calls of tools on real child processes: results, time-outs, Stop, and what the server is told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState
from tests.core.mcp_host.harness import (
    PATIENCE_SECONDS,
    hostile,
    ready,
    running_host,
    scripted,
    status_of,
    tool,
    until,
    until_file_has,
)


async def test_a_call_reaches_the_server_and_comes_back(tmp_path: Path) -> None:
    async with running_host(scripted("lines", "append_line", trusted=True)) as host:
        await host.settle(20)
        file = str(tmp_path / "lines.txt")
        result = await host.call(tool(host, "lines", "append_line"), {"file": file, "text": "one"})
        assert (result.text, result.is_error) == ("appended one", False)
        assert result.content == ({"type": "text", "text": "appended one"},)
        assert (tmp_path / "lines.txt").read_text() == "one\n"
        reading = tool(host, "lines", "read_lines")
        assert reading.repeatable
        assert reading.name == "lines__read_lines"
        assert not tool(host, "lines", "append_line").repeatable
        assert host.find("lines__read_lines") == reading
        assert [spec.tool for spec in host.tools()] == ["append_line", "read_lines", "slow_append"]


async def test_hints_of_a_server_that_nobody_trusts_allow_nothing() -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        assert tool(host, "lines", "read_lines").annotations.read_only
        assert not tool(host, "lines", "read_lines").repeatable


async def test_a_slow_call_blocks_no_other(tmp_path: Path) -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        file = tmp_path / "lines.txt"
        arguments = {"file": str(file), "text": "slow", "seconds": 600}
        slow = asyncio.ensure_future(host.call(tool(host, "lines", "slow_append"), arguments))
        await until_file_has(file, "slow")
        await host.call(tool(host, "lines", "append_line"), {"file": str(file), "text": "quick"})
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow


def _cancelled_ids(log: Path) -> list[Any]:
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    return [m["params"]["requestId"] for m in messages if m.get("method") == "notifications/cancelled"]


def _call_ids(log: Path) -> list[Any]:
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    return [message["id"] for message in messages if message.get("method") == "tools/call"]


async def test_stop_tells_the_server_which_request_was_meant(tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "lines.txt"
    async with running_host(scripted("lines", "append_line", str(log))) as host:
        await ready(host, "lines")
        arguments = {"file": str(file), "text": "x", "seconds": 600}
        task = asyncio.ensure_future(host.call(tool(host, "lines", "slow_append"), arguments))
        await until_file_has(file, "x")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until_file_has(log, "notifications/cancelled")
        assert _cancelled_ids(log) == _call_ids(log)
        assert status_of(host, "lines").state is ServerState.READY


async def test_a_call_that_takes_too_long_is_lost_and_its_late_answer_dropped(tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "lines.txt"
    async with running_host(scripted("lines", "append_line", str(log), timeout_seconds=0.3)) as host:
        await ready(host, "lines")
        arguments = {"file": str(file), "text": "x", "seconds": 0.6}
        with pytest.raises(ToolCallLost, match="did not answer within"):
            await host.call(tool(host, "lines", "slow_append"), arguments)
        await until_file_has(log, "notifications/cancelled")
        assert _cancelled_ids(log) == _call_ids(log)
        for _ in range(4):  # longer together than the late answer takes to come
            arguments = {"file": str(file), "text": "y", "seconds": 0.15}
            assert (await host.call(tool(host, "lines", "slow_append"), arguments)).text.endswith("slowly")


async def test_a_call_withdrawn_before_it_was_written_is_never_sent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running_host(scripted("lines", "append_line", str(log))) as host:
        await ready(host, "lines")
        file = tmp_path / "f"
        task = asyncio.ensure_future(
            host.call(tool(host, "lines", "append_line"), {"file": str(file), "text": "no"})
        )
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await host.call(tool(host, "lines", "append_line"), {"file": str(file), "text": "yes"})
        assert file.read_text() == "yes\n"


async def test_a_server_that_dies_in_a_call_loses_it_and_comes_back_at_the_next() -> None:
    async with running_host(hostile("dies-in-call")) as host:
        await ready(host, "dies-in-call")
        for name in ("die", "killed"):
            with pytest.raises(ToolCallLost, match="during the call"):
                await host.call(tool(host, "dies-in-call", name), {})
            result = await host.call(tool(host, "dies-in-call", "hello"), {})
            assert result.text == "hello"


async def test_all_calls_under_way_are_lost_when_the_server_dies(tmp_path: Path) -> None:
    async with running_host(hostile("dies-in-call")) as host:
        await ready(host, "dies-in-call")
        calls = [host.call(tool(host, "dies-in-call", "die"), {}) for _ in range(4)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, ToolCallLost | ToolServerDown) for outcome in outcomes)


async def test_closing_the_host_loses_calls_under_way(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        spec = tool(host, "lines", "slow_append")
        call = asyncio.ensure_future(host.call(spec, {"file": str(file), "text": "x", "seconds": 600}))
        await until_file_has(file, "x")
        await host.close()
        with pytest.raises(ToolCallLost):
            await call
        with pytest.raises(ToolServerDown, match="Stopped"):
            await host.call(spec, {"file": str(file), "text": "x", "seconds": 600})


@pytest.mark.parametrize(
    ("name", "text", "is_error"),
    [
        ("error", "the disk is full", True),
        ("image", "[image, image/png, 12 kB]", False),
        ("structured", '{\n  "answer": 42\n}', False),
        ("empty", "The tool gave no content.", False),
        (
            "many",
            "first\n[image, image/png, 12 kB]\nembedded text\n[link, a page, https://example.org/a]",
            False,
        ),
        ("nonsense", "The tool server answered with something that is no tool result.", True),
        ("refuse", "The tool server refused the call: not today", True),
        ("surrogate", "half \ufffd a face", False),
    ],
)
async def test_every_kind_of_result_becomes_text_for_the_model(name: str, text: str, is_error: bool) -> None:
    async with running_host(hostile("answers")) as host:
        await ready(host, "answers")
        result = await host.call(tool(host, "answers", name), {})
        assert (result.text, result.is_error) == (text, is_error)
        if name == "many":
            assert [part["type"] for part in result.content] == ["text", "image", "resource", "resource_link"]
            assert result.content[1]["mimeType"] == "image/png"


async def test_a_large_result_arrives_whole() -> None:
    async with running_host(hostile("answers")) as host:
        await ready(host, "answers")
        result = await host.call(tool(host, "answers", "large"), {})
        assert len(result.text) == 20_000_000


async def test_nothing_and_nested_nothing_in_arguments_reach_the_server() -> None:
    async with running_host(hostile("answers")) as host:
        await ready(host, "answers")
        value = {"a": None, "b": [None, {"c": None}]}
        result = await host.call(tool(host, "answers", "echo"), {"value": value})
        assert result.text == repr(value)


async def test_arguments_that_do_not_fit_are_told_to_the_model_and_not_sent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running_host(scripted("lines", "append_line", str(log))) as host:
        await ready(host, "lines")
        result = await host.call(tool(host, "lines", "append_line"), {"file": 5})
        assert result.is_error
        assert "file: must be text, got the number 5" in result.text
        assert _call_ids(log) == []


async def test_a_burst_of_changes_gives_the_new_tools_and_the_old_one_is_an_error() -> None:
    async with running_host(hostile("changing-tools")) as host:
        await ready(host, "changing-tools")
        before = tool(host, "changing-tools", "before")
        await host.call(tool(host, "changing-tools", "change"), {})
        await until(host, lambda: host.find("changing-tools__after") is not None)
        assert [spec.tool for spec in host.tools()] == ["change", "after"]
        result = await host.call(before, {})
        assert result.is_error
        assert "no longer offers" in result.text
        assert host.find(before.name) == before


async def test_a_child_sees_the_allowed_environment_and_its_own_alone() -> None:
    environ = {"PATH": "/usr/bin", "HOME": "/home/x", "LC_ALL": "C", "SECRET": "s", "OLLAMA_HOST": "h"}
    async with running_host(hostile("answers", env={"MINE": "m"}), environ=environ) as host:
        await ready(host, "answers")
        result = await host.call(tool(host, "answers", "environment"), {})
        names = [line.partition("=")[0] for line in result.text.splitlines()]
        assert set(names) - {"LC_CTYPE"} == {"HOME", "LC_ALL", "MINE", "PATH", "SOPHOS_CHILD_TOKEN"}


@pytest.mark.parametrize("name", ["nothing", "bare"])
async def test_an_answer_that_is_no_result_is_told_at_once(name: str) -> None:
    async with running_host(hostile("answers")) as host:
        await ready(host, "answers")
        async with asyncio.timeout(10):
            result = await host.call(tool(host, "answers", name), {})
    assert result.is_error
    assert "no result of the protocol" in result.text


async def test_what_is_given_up_before_it_was_written_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fits(_schema: object, _arguments: object) -> None:
        """At once: in threads, a short call may overtake the long one, and this test is about their order."""

    monkeypatch.setattr("sophos_desktop.core.mcp_host.arguments.check", fits)
    log, gate = tmp_path / "log", tmp_path / "log.go"
    log.touch()
    async with running_host(scripted("late", "unruly", "reads-late", str(log), timeout_seconds=2)) as host:
        await ready(host, "late")
        spec = tool(host, "late", "say")
        first = asyncio.ensure_future(host.call(spec, {"what": "small"}))
        await until_file_has(log, "tools/call")  # from now on it reads nothing
        blocked = asyncio.ensure_future(host.call(spec, {"what": "x" * 1_000_000}))
        behind = [asyncio.ensure_future(host.call(spec, {"what": "behind"})) for _ in range(2)]
        for _ in range(100):  # all of them reach the pipe, or wait behind what does not fit into it
            await asyncio.sleep(0)
        behind[0].cancel()
        outcomes = await asyncio.gather(first, blocked, *behind, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [
            ToolCallLost,
            ToolCallLost,
            asyncio.CancelledError,
            ToolServerDown,
        ]
        gate.touch()
        assert (await host.call(spec, {"what": "after"})).text == "said"
        calls, cancelled = _read(log)
        assert len(calls) == 3
        assert cancelled == calls[:2]
        tail = status_of(host, "late").stderr_tail
        assert f"[an answer that nobody waits for was dropped (id {calls[0]})]" in tail


def _read(log: Path) -> tuple[list[Any], list[Any]]:
    """The ids of the calls that a server read, and those that it was told to forget."""
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    calls = [message["id"] for message in messages if message.get("method") == "tools/call"]
    return calls, [m["request"] for m in messages if m.get("method") == "notifications/cancelled"]


async def test_a_call_and_a_restart_at_the_same_moment_lose_nothing() -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        spec = tool(host, "lines", "read_lines")
        calling = asyncio.ensure_future(host.call(spec, {"file": "/no/such/file"}))
        restarting = asyncio.ensure_future(host.restart("lines"))
        async with asyncio.timeout(PATIENCE_SECONDS):
            result, status = await asyncio.gather(calling, restarting)
        assert not result.is_error
        assert status.state is ServerState.READY


async def test_a_patient_restart_lets_calls_end_and_new_ones_wait_for_the_next_life(tmp_path: Path) -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        first_pid = status_of(host, "lines").pid
        file = tmp_path / "lines.txt"
        arguments = {"file": str(file), "text": "slow", "seconds": 0.5}
        slow = asyncio.ensure_future(host.call(tool(host, "lines", "slow_append"), arguments))
        await until_file_has(file, "slow")
        restarting = asyncio.ensure_future(
            host.restart("lines", who="the command line", patience_seconds=PATIENCE_SECONDS)
        )
        await until(host, lambda: status_of(host, "lines").state is ServerState.RESTARTING)
        reading = asyncio.ensure_future(host.call(tool(host, "lines", "read_lines"), {"file": str(file)}))
        async with asyncio.timeout(PATIENCE_SECONDS):
            result, status, read = await asyncio.gather(slow, restarting, reading)
        assert result.text == "appended slow, slowly"
        assert status.state is ServerState.READY
        assert status.pid != first_pid
        assert read.text == "slow\n"


@pytest.mark.parametrize(
    ("who", "patience_seconds", "words"),
    [
        ("the command line", 0.05, "was restarted by the command line during"),
        ("", 0.0, "was restarted during"),
    ],
)
async def test_a_call_that_a_restart_cuts_off_is_lost_with_the_reason(
    tmp_path: Path, who: str, patience_seconds: float, words: str
) -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        file = tmp_path / "lines.txt"
        arguments = {"file": str(file), "text": "slow", "seconds": 600}
        slow = asyncio.ensure_future(host.call(tool(host, "lines", "slow_append"), arguments))
        await until_file_has(file, "slow")
        status = await host.restart("lines", who=who, patience_seconds=patience_seconds)
        assert status.state is ServerState.READY
        with pytest.raises(ToolCallLost, match=words) as lost:
            await slow
        assert lost.value.server_died
        assert '"lines"' in str(lost.value)
