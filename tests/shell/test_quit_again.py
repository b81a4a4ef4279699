"""A Quit key that is held, or pressed again while the window is still there, costs nothing."""

from pathlib import Path

from PySide6.QtTest import QTest

from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.fake_core import FakeCore
from tests.support.window import until


async def test_quit_pressed_again_and_again_saves_what_was_typed(tmp_path: Path) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    QTest.keyClicks(made.window.chat.composer, "Not sent yet")
    for _ in range(5):
        made.window.quit_requested.emit("the Quit command")
    assert await ended(task, made) == 0
    assert await core.conversations.draft(None) == "Not sent yet"
