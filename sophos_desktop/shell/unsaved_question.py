"""Asks before the window closes over text that cannot be saved.

Invariant: only a person is asked; signals and the end of the desktop's session go on without an answer. No
nested loop. What can be saved is saved before the shutdown begins, so that nothing has to be opened again.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.widgets.ask import Question


class Typed(Protocol):
    """What a person typed."""

    @property
    def is_typed_saved(self) -> bool:
        """True if there is nothing to save."""

    async def save_typed(self) -> None:
        """Raises SophosError if it cannot."""


class UnsavedGate(QObject):
    """Between a person who wants to quit and `QuitGate`. Lives as long as the program."""

    def __init__(
        self,
        window: QWidget,
        typed: Typed,
        quit_: Callable[[str], None],
        owner: TaskOwner,
        *,
        seconds: float,
    ) -> None:
        """`typed` is waited for `seconds` at most; `quit_` hears the request then."""
        super().__init__(window)
        self._window = window
        self._typed = typed
        self._quit = quit_
        self._owner = owner
        self._seconds = seconds
        self._is_saving = self._is_through = False
        self._question: Question | None = None

    def request(self, reason: str) -> None:
        """A person wants to quit; whoever asks again while it is saved does not wait for that."""
        if self._question is not None:
            self._question.raise_()
            self._question.activateWindow()
        elif self._is_through or self._is_saving or self._typed.is_typed_saved:
            self._is_saving = False
            self._quit(reason)
        else:
            self._is_saving = True
            self._owner.spawn(self._try(reason), "save what was typed")

    def go(self) -> None:
        """The shutdown began: nothing is asked any more."""
        self._is_through = True
        if self._question is not None:
            self._question.close()

    async def _try(self, reason: str) -> None:
        error: SophosError | None = None
        try:
            async with asyncio.timeout(self._seconds):
                await self._typed.save_typed()
        except SophosError as refused:
            error = refused
        except TimeoutError:
            pass  # the shutdown's own stage tries again, and says so in the log
        if not self._is_saving or self._is_through:
            return  # somebody did not wait
        self._is_saving = False
        if error is None:
            self._quit(reason)
        else:
            self._ask(error, reason)

    def _ask(self, error: SophosError, reason: str) -> None:
        question = Question(
            self._window,
            "unsavedQuestion",
            "What you typed cannot be saved",
            f"{error.message} ({error.code})",
            "Quit anyway",
            lambda: self._quit(reason),
            danger=True,
        )
        keep = question.findChild(QPushButton, "unsavedQuestionCancel")
        assert isinstance(keep, QPushButton)
        keep.setText("Keep open")
        keep.setAccessibleName("Keep open")
        question.finished.connect(self._on_answered)
        self._question = question
        question.open()

    def _on_answered(self, _result: int) -> None:
        self._question = None
