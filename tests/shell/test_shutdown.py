"""The staged quit: in order, bounded, hurried by the second request, ended by the third."""

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject

from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.shutdown import Stage, StagedQuit
from tests.support.guards import ExpectedLogs
from tests.support.window import until

LONG = 60.0


class Quit:
    """A quit with stages that note what they did."""

    def __init__(self, *stages: Stage) -> None:
        self.errors: list[BaseException] = []
        self.owner = TaskOwner(self.errors.append)
        self.ended: list[str] = []
        self.finished = asyncio.Event()
        self.host = QObject()
        self.quit = StagedQuit(self.owner, stages, lambda: self.ended.append("at once"), self.host)
        self.quit.finished.connect(self.finished.set)

    async def done(self) -> None:
        await asyncio.wait_for(self.finished.wait(), 10)
        await self.owner.close()
        assert not self.errors


def note(log: list[str], what: str) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        log.append(what)

    return work


def hang(log: list[str], what: str) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        log.append(what)
        try:
            await asyncio.Event().wait()
        finally:
            log.append(f"{what} left")

    return work


async def test_stages_run_one_after_the_other() -> None:
    log: list[str] = []
    rig = Quit(*(Stage(name, note(log, name), LONG, LONG) for name in ("save", "drain", "close")))
    rig.quit.request("the window")
    await rig.done()
    assert log == ["save", "drain", "close"]


async def test_a_stage_that_fails_does_not_keep_the_next_from_running(expected_logs: ExpectedLogs) -> None:
    expected_logs("quit: save failed")
    log: list[str] = []

    async def fail() -> None:
        raise RuntimeError("no")

    rig = Quit(Stage("save", fail, LONG, LONG), Stage("close", note(log, "close"), LONG, LONG))
    rig.quit.request("the window")
    await rig.done()
    assert log == ["close"]


async def test_a_stage_that_hangs_is_left_at_its_bound(expected_logs: ExpectedLogs) -> None:
    expected_logs("quit: drain took too long")
    log: list[str] = []
    rig = Quit(Stage("drain", hang(log, "drain"), 0.05, LONG), Stage("close", note(log, "close"), LONG, LONG))
    rig.quit.request("the window")
    await rig.done()
    assert log == ["drain", "drain left", "close"]


async def test_a_second_request_hurries_every_stage_from_then_on(expected_logs: ExpectedLogs) -> None:
    expected_logs("took too long", at_least=2)
    log: list[str] = []
    rig = Quit(Stage("drain", hang(log, "drain"), LONG, 0.05), Stage("close", hang(log, "close"), LONG, 0.05))
    rig.quit.request("the window")
    await until(lambda: log == ["drain"])
    rig.quit.request("SIGINT")
    await rig.done()
    assert log == ["drain", "drain left", "close", "close left"]
    assert rig.ended == []


async def test_a_third_request_ends_at_once(expected_logs: ExpectedLogs) -> None:
    log: list[str] = []
    rig = Quit(Stage("drain", hang(log, "drain"), LONG, LONG))
    for reason in ("the window", "SIGINT", "SIGTERM"):
        rig.quit.request(reason)
    assert rig.ended == ["at once"]
    await rig.owner.close()
