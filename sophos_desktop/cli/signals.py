"""SIGINT, SIGTERM and SIGHUP while a command runs.

Invariant: the first of them ends the command in order, through the run if one runs, else by cancelling the
command; a second SIGINT quits at once. Whoever starts the program so that it hears no SIGHUP is obeyed. But
for the start, where nothing is open yet (`__main__`), nothing else in the command line handles signals.
"""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any


class Request(Enum):
    """What a signal asks for; the value is the exit code."""

    STOP = 130
    DRAIN = 143


_REQUESTS = {signal.SIGINT: Request.STOP, signal.SIGTERM: Request.DRAIN}
if sys.platform != "win32":
    _REQUESTS[signal.SIGHUP] = Request.DRAIN  # the terminal was closed: the run is put down, as for SIGTERM


class Signals:
    """Lives for one command, on its loop."""

    def __init__(self, on_first: Callable[[], None], quit_at_once: Callable[[int], None]) -> None:
        """`on_first` is called at the first signal; `quit_at_once` gets the exit code and does not return."""
        self._on_first = on_first
        self._quit_at_once = quit_at_once
        self._handler: Callable[[Request], None] | None = None
        self._task: asyncio.Task[Any] | None = None
        self.requested: Request | None = None

    def deliver(self, request: Request) -> None:
        """A signal came."""
        if self.requested is not None:
            if request is Request.STOP:
                self._quit_at_once(request.value)
            return
        self.requested = request
        self._on_first()
        if self._handler is not None:
            self._handler(request)
        elif self._task is not None:
            self._task.cancel()

    @contextmanager
    def given_to(self, handler: Callable[[Request], None]) -> Iterator[None]:
        """While the block runs, `handler` ends the work, and the command is not cancelled."""
        self._handler = handler
        try:
            yield
        finally:
            self._handler = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle the signals while the block runs, in the current task."""
        self._task = asyncio.current_task()
        if threading.current_thread() is not threading.main_thread():
            yield  # signals come to the main thread alone
            return
        loop = asyncio.get_running_loop()
        previous = {number: signal.getsignal(number) for number in _heard()}
        for number in previous:
            try:
                loop.add_signal_handler(number, self.deliver, _REQUESTS[number])
            except NotImplementedError:  # Windows has no handlers on the loop

                def handle(number: int, _frame: object) -> None:
                    loop.call_soon_threadsafe(self.deliver, _REQUESTS[signal.Signals(number)])

                signal.signal(number, handle)
        try:
            yield
        finally:
            for number, handler in previous.items():
                try:
                    loop.remove_signal_handler(number)
                except NotImplementedError:
                    pass
                signal.signal(number, handler)


def _heard() -> "list[signal.Signals]":
    """Those that are handled: `nohup` means that its program outlives the terminal."""
    hangup = getattr(signal, "SIGHUP", None)
    is_deaf = hangup is not None and signal.getsignal(hangup) is signal.SIG_IGN
    return [number for number in _REQUESTS if number is not hangup or not is_deaf]
