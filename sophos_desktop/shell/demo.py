"""Answers one prompt through the real window, for machines without a display.

Invariant: it does what a person would do: it types into the composer and clicks Send; what is printed is
what the transcript shows.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import SittingEnded
from sophos_desktop.shell.main_window import MainWindow

RUN_FAILED = 3
Write = Callable[[str], object]


class Demo(QObject):
    """Lives for one prompt."""

    def __init__(self, window: MainWindow, write_answer: Write, write_error: Write) -> None:
        """The answer goes to `write_answer` as it arrives, whatever went wrong to `write_error`."""
        super().__init__(window)
        self._window = window
        self._write_answer = write_answer
        self._write_error = write_error
        self._printed: dict[str, int] = {}
        self._done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        window.bridge.message_grew.connect(self._on_message)
        window.bridge.message_stored.connect(self._on_message)
        window.presenter.run_ended.connect(self._on_ended)
        window.presenter.send_failed.connect(self.fail)

    async def run(self, prompt: str, screenshot: Path | None) -> int:
        """Send `prompt`, wait for the end, take the picture; gives the exit code."""
        self._window.chat.composer.insertPlainText(prompt)
        self._window.chat.send_button.click()
        code = await self._done
        if screenshot is not None:
            screenshot.parent.mkdir(parents=True, exist_ok=True)
            if not self._window.grab().save(str(screenshot)):
                self._write_error(f"The screenshot could not be written to {screenshot}\n")
                return code or RUN_FAILED
        return code

    def fail(self, error: SophosError) -> None:
        """The store could not be opened, or the run could not be started."""
        self._write_error(f"{error.code}: {error.title}. {error.remedy}".rstrip() + "\n")
        self._finish(error.exit_code)

    def _on_message(self, _conversation_id: str, message: Message) -> None:
        if message.role is Role.ASSISTANT:
            printed = self._printed.get(message.id, 0)
            self._write_answer(message.text[printed:])
            self._printed[message.id] = len(message.text)

    def _on_ended(self, _conversation_id: str, ended: SittingEnded) -> None:
        self._write_answer("\n")
        if ended.status == "completed":
            self._finish(0)
        else:
            reason = ended.error_message or "The run did not end with an answer"
            self._write_error(f"{ended.error_code or ended.status}: {reason}\n")
            self._finish(RUN_FAILED)

    def _finish(self, code: int) -> None:
        if not self._done.done():
            self._done.set_result(code)
