"""The composition root: the window first, then the core; the quit in its stages; the demo."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QPushButton

from sophos_desktop.bootstrap import Desktop, DesktopOptions, Options
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.paths import resolve_paths
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.application import prepare_application
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.tokens import FIRST_WINDOW
from sophos_desktop.shell.widgets.banner import Banner
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.guards import ExpectedLogs
from tests.support.window import turns, until

Load = Callable[[Options], AbstractAsyncContextManager[Core]]
TOO_NEW = SophosError(ErrorCode.STORE_TOO_NEW, "This store comes from a newer version", "Update the app.")


def desktop(tmp_path: Path, load: Load) -> Desktop:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    prepare_application(application)
    return Desktop(DesktopOptions(resolve_paths(tmp_path, {}), {}), load)


def _already_raised(_error: BaseException) -> None:
    """The test awaits the task and gets the error there."""


async def started(
    made: Desktop, prompt: str | None = None, screenshot: Path | None = None
) -> "asyncio.Task[int]":
    task = TaskOwner(_already_raised).spawn(made.run(prompt, screenshot), "desktop")
    await until(lambda: hasattr(made, "window") and made.window.isVisible())
    return task


async def ended(task: "asyncio.Task[int]", made: Desktop) -> int:
    code = await asyncio.wait_for(task, 20)
    assert not made.window.isVisible()
    made.window.deleteLater()
    await turns()
    return code


@asynccontextmanager
async def refused(error: SophosError) -> AsyncIterator[Core]:
    if error:
        raise error
    yield FakeCore()


async def test_closing_the_window_saves_drains_and_closes_in_that_order(tmp_path: Path) -> None:
    core = FakeCore()
    core.conversations.state["last_conversation"] = core.conversations.add("First", user("x"))
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: made.window.presenter.conversation_id and not made.window.presenter.is_loading)
    handle = await core.runs.start(made.window.presenter.conversation_id, "go")
    await until(lambda: made.window.presenter.is_running)
    made.window.chat.composer.insertPlainText("unsent")
    made.window.close()
    assert made.window.isVisible()
    await until(lambda: made.window.findChild(QPushButton, "quitFinishButton"))
    finish = made.window.findChild(QPushButton, "quitFinishButton")
    assert finish is not None
    finish.click()
    assert await ended(task, made) == 0
    assert core.calls[:5] == ["open", "draft", "state", "drain", "state"]
    assert core.calls[-1] == "closed"
    assert core.conversations.drafts[handle.conversation_id] == "unsent"
    assert core.runs.active(handle.conversation_id) is None
    assert core.conversations.state["window_geometry"]


async def test_the_first_window_fits_a_small_screen(tmp_path: Path) -> None:
    made = desktop(tmp_path, lambda _options: FakeCore().open())
    task = await started(made)
    room = made.window.screen().availableGeometry().size()
    assert room.width() < FIRST_WINDOW[0]  # else the test says nothing
    assert made.window.size().boundedTo(room) == made.window.size()
    made.window.close()
    assert await ended(task, made) == 0


async def test_nothing_can_be_sent_once_the_shutdown_began(tmp_path: Path) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    made.window.chat.composer.insertPlainText("too late")
    made.window.actions_.quit.trigger()
    await until(lambda: made.window.chat.composer.isReadOnly())
    made.window.presenter.send()
    assert await ended(task, made) == 0
    assert core.runs.handles == []
    assert core.conversations.drafts[None] == "too late"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_app_through_the_staged_shutdown(
    tmp_path: Path, number: signal.Signals
) -> None:
    core = FakeCore()
    inherited = signal.signal(number, signal.default_int_handler)  # the tests may be run by `nohup`
    before = signal.getsignal(number)
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls)
    signal.raise_signal(number)
    assert await ended(task, made) == 0
    assert core.calls[-2:] == ["state", "closed"]
    assert signal.getsignal(number) is before
    signal.signal(number, inherited)


async def test_who_is_started_to_outlive_the_terminal_does(tmp_path: Path) -> None:
    core = FakeCore()
    inherited = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls)
    signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    made.window.close()
    assert await ended(task, made) == 0
    signal.signal(signal.SIGHUP, inherited)


async def test_a_store_that_cannot_be_opened_is_said_in_the_window_and_the_app_can_be_quit(
    tmp_path: Path,
) -> None:
    made = desktop(tmp_path, lambda _options: refused(TOO_NEW))
    task = await started(made)
    banner = made.window.chat.error_banner
    await until(banner.isVisible)
    assert (banner.title, banner.text, banner.code) == (TOO_NEW.title, TOO_NEW.remedy, "STORE_TOO_NEW")
    made.window.close()
    assert await ended(task, made) == 0


async def test_quitting_while_the_core_opens_keeps_what_was_typed(tmp_path: Path) -> None:
    core, gate = FakeCore(), asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncIterator[Core]:
        await gate.wait()
        async with core.open() as opened:
            yield opened

    made = desktop(tmp_path, lambda _options: slow())
    task = await started(made)
    made.window.chat.composer.insertPlainText("typed early")
    made.window.close()
    await until(lambda: made.window.chat.composer.isReadOnly())
    gate.set()
    assert await ended(task, made) == 0
    assert core.conversations.drafts[None] == "typed early"
    assert core.calls[-1] == "closed"


async def test_the_demo_prints_the_answer_as_it_comes_and_saves_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core, picture = FakeCore(), tmp_path / "build" / "first-answer.png"
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made, "Say hello", picture)
    await until(lambda: core.runs.handles)
    handle = core.runs.handles[0]
    printed = ""

    def out() -> str:
        nonlocal printed
        printed += capsys.readouterr().out
        return printed

    handle.say("Hel")
    await until(lambda: out() == "Hel")
    handle.say("lo")
    handle.answer("Hello.")
    handle.end()
    assert await ended(task, made) == 0
    assert out() == "Hello.\n"
    assert not QImage(str(picture)).isNull()
    assert core.conversations.stored[handle.conversation_id][0].text == "Say hello"


async def test_the_demo_of_a_run_that_fails_exits_with_3_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made, "Say hello")
    await until(lambda: core.runs.handles)
    error = SophosError(ErrorCode.ENGINE_UNREACHABLE, "Nobody answers", "Start Ollama.")
    core.runs.handles[0].end(RunStatus.FAILED, error, unfinished=True)
    assert await ended(task, made) == 3
    assert capsys.readouterr().err == "ENGINE_UNREACHABLE: Nobody answers. Start Ollama.\n"


async def test_the_demo_without_a_store_exits_with_the_code_of_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = desktop(tmp_path, lambda _options: refused(TOO_NEW))
    task = await started(made, "Say hello")
    assert await ended(task, made) == 7
    assert "STORE_TOO_NEW: This store comes from a newer version. Update the app." in capsys.readouterr().err


async def test_an_error_that_leaves_a_slot_reaches_the_log_and_the_window(
    tmp_path: Path, expected_logs: ExpectedLogs
) -> None:
    expected_logs("a task failed.*ZeroDivisionError")
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    before = sys.excepthook
    QTimer.singleShot(0, lambda: 1 // 0)
    error_banner = made.window.findChild(Banner, "errorBanner")
    assert error_banner is not None
    await until(error_banner.isVisible)
    made.window.close()
    assert await ended(task, made) == 0
    assert sys.excepthook is not before
