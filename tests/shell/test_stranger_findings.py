"""Small things that a person stumbled over: wheels in forms, menus in the text, names of files, bars."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QMenu

from sophos_desktop.shell.conversations.list_model import ConversationListModel
from sophos_desktop.shell.widgets.file_places import proposed_name
from sophos_desktop.shell.widgets.pane_button import PaneButton
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.window import open_window, turns, until


async def test_the_wheel_over_a_chooser_of_the_settings_changes_nothing() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.action("actionSettings").trigger()
        combo = rig.find(QComboBox, "setting_ui_theme")
        combo.setFocus()
        before = combo.currentIndex()
        point = QPointF(combo.rect().center())
        event = QWheelEvent(
            point,
            QPointF(combo.mapToGlobal(combo.rect().center())),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        event.accept()
        QApplication.sendEvent(combo, event)
        assert combo.currentIndex() == before
        assert not event.isAccepted()


@pytest.mark.parametrize("reason", [QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard])
async def test_the_conversation_has_a_menu_by_right_click_and_by_key(
    reason: QContextMenuEvent.Reason,
) -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("One", user("hello"), assistant("The *answer*"))
    async with open_window(core) as rig:
        rig.choose("One")
        await rig.opened(conversation_id)
        view = rig.transcript
        await until(lambda: len(view.transcript_layout.visible_messages) >= 2)
        placed = next(part for part in view.transcript_layout.placed if part.message == 0)
        is_key = reason == QContextMenuEvent.Reason.Keyboard
        target, place = (view, QPoint(5, 5)) if is_key else (view.viewport(), QPoint(200, placed.top + 8))
        QApplication.sendEvent(target, QContextMenuEvent(reason, place, target.mapToGlobal(place)))
        menu = rig.find(QMenu, "transcriptMenu")
        assert menu.isVisible()
        named = [action.objectName() for action in menu.actions() if not action.isSeparator()]
        wanted = ["actionCopy", "actionCopyMarkdown", "actionCopyMessage", "actionSelectAll", "actionFind"]
        assert named == wanted
        assert rig.action("actionSelectAll").isEnabled()
        menu.close()
        rig.action("actionCopyMessage").trigger()
        assert QGuiApplication.clipboard().text() == "hello"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Totals per month", "Totals per month"),
        ("a/b\\c: d?\n e", "a b c d e"),
        ("  ... ", "id"),
        ("CON", "id"),
        ("lpt1.txt", "id"),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_title_becomes_the_name_of_a_file(title: str, name: str) -> None:
    assert proposed_name(title, "id") == name


def test_a_name_has_no_more_bytes_than_a_file_system_takes() -> None:
    assert len(proposed_name("😀" * 80, "id").encode()) <= 200


async def test_the_dock_comes_back_as_wide_as_it_was_and_the_bar_is_never_wider_than_the_window() -> None:
    async with open_window(FakeCore()) as rig:
        rig.window.resize(1280, 800)
        await turns(20)
        width = rig.window.dock.width()
        for zoom in (100, 200):
            rig.window.theme.choose_zoom(zoom)
            for narrow in (640, 480):
                rig.window.resize(narrow, 620)
                await turns(20)
                last = rig.window.status.findChildren(PaneButton)[-1]
                assert last.mapTo(rig.window, last.rect().bottomRight()).x() < narrow
        rig.window.theme.choose_zoom(100)
        rig.window.resize(1280, 800)
        await turns(20)
        assert rig.window.dock.width() == width


def test_the_list_knows_whether_it_was_read() -> None:
    from sophos_desktop.foundation.clock import SystemClock

    model = ConversationListModel(SystemClock())
    assert not model.is_known
    model.reset([])
    assert model.is_known
