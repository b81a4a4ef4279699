"""Ends the program in stages.

Invariant: stages run in their order, one after the other, each bounded; a stage that fails or takes too long
is logged and the next one runs. A second request hurries, a third ends the process at once. No nested loop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from sophos_desktop.foundation.tasks import TaskOwner

_LOG = logging.getLogger(__name__)
_CANCEL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: `seconds` is its bound, asked for when it begins; `hurried_seconds` the bound once somebody
    hurries."""

    name: str
    work: Callable[[], Awaitable[None]]
    seconds: float | Callable[[], float]
    hurried_seconds: float

    @property
    def bound_seconds(self) -> float:
        """Its bound while nobody hurries."""
        return self.seconds() if callable(self.seconds) else self.seconds


class StagedQuit(QObject):
    """Lives as long as the program; used once."""

    stage_began = Signal(str)
    hurried = Signal()
    finished = Signal()

    def __init__(
        self, owner: TaskOwner, stages: Sequence[Stage], end_at_once: Callable[[], None], parent: QObject
    ) -> None:
        """`end_at_once` is called at the third request and need not return. `owner` must not be closed by
        a stage."""
        super().__init__(parent)
        self._owner = owner
        self._stages = stages
        self._end_at_once = end_at_once
        self._requests = 0
        self._hurry = asyncio.Event()

    @property
    def is_running(self) -> bool:
        """True from the first request on."""
        return self._requests > 0

    def request(self, reason: str) -> None:
        """The window was closed, a signal came, the person chose Quit. Called on the loop."""
        self._requests += 1
        _LOG.info("quit requested by %s (%d)", reason, self._requests)
        if self._requests == 1:
            self._owner.spawn(self._run(), "staged quit")
        elif self._requests == 2:
            self._hurry.set()
            self.hurried.emit()
        else:
            self._end_at_once()

    async def _run(self) -> None:
        for stage in self._stages:
            self.stage_began.emit(stage.name)
            await self._run_stage(stage)
        self.finished.emit()

    async def _run_stage(self, stage: Stage) -> None:
        work = self._owner.spawn(_guarded(stage), f"quit: {stage.name}")
        hurry = self._owner.spawn(self._hurry.wait(), "quit: hurry")
        try:
            bound = stage.hurried_seconds if self._hurry.is_set() else stage.bound_seconds
            await asyncio.wait({work, hurry}, timeout=bound, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and self._hurry.is_set():
                await asyncio.wait({work}, timeout=stage.hurried_seconds)
            if not work.done():
                _LOG.warning("quit: %s took too long and was left", stage.name)
                work.cancel()
                await asyncio.wait({work}, timeout=_CANCEL_SECONDS)
        finally:
            hurry.cancel()


async def _guarded(stage: Stage) -> None:
    try:
        await stage.work()
    except Exception:  # noqa: BLE001  the next stage must run whatever went wrong in this one
        _LOG.exception("quit: %s failed", stage.name)
