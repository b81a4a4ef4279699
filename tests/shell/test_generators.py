"""Async generators that nobody finished are closed on the loop, also those that wait meanwhile."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.generators import generators_closed


class _Stream:
    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def pieces(self) -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)  # as a connection that is given back
            self.closed.set()


async def _first(stream: _Stream) -> int:
    async for piece in stream.pieces():
        return piece
    raise AssertionError


def _run(qapp: QApplication, work: Coroutine[Any, Any, None]) -> None:
    loop = qasync.QEventLoop(qapp, already_running=False)
    with loop, generators_closed(loop):
        loop.run_until_complete(work)


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failure: told.append(str(failure.exc_value)))
    return told


def test_a_stream_that_is_left_is_closed_while_the_loop_runs(
    qapp: QApplication, unraisable: list[str]
) -> None:
    stream = _Stream()

    async def leave() -> None:
        assert await _first(stream) == 1
        gc.collect()
        await asyncio.wait_for(stream.closed.wait(), 10)

    _run(qapp, leave())

    assert unraisable == []


def test_what_is_still_open_at_the_end_is_closed_then(qapp: QApplication, unraisable: list[str]) -> None:
    stream = _Stream()
    kept: list[AsyncIterator[int]] = []

    async def begin() -> None:
        kept.append(stream.pieces())
        assert await anext(kept[0]) == 1

    before = sys.get_asyncgen_hooks()
    _run(qapp, begin())

    assert stream.closed.is_set()
    assert unraisable == []
    assert sys.get_asyncgen_hooks() == before
