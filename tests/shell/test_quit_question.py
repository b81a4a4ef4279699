"""Quitting while something runs: asked once, answered three ways, never asked of who cannot answer."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from sophos_desktop import bootstrap
from sophos_desktop.bootstrap import Desktop
from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.runs.registry import RunRegistry
from sophos_desktop.core.store.database import Database
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.quit_question import ClosingBanner, QuitQuestion, waited_for
from sophos_desktop.shell.session import SessionEnd
from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.core_fixture import (
    LINES,
    calls,
    lines_of,
    open_test_core,
    paths_of,
    slow_append,
    transcript,
)
from tests.support.fake_core import FakeCore
from tests.support.guards import ExpectedLogs
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import turns, until


def question_of(made: Desktop) -> QuitQuestion | None:
    """The question, while it is on the screen."""
    shown = [one for one in made.window.findChildren(QuitQuestion) if one.isVisible()]
    assert len(shown) <= 1, "it is asked once"
    return shown[0] if shown else None


def press(made: Desktop, name: str) -> None:
    """A button of the question."""
    question = question_of(made)
    assert question is not None
    button = question.findChild(QPushButton, name)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def running(tmp_path: Path, core: FakeCore, count: int = 1) -> "tuple[Desktop, asyncio.Task[int]]":
    """A window on a core with runs."""
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    for number in range(count):
        await core.runs.start(None, f"go {number}")
    return made, task


async def test_cancel_leaves_everything_as_it_is(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    made.window.close()
    press(made, "quitCancelButton")
    await turns()
    assert question_of(made) is None
    assert not made.window.chat.composer.isReadOnly()
    assert "drain" not in core.calls
    made.window.close()
    question = question_of(made)
    assert question is not None, "the next time it is asked again"
    QTest.keyClick(question, Qt.Key.Key_Escape)
    await turns()
    assert question_of(made) is None
    core.runs.handles[0].end()
    made.window.close()
    assert await ended(task, made) == 0


async def test_stop_and_quit_stops_every_run_first(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core, 2)
    made.window.actions_.quit.trigger()
    press(made, "quitStopButton")
    assert [handle.is_stopped for handle in core.runs.handles] == [True, True]
    assert await ended(task, made) == 0
    assert core.calls[-1] == "closed"


async def test_finishing_the_step_stops_nothing(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    made.window.close()
    press(made, "quitFinishButton")
    assert await ended(task, made) == 0
    assert not core.runs.handles[0].is_stopped
    assert "drain" in core.calls


async def test_closing_the_window_again_does_not_ask_twice_nor_hurry(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    made.window.close()
    made.window.close()
    made.window.close()
    assert question_of(made) is not None
    press(made, "quitCancelButton")
    await turns()
    assert "drain" not in core.calls
    core.runs.handles[0].end()
    made.window.close()
    assert await ended(task, made) == 0


async def test_the_question_goes_away_and_the_window_too_when_the_run_ends_meanwhile(
    tmp_path: Path,
) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    made.window.close()
    assert question_of(made) is not None
    core.runs.handles[0].end()
    assert await ended(task, made) == 0


async def test_a_run_that_waits_for_a_decision_does_not_ask(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    core.ask(core.runs.handles[0], "call")
    made.window.close()
    assert question_of(made) is None
    assert await ended(task, made) == 0


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_signal_never_asks_and_closes_a_question_that_is_open(
    tmp_path: Path, *, is_open: bool
) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    if is_open:
        made.window.close()
        assert question_of(made) is not None
    signal.raise_signal(signal.SIGTERM)
    assert await ended(task, made) == 0
    assert not core.runs.handles[0].is_stopped
    assert "drain" in core.calls


async def test_the_end_of_the_session_never_asks_also_when_it_closes_the_window(tmp_path: Path) -> None:
    core = FakeCore()
    made, task = await running(tmp_path, core)
    session = made.window.findChild(SessionEnd)
    assert session is not None
    session.on_commit(None)  # type: ignore[arg-type]
    made.window.close()
    made.window.close()
    assert question_of(made) is None
    assert await ended(task, made) == 0
    assert core.calls[-1] == "closed"


class Patient:
    """What `drain` of a fake core was asked for; it goes on until the test says."""

    def __init__(self, core: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[float] = []
        self.go_on = asyncio.Event()
        drain = core.runs.drain

        async def wait_and_drain(timeout_seconds: float) -> None:
            self.asked.append(timeout_seconds)
            if timeout_seconds:
                await self.go_on.wait()
            else:
                self.go_on.set()
            await drain(timeout_seconds)

        monkeypatch.setattr(core.runs, "drain", wait_and_drain)


async def test_a_person_may_wait_for_the_step_as_long_as_it_takes_and_cuts_nothing_off_by_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = FakeCore()
    patient = Patient(core, monkeypatch)
    made, task = await running(tmp_path, core)
    made.window.close()
    press(made, "quitFinishButton")
    await until(lambda: patient.asked == [bootstrap.PATIENT_DRAIN_SECONDS])
    for _ in range(3):  # a key that is held, or pressed again since the window is still there
        made.window.actions_.quit.trigger()
        made.window.close()
    await turns(10)
    assert patient.asked == [bootstrap.PATIENT_DRAIN_SECONDS]
    assert question_of(made) is None
    patient.go_on.set()
    assert await ended(task, made) == 0
    assert not core.runs.handles[0].is_stopped


async def test_a_signal_gives_a_step_ten_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = FakeCore()
    patient = Patient(core, monkeypatch)
    made, task = await running(tmp_path, core)
    signal.raise_signal(signal.SIGTERM)
    await until(lambda: patient.asked == [10.0])
    patient.go_on.set()
    assert await ended(task, made) == 0


async def test_the_third_request_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    core, codes = FakeCore(), list[int]()
    patient = Patient(core, monkeypatch)
    expected_logs("ended at once")
    monkeypatch.setattr("os._exit", codes.append)
    made, task = await running(tmp_path, core)
    made.window.close()
    press(made, "quitFinishButton")
    await until(lambda: patient.asked)
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
    await until(lambda: codes)
    assert codes == [bootstrap.ENDED_AT_ONCE]
    assert await ended(task, made) == 0


# On the real core


@asynccontextmanager
async def hanging(
    tmp_path: Path, *, seconds: float = 60.0
) -> AsyncIterator[tuple[Desktop, "asyncio.Task[int]", str, OllamaServer]]:
    """The window on a real core whose run hangs in a tool call."""
    data_dir, file = tmp_path / "data", tmp_path / "lines.txt"
    async with OllamaServer() as server:
        server.script(calls(slow_append(file, "slow", seconds)), Reply(pieces=("Done.",)))
        kept: list[Core] = []

        @asynccontextmanager
        async def opened() -> AsyncIterator[Core]:
            async with open_test_core(data_dir, server, mcp=LINES) as core:
                kept.append(core)
                yield core

        made = desktop(tmp_path, lambda _options: opened())
        task = await started(made)
        await until(lambda: kept and made.window.actions_.new_chat.isEnabled())
        handle = await kept[0].runs.start(None, "Write")
        await until(lambda: lines_of(file) == ["slow"])
        yield made, task, handle.conversation_id, server


async def outcome(tmp_path: Path, conversation_id: str) -> tuple[str, bool, str | None]:
    """Status, whether work is left, and error of the only run, as the next start finds it."""
    options = CoreOptions(paths_of(tmp_path / "data"), {}, tool_servers=False)
    async with open_core(options) as core:
        assert core.recovered == (), "nothing was left to recover"
        (record,) = await core.conversations.runs(conversation_id)
        return record.status.value, record.unfinished, record.error_code


async def test_stop_and_quit_in_a_hanging_call_records_cancelled(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (made, task, conversation_id, _):
        made.window.close()
        press(made, "quitStopButton")
        assert await ended(task, made) == 0
    assert await outcome(tmp_path, conversation_id) == ("cancelled", True, None)


async def test_finishing_the_step_records_interrupted_with_the_result(tmp_path: Path) -> None:
    async with hanging(tmp_path, seconds=0.5) as (made, task, conversation_id, server):
        made.window.close()
        press(made, "quitFinishButton")
        assert await ended(task, made) == 0
        assert len(server.chats) == 1, "the model was not asked again"
        async with open_test_core(tmp_path / "data", server) as core:
            assert (await transcript(core, conversation_id))[-1] == ("tool", "appended slow, slowly")
    assert await outcome(tmp_path, conversation_id) == ("interrupted", True, None)


async def test_hurrying_a_step_that_hangs_records_interrupted(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (made, task, conversation_id, _):
        made.window.close()
        press(made, "quitFinishButton")
        signal.raise_signal(signal.SIGTERM)
        assert await ended(task, made) == 0
    assert await outcome(tmp_path, conversation_id) == ("interrupted", True, None)


async def test_closing_shows_what_it_waits_for_and_a_button_that_ends_it(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (made, task, conversation_id, _):
        banner = made.window.findChild(ClosingBanner)
        assert banner is not None
        assert not banner.isVisible()
        made.window.close()
        press(made, "quitFinishButton")
        await until(banner.isVisible)
        assert banner.title == "Finishing this step, then closing."
        assert banner.text == "Waiting for lines.slow_append in “Write”."
        assert banner.accessibleName() == f"{banner.title} {banner.text}"
        assert (banner.stop_button.text(), banner.stop_button.isEnabled()) == ("Stop now", True)
        QTest.mouseClick(banner.stop_button, Qt.MouseButton.LeftButton)
        assert not banner.stop_button.isEnabled()
        assert await ended(task, made) == 0
    assert await outcome(tmp_path, conversation_id) == ("interrupted", True, None)


async def test_what_closing_waits_for_follows_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = FakeCore()
    patient = Patient(core, monkeypatch)
    made, task = await running(tmp_path, core, 2)
    banner = made.window.findChild(ClosingBanner)
    assert banner is not None
    made.window.close()
    press(made, "quitFinishButton")
    await until(lambda: banner.title == "Finishing 2 steps, then closing.")
    core.runs.handles[0].end()
    await until(lambda: banner.title == "Finishing this step, then closing.")
    assert banner.text == "Waiting for the model in “go 1”."
    patient.go_on.set()
    assert await ended(task, made) == 0
    assert patient.asked == [bootstrap.PATIENT_DRAIN_SECONDS]


def called(call: str, tool: str = "t") -> dict[str, object]:
    return {"type": "tool_call", "tool_call_id": call, "server": "s", "tool": tool}


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "the model"),
        ([called("a")], "s.t"),
        ([called("a"), called("b"), called("c", "u")], "s.t, s.u"),
        ([called("a"), {"type": "tool_result", "tool_call_id": "a"}], "the model"),
        ([called("a"), {"type": "run_started"}], "the model"),
        ([called(name, name) for name in "abcd"], "s.a, s.b, s.c and others"),
    ],
)
def test_what_a_step_waits_for_is_what_was_sent_and_has_no_result(
    events: list[dict[str, object]], said: str
) -> None:
    assert waited_for("A\ntitle", events) == f"{said} in “A title”"
    assert waited_for("x" * 100, events).endswith(f"“{'x' * 39}…”")


async def test_a_signal_lets_a_hanging_step_go_after_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "DRAIN_SECONDS", 0.2)
    async with hanging(tmp_path) as (made, task, conversation_id, _):
        signal.raise_signal(signal.SIGTERM)
        assert await ended(task, made) == 0
    assert await outcome(tmp_path, conversation_id) == ("interrupted", True, None)


async def test_the_order_is_refuse_drain_servers_log_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(kind: type, name: str, what: str) -> None:
        original = getattr(kind, name)

        async def note(self: object, *arguments: object) -> object:
            if order[-1:] != [what]:
                order.append(what)
            return await original(self, *arguments)

        monkeypatch.setattr(kind, name, note)

    noted(RunRegistry, "drain", "drain")
    noted(ToolHost, "close", "close servers")
    noted(Database, "checkpoint_wal", "fold the log")
    noted(Database, "close", "close the file")
    async with hanging(tmp_path, seconds=0.5) as (made, task, conversation_id, _):
        made.window.close()
        press(made, "quitFinishButton")
        await until(made.window.chat.composer.isReadOnly)
        assert order in ([], ["drain"]), "first, nothing new is taken"
        assert await ended(task, made) == 0
    assert order == ["drain", "close servers", "fold the log", "close the file"]
    assert not paths_of(tmp_path / "data").database.with_name("sophos.db-wal").exists()
    assert (await outcome(tmp_path, conversation_id))[0] == RunStatus.INTERRUPTED.value
