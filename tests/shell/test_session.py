"""The end of the desktop's session: the staged shutdown without a question, and saving in between."""

from pathlib import Path

from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.session import SessionEnd
from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.fake_core import FakeCore
from tests.support.window import until


def test_the_end_of_the_session_asks_once_and_a_save_asks_for_nothing() -> None:
    asked: list[str] = []
    session = SessionEnd(asked.append, lambda: asked.append("save"))
    session.on_save(None)  # type: ignore[arg-type]
    session.on_commit(None)  # type: ignore[arg-type]
    session.on_commit(None)  # type: ignore[arg-type]
    session.on_save(None)  # type: ignore[arg-type]
    session.close()
    assert asked == ["save", "the end of the session"]


async def test_the_end_of_the_session_saves_drains_and_closes_without_a_dialog(tmp_path: Path) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    made.window.chat.composer.insertPlainText("typed")
    session = made.window.findChild(SessionEnd)
    assert session is not None
    session.on_save(None)  # type: ignore[arg-type]
    await until(lambda: core.conversations.drafts.get(None) == "typed")
    made.window.chat.composer.insertPlainText(" more")
    session.on_commit(None)  # type: ignore[arg-type]
    assert await ended(task, made) == 0
    assert core.conversations.drafts[None] == "typed more"
    assert "drain" in core.calls
    assert core.calls[-1] == "closed"


async def test_a_quit_that_qt_itself_begins_goes_through_the_staged_shutdown(tmp_path: Path) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    QApplication.quit()
    assert await ended(task, made) == 0
    assert core.calls[-1] == "closed"
