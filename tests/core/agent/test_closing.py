"""A stream is closed to its end, also in a task that is cancelled again: Stop, then a hurried quit."""

import asyncio

import pytest

from sophos_desktop.core.agent import closing
from sophos_desktop.core.agent.closing import closed_in_peace


async def test_who_is_cancelled_again_and_again_closes_to_the_end_and_is_cancelled_then() -> None:
    begun, may_end, closed = asyncio.Event(), asyncio.Event(), []

    async def close() -> None:
        begun.set()
        await may_end.wait()
        closed.append("all of it")

    task = asyncio.ensure_future(closed_in_peace(close()))
    await asyncio.wait_for(begun.wait(), 30)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    assert closed == ["all of it"]


async def test_what_never_closes_is_left_after_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "LONGEST_SECONDS", 0.01)
    ended = asyncio.Event()

    async def close() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await asyncio.wait_for(closed_in_peace(close()), 30)
    await asyncio.wait_for(ended.wait(), 30)
