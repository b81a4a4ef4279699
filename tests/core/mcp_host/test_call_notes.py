"""What a server says during calls: who hears it, how much of it, and until when."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.specs import ToolNote
from sophos_desktop.core.mcp_host.call_notes import CallNotes, CallsUnderWay
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from tests.core.mcp_host.harness import PATIENCE_SECONDS, hostile, ready, running_host, scripted, tool


@dataclass
class _Clock:
    """A clock that is set by hand."""

    seconds: float = 100.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class _Listener:
    """Hears notes, and can be waited for."""

    notes: list[ToolNote] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, note: ToolNote) -> None:
        self.notes.append(note)
        self.heard.set()


def _reports(*args: str) -> Any:
    return scripted("reports", "unruly", "reports", *args)


def _tail(host: ToolHost) -> tuple[str, ...]:
    return host.statuses()[0].stderr_tail


async def test_progress_reaches_the_one_who_called_in_order_with_the_last_one() -> None:
    async with running_host(_reports()) as host:
        await ready(host, "reports")
        listener, other = _Listener(), _Listener()
        await host.call(tool(host, "reports", "progress"), {}, listener)
        await host.call(tool(host, "reports", "late"), {}, other)
        steps = [note.progress for note in listener.notes]
        assert steps[0] == 1
        assert steps[-1] == 1_000
        assert steps == sorted(set(steps), key=lambda step: step or 0)
        assert len(steps) <= 200
        assert listener.notes[-1] == ToolNote("progress", "s1000", progress=1_000.0, total=1_000.0)
        assert other.notes == []


async def test_progress_after_the_end_and_none_of_the_protocol_is_dropped() -> None:
    async with running_host(_reports()) as host:
        await ready(host, "reports")
        late, idle = _Listener(), _Listener()
        await host.call(tool(host, "reports", "late"), {}, late)
        await host.call(tool(host, "reports", "idle"), {}, idle)
        # Both timers of the server are 50 ms long, and the second one began later.
        await _until_tail(host, "declined: It asked for the folders")
        assert late.notes == []
        assert _tail(host) == (
            "[log warning: nobody calls]",
            "[declined: It asked for the folders it may use (roots/list): declined.]",
        )


async def _until_tail(host: ToolHost, text: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not any(text in line for line in _tail(host)):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)


async def test_a_flood_of_log_lines_is_bounded_and_said_so() -> None:
    async with running_host(_reports()) as host:
        await ready(host, "reports")
        listener = _Listener()
        await host.call(tool(host, "reports", "logs"), {}, listener)
        assert len(listener.notes) == 199
        assert listener.notes[0] == ToolNote("log", 'worker: {"line": 0}', level="info")
        assert _tail(host)[-1] == "[102 more notes during the call of logs were left out]"


async def test_log_lines_reach_every_call_under_way_on_that_server(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with running_host(_reports(str(gate))) as host:
        await ready(host, "reports")
        waiting, speaking = _Listener(), _Listener()
        slow = asyncio.ensure_future(host.call(tool(host, "reports", "wait"), {}, waiting))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await waiting.heard.wait()
        await host.call(tool(host, "reports", "log_once"), {}, speaking)
        gate.touch()
        await slow
        said = ToolNote("log", "careful", level="error")
        assert speaking.notes == [said]
        assert waiting.notes == [ToolNote("progress", "", progress=0.0), said]


async def test_what_the_client_does_not_do_is_declined_at_once_and_said_so() -> None:
    async with running_host(hostile("asks-the-client")) as host:
        await ready(host, "asks-the-client")
        listener = _Listener()
        result = await host.call(tool(host, "asks-the-client", "ask"), {}, listener)
        assert result.text.splitlines() == [
            "-32601 Method not found: roots/list",
            "-32601 Method not found: sampling/createMessage",
            "-32601 Method not found: elicitation/create",
            "-32601 Method not found: sampling/createMessage",
            "-32601 Method not found: tasks/list",
            "-32601 Method not found: no/such/method",
            "{}",
        ]
        assert {note.kind for note in listener.notes} == {"declined"}
        assert (
            listener.notes[1].text
            == "It asked for an answer of the model (sampling/createMessage): declined."
        )
        assert listener.notes[2].text == "It asked the user a question (elicitation/create): declined."


async def test_an_observer_that_fails_ends_neither_the_call_nor_the_session(expected_logs: Any) -> None:
    expected_logs("an observer of a tool call failed")

    def fail(note: ToolNote) -> None:
        raise ValueError("a bug of the observer")

    async with running_host(_reports()) as host:
        await ready(host, "reports")
        assert (await host.call(tool(host, "reports", "log_once"), {}, fail)).text == "done"
        assert (await host.call(tool(host, "reports", "log_once"), {})).text == "done"


async def test_progress_comes_at_most_four_times_a_second_of_the_clock() -> None:
    clock, listener = _Clock(), _Listener()
    notes = CallNotes(listener, clock)
    for step in range(1_000):
        notes.progressed(ToolNote("progress", "", progress=step))
        clock.seconds += 0.001
    assert [note.progress for note in listener.notes] == [0, 250, 500, 750]
    notes.close(tell_last=True)
    assert listener.notes[-1].progress == 999
    notes.progressed(ToolNote("progress", "", progress=5))
    notes.tell(ToolNote("log", "late"))
    assert len(listener.notes) == 5


async def test_progress_held_back_is_told_soon_though_nothing_follows() -> None:
    clock, listener = _Clock(), _Listener()
    notes = CallNotes(listener, clock)
    notes.progressed(ToolNote("progress", "", progress=1))
    listener.heard.clear()
    notes.progressed(ToolNote("progress", "", progress=2))
    assert len(listener.notes) == 1
    async with asyncio.timeout(PATIENCE_SECONDS):
        await listener.heard.wait()
    assert [note.progress for note in listener.notes] == [1, 2]
    notes.close(tell_last=False)


async def test_a_call_has_two_hundred_notes_at_most_and_the_last_progress_is_one_of_them() -> None:
    clock, listener = _Clock(), _Listener()
    notes = CallNotes(listener, clock)
    for step in range(300):
        clock.seconds += 1
        notes.tell(ToolNote("log", "x" * 10_000))
        notes.progressed(ToolNote("progress", "", progress=step))
    notes.close(tell_last=True)
    assert len(listener.notes) == 200
    assert listener.notes[-1].progress == 299
    assert notes.left_out == 400
    assert max(len(note.text) for note in listener.notes) == 500


async def test_a_call_that_was_stopped_hears_nothing_more() -> None:
    clock, listener = _Clock(), _Listener()
    calls = CallsUnderWay(clock, StderrTail())

    def stop() -> None:
        with calls.call("tool", listener) as token:
            calls.progressed(token, ToolNote("progress", "", progress=1))
            calls.progressed(token, ToolNote("progress", "", progress=2))
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        stop()
    assert [note.progress for note in listener.notes] == [1]
