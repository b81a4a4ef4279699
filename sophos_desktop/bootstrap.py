"""The Qt composition root: application, loop, window, core, staged quit.

Invariant: the window is on the screen before the core is even imported, and the loop ends only after the
core is closed. Nothing else makes an application or a Qt loop.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

import qasync

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.paths import AppPaths
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.application import make_application
from sophos_desktop.shell.demo import Demo
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.garbage import GuiCollector
from sophos_desktop.shell.generators import generators_closed
from sophos_desktop.shell.main_window import MainWindow
from sophos_desktop.shell.quit_question import ClosingBanner, QuitGate, waited_for
from sophos_desktop.shell.session import SessionEnd
from sophos_desktop.shell.shutdown import Stage, StagedQuit
from sophos_desktop.shell.unsaved_question import UnsavedGate

_LOG = logging.getLogger(__name__)

FIRST_PAINT_SECONDS = 2.0
SAVE_SECONDS = 5.0
DRAIN_SECONDS = 10.0
# A person who waits for the step can hurry it; a slow model may need minutes for one.
PATIENT_DRAIN_SECONDS = 1800.0
LAST_WORDS_SECONDS = 5.0
ERASE_SECONDS = 10.0
CLOSE_SECONDS = 20.0
HURRIED_SECONDS = 1.0
ENDED_AT_ONCE = 1
_WORKER_THREADS = 4


class Options(Protocol):
    """What the core needs to open; `core.assembly.CoreOptions` fits."""

    @property
    def paths(self) -> AppPaths:
        """Where everything lies."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment at the start."""


@dataclass(frozen=True, slots=True)
class DesktopOptions:
    """Options for who does not want to load the core before the window is shown."""

    paths: AppPaths
    environ: Mapping[str, str]


LoadCore = Callable[[Options], AbstractAsyncContextManager[Core]]


def load_core(options: Options) -> AbstractAsyncContextManager[Core]:
    """Import the core and make what opens it. Runs in a thread, with the collector off: the imports would
    freeze the window for up to 200 ms at a time, and Qt objects must not be deleted here."""
    from sophos_desktop.core.assembly import CoreOptions, open_core

    gc.freeze()
    chosen = options if isinstance(options, CoreOptions) else CoreOptions(options.paths, options.environ)
    return open_core(chosen)


def run_desktop(
    options: Options,
    *,
    demo_prompt: str | None = None,
    screenshot: Path | None = None,
    load: LoadCore = load_core,
) -> int:
    """Show the window and stay until it is closed; gives the exit code.

    With `demo_prompt` the window answers that prompt, prints the answer, is saved as a PNG to `screenshot`
    and closes: 0, or 3 if the run failed, or the exit code of the error that kept it from starting."""
    application = make_application(sys.argv[:1])
    loop = qasync.QEventLoop(application)
    loop.set_default_executor(ThreadPoolExecutor(_WORKER_THREADS, thread_name_prefix="worker"))
    asyncio.set_event_loop(loop)
    with loop, generators_closed(loop):
        return int(loop.run_until_complete(Desktop(options, load).run(demo_prompt, screenshot)))


class Desktop:
    """One sitting of the window; made and run on the Qt loop."""

    def __init__(self, options: Options, load: LoadCore) -> None:
        """Does nothing before `run`."""
        self._options = options
        self._load = load
        self._core: Core | None = None
        self._core_task: asyncio.Task[None] | None = None
        self._demo: Demo | None = None
        self._exit_code = 0
        self._is_finishing = False
        self._release = asyncio.Event()
        self._finished = asyncio.Event()

    async def run(self, demo_prompt: str | None, screenshot: Path | None) -> int:
        """From the first paint to the closed core; gives the exit code."""
        owner = TaskOwner(self._on_task_error)
        quit_owner = TaskOwner(self._on_task_error)
        self.window = MainWindow(owner)
        collector = GuiCollector(self.window, self._is_busy)
        collector.start()
        staged = StagedQuit(quit_owner, self._stages(), _end_at_once, self.window)
        staged.finished.connect(self._finished.set)
        staged.hurried.connect(lambda: self._hurry(quit_owner))
        self._gate = QuitGate(self.window, staged.request)
        self._quit_owner = quit_owner
        self._closing = ClosingBanner(self.window.theme, self.window.chat)
        self.window.chat.add_banner(self._closing)
        self._closing.stop_wanted.connect(lambda: self._hurry(quit_owner))
        self._gate.runs_changed.connect(self._say_soon)
        kept, gate = self.window.presenter.kept, self._gate
        unsaved = UnsavedGate(self.window, kept, gate.request, quit_owner, seconds=SAVE_SECONDS)
        staged.stage_began.connect(lambda _name: unsaved.go())
        self.window.quit_requested.connect(unsaved.request)
        session = SessionEnd(self._gate.end_session, lambda: self._save_soon(owner), self.window)
        with _signals_routed(self._gate.insist), _uncaught_routed(self._on_task_error):
            await self._show()
            self._core_task = quit_owner.spawn(self._hold_core(), "core")
            if demo_prompt is not None:
                self._demo = Demo(self.window, _writer(sys.stdout), _writer(sys.stderr))
                owner.spawn(self._run_demo(self._demo, demo_prompt, screenshot, staged), "demo")
            await self._finished.wait()
        await owner.close()
        await quit_owner.close()
        session.close()
        self.window.close_now()
        collector.stop()
        return self._exit_code

    def _is_busy(self) -> bool:
        """An answer arrives, or the transcript is still at work."""
        return self._gate.has_active_runs or self.window.chat.transcript.is_busy

    async def _show(self) -> None:
        painted = asyncio.Event()
        self.window.painted.connect(painted.set)
        self._fit_screen()
        self.window.show()
        try:
            await asyncio.wait_for(painted.wait(), FIRST_PAINT_SECONDS)
        except TimeoutError:
            _LOG.info("the window was not painted within %s s; going on", FIRST_PAINT_SECONDS)
        self.window.painted.disconnect(painted.set)

    def _fit_screen(self) -> None:
        """A first window is no larger than the screen, which is small where everything on it is enlarged."""
        window = self.window
        room = window.screen().availableGeometry().size()
        window.resize(window.size().boundedTo(room).expandedTo(window.minimumSize()))

    async def _hold_core(self) -> None:
        """Open the core, keep it until `_release`, close it: all in one task."""
        try:
            manager = await asyncio.to_thread(self._load, self._options)
            async with manager as core:
                self._core = core
                self._gate.attach(core.runs)
                await self.window.attach(core)
                await self._release.wait()
                self.window.detach()
                self._gate.detach()
                self._core = None
        except SophosError as error:
            _LOG.info("the core ended with %s", error.code)
            self.window.fail_to_open(error)
            if self._demo is not None:
                self._demo.fail(error)

    async def _run_demo(self, demo: Demo, prompt: str, screenshot: Path | None, staged: StagedQuit) -> None:
        self._exit_code = 3
        self._exit_code = await demo.run(prompt, screenshot)
        staged.request("the end of the demo")

    def _stages(self) -> tuple[Stage, ...]:
        return (
            Stage("save", self._save, SAVE_SECONDS, HURRIED_SECONDS),
            Stage("drain", self._drain, self._longest_drain, LAST_WORDS_SECONDS),
            Stage("erase", self._erase, ERASE_SECONDS, HURRIED_SECONDS),
            Stage("close", self._close_core, CLOSE_SECONDS, HURRIED_SECONDS * 3),
        )

    def _save_soon(self, owner: TaskOwner) -> None:
        owner.spawn(self.window.save(), "save for the session")

    async def _save(self) -> None:
        self.window.close_for_work()
        await self.window.save()

    @property
    def _drain_seconds(self) -> float:
        return PATIENT_DRAIN_SECONDS if self._gate.is_patient else DRAIN_SECONDS

    def _longest_drain(self) -> float:
        return self._drain_seconds + 2 * LAST_WORDS_SECONDS

    async def _drain(self) -> None:
        if self._core is None:
            return
        self._is_finishing = self._gate.has_active_runs
        if self._is_finishing:
            self.window.status.say_activity("Finishing the step, then closing…")
            self._say_soon()
        try:
            await self._core.runs.drain(self._drain_seconds)
        finally:
            self._is_finishing = False
            self._closing.say(())
        self.window.status.say_activity("Closing…")
        await self.window.save()  # a run that was drained may have handed its text back

    def _say_soon(self) -> None:
        if self._core is not None and self._is_finishing:
            self._quit_owner.spawn(self._say_what_runs(self._core), "what closing waits for")

    async def _say_what_runs(self, core: Core) -> None:
        """In the window, where a person who let the steps finish can end them all the same."""
        waits_for = []
        for conversation_id in self._gate.active_conversations:
            handle = core.runs.active(conversation_id)
            if handle is None:
                continue
            try:
                title = (await core.conversations.find(conversation_id)).title
                waits_for.append(waited_for(title, await core.conversations.trace(handle.run_id)))
            except SophosError as error:
                _LOG.info("what a run waits for could not be read: %s", error.code)
                waits_for.append("a run")
        if self._is_finishing:
            self._closing.say(waits_for)

    def _hurry(self, owner: TaskOwner) -> None:
        """Nobody waits for the steps any more; what became of the runs is still put down."""
        if self._core is not None:
            owner.spawn(self._core.runs.drain(0.0), "hurried drain")

    async def _erase(self) -> None:
        await self.window.feed.finish_deletions()

    async def _close_core(self) -> None:
        self._release.set()
        if self._core_task is not None:
            await asyncio.wait({self._core_task})

    def _on_task_error(self, error: BaseException) -> None:
        if isinstance(error, SophosError):
            self.window.show_error(error)
        else:
            _LOG.error("a task failed", exc_info=error)
            self.window.show_unexpected(error)


@contextmanager
def _signals_routed(request: Callable[[str], None]) -> Iterator[None]:
    """SIGINT, SIGTERM and the end of the terminal ask for the staged quit while this is entered; who starts
    the program deaf to the latter (`nohup`) is obeyed."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    previous = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        try:
            loop.add_signal_handler(number, request, number.name)
        except (NotImplementedError, RuntimeError):  # Windows has no handlers on the loop

            def handle(number: int, _frame: object) -> None:
                loop.call_soon_threadsafe(request, signal.Signals(number).name)

            signal.signal(number, handle)
    try:
        yield
    finally:
        for number in numbers:
            try:
                loop.remove_signal_handler(number)
            except (NotImplementedError, RuntimeError):
                pass
            signal.signal(number, previous[number])


@contextmanager
def _uncaught_routed(report: Callable[[BaseException], None]) -> Iterator[None]:
    """An error that leaves a slot or a thread of ours reaches the log and the window, not only a terminal
    that may not be there."""
    previous, previous_thread = sys.excepthook, threading.excepthook
    loop = asyncio.get_running_loop()

    def from_slot(_kind: type[BaseException], error: BaseException, _trace: object) -> None:
        report(error)

    def from_thread(failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            loop.call_soon_threadsafe(report, failure.exc_value)

    sys.excepthook, threading.excepthook = from_slot, from_thread
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = previous, previous_thread


def _end_at_once() -> None:
    _LOG.warning("ended at once on the third request")
    os._exit(ENDED_AT_ONCE)


def _writer(stream: TextIO | None) -> Callable[[str], object]:
    """Writes and flushes; a windowed build on Windows has no streams."""

    def write(text: str) -> None:
        if stream is not None:
            stream.write(text)
            stream.flush()

    return write
