"""What a server says during a call: in order, bounded, before the result, and without effect on it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.agent.call_notes import TEXT_CHARACTERS, TOLD_NOTES, WAITING_NOTES, CallNotes
from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Event, ToolCallFinished, ToolCallStarted, ToolNoted
from sophos_desktop.core.domain.specs import ToolNote, ToolResult
from tests.core.agent.graph_bench import GraphBench, ListSink, graph_bench, spec

PATIENCE_SECONDS = 20.0
TALK = CallPiece("here__talk", {}, "")


def progress(number: int) -> ToolNote:
    return ToolNote("progress", f"{number}", progress=float(number), total=9.0)


class SlowSink(ListSink):
    """Takes nothing before it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def emit(self, *events: Event) -> None:
        self.asked.set()
        await self.may_go_on.wait()
        await super().emit(*events)


async def test_notes_stand_between_the_call_and_its_result_in_their_order(tmp_path: Path) -> None:
    async def talk(args: Mapping[str, Any]) -> ToolResult:
        assert bench.catalog.observe is not None
        for number in range(5):
            bench.catalog.observe(progress(number))
            await asyncio.sleep(0)
        bench.catalog.observe(ToolNote("log", "nearly done", level="info"))
        return ToolResult("said")

    async with graph_bench(tmp_path / "sophos.db", (spec("talk"), talk)) as bench:
        (call,) = await bench.open_calls(TALK)
        await bench.go_on()
        told = [e for e in bench.sink.events if isinstance(e, ToolCallStarted | ToolNoted | ToolCallFinished)]
        assert isinstance(told[0], ToolCallStarted)
        assert isinstance(told[-1], ToolCallFinished)
        notes = [event for event in told[1:-1] if isinstance(event, ToolNoted)]
        assert [note.text for note in notes] == ["0", "1", "2", "3", "4", "nearly done"]
        assert notes[2] == ToolNoted(call, "here", "progress", "2", None, 2.0, 9.0)
        assert (notes[-1].kind, notes[-1].level) == ("log", "info")
        assert bench.catalog.observe is not None
        bench.catalog.observe(progress(99))
        await asyncio.sleep(0)
        assert len(bench.sink.of(ToolNoted)) == 6


async def test_notes_that_the_store_refuses_change_no_answer(tmp_path: Path) -> None:
    async def talk(args: Mapping[str, Any]) -> ToolResult:
        assert bench.catalog.observe is not None
        bench.catalog.observe(progress(1))
        return ToolResult("said")

    async with graph_bench(tmp_path / "sophos.db", (spec("talk"), talk)) as bench:
        await bench.open_calls(TALK)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bench.sink, "emit", _refusing(bench))
            await bench.go_on()
        assert await bench.results() == [("ok", "said")]
        assert bench.sink.of(ToolNoted) == []


def _refusing(bench: GraphBench) -> Any:
    emit = bench.sink.emit

    async def refuse(*events: Event) -> None:
        if isinstance(events[0], ToolNoted):
            raise SophosError(ErrorCode.STORE_BUSY, "Another program keeps the file locked")
        await emit(*events)

    return refuse


async def test_a_server_that_says_more_than_can_be_written_loses_its_oldest_and_it_is_said() -> None:
    sink = SlowSink()
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with CallNotes(sink, "call", "here") as notes:
            notes.observe(progress(0))
            await sink.asked.wait()
            for number in range(1, WAITING_NOTES + 4):
                notes.observe(progress(number))
            sink.may_go_on.set()
    told = [note.text for note in sink.of(ToolNoted)]
    assert told == [
        "0",
        *(str(number) for number in range(4, WAITING_NOTES + 4)),
        "3 more notes were left out",
    ]


async def test_a_server_that_never_stops_talking_is_told_only_so_often() -> None:
    sink = ListSink()
    async with CallNotes(sink, "call", "here") as notes:
        for number in range(TOLD_NOTES + 500):
            notes.observe(progress(number))
            if number % 20 == 0:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
    told = sink.of(ToolNoted)
    assert len(told) == TOLD_NOTES + 1
    assert told[-1].text == "500 more notes were left out"


async def test_a_long_note_is_cut() -> None:
    sink = ListSink()
    async with CallNotes(sink, "call", "here") as notes:
        notes.observe(ToolNote("log", "x" * 1_000_000))
    (told,) = sink.of(ToolNoted)
    assert len(told.text) == TEXT_CHARACTERS


async def test_a_call_that_is_cancelled_waits_for_no_note() -> None:
    sink = SlowSink()

    async def call() -> None:
        async with CallNotes(sink, "call", "here") as notes:
            notes.observe(progress(0))
            await asyncio.Event().wait()

    calling = asyncio.ensure_future(call())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await sink.asked.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
    assert sink.events == []
