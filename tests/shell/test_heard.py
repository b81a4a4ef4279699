"""What is said of parts that are heard and not seen, and where their keys lead; `tests/e2e/orca` listens."""

import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QStyleOptionMenuItem,
    QWidget,
)

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.shell.chat.composing import chip_area, composer_frame, model_popup
from sophos_desktop.shell.conversations import list_panel, undo_bar
from sophos_desktop.shell.preferences import setting_field
from sophos_desktop.shell.theme.icon_fit import FieldMark
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.menu_items import item_size, paint_item
from sophos_desktop.shell.theme.tokens import LIGHT
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog
from tests.shell.test_trace_dock import send
from tests.shell.test_undo_delete import delete
from tests.support.attaching import attach, file, names
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import open_window, turns, until


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is announced, in its order."""
    told: list[str] = []

    def announce(_about: QWidget, words: str) -> None:
        if words:
            told.append(words)

    modules: tuple[ModuleType, ...] = (chip_area, composer_frame, list_panel, setting_field, undo_bar)
    for module in modules:
        monkeypatch.setattr(module, "announce", announce)
    return told


def tabbed(start: QWidget, most: int = 60) -> list[QWidget]:
    """Where the Tab key leads from `start`, until it is there again."""
    seen = [start]
    window = start.window()
    for _ in range(most):
        focused = window.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        now = window.focusWidget()
        assert now is not None
        if now is start:
            return seen
        seen.append(now)
    raise AssertionError([one.objectName() for one in seen])


def name_of(part: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(part).text(QAccessible.Text.Name)


DIALOGS = {
    "actionSettings": ("settingsDialog", "setting_engine_host"),
    "actionServers": ("serversDialog", "serverList"),
    "actionToolPermissions": ("permissionsDialog", "permissionList"),
    "actionDoctor": ("doctorDialog", "doctorList"),
    "actionKeyboard": ("keyboardDialog", "keyboardList"),
}


@pytest.mark.parametrize("action", DIALOGS)
async def test_a_dialog_begins_at_its_content_ends_at_close_and_each_part_has_a_name(action: str) -> None:
    name, first = DIALOGS[action]
    async with open_window(FakeCore()) as rig:
        rig.action(action).trigger()
        dialog = rig.find(PlainDialog, name)
        await until(lambda: QApplication.activeWindow() is dialog)
        await turns()
        start = dialog.focusWidget()
        assert start is not None
        assert start.objectName() == first
        chain = tabbed(start)
        assert chain[-1].objectName() == name + "Close"
        assert [part.objectName() for part in chain if not name_of(part)] == []


async def test_a_setting_says_its_note_and_its_problem_and_notes_are_read_nowhere_else(
    said: list[str],
) -> None:
    async with open_window(FakeCore()) as rig:
        rig.action("actionSettings").trigger()
        line = rig.find(QLineEdit, "setting_answer_step_limit")
        assert name_of(line) == "Step limit"
        assert line.accessibleDescription().startswith("Steps a run may take")
        notes = rig.find(PlainDialog, "settingsDialog").findChildren(QLabel)
        free = [one.text() for one in notes if one.property("part") == "note" and one.buddy() is None]
        assert free == ["Changes apply at once."]
        line.setText("none")
        line.editingFinished.emit()
        (problem,) = said
        assert problem.startswith("Step limit: ")
        assert problem.removeprefix("Step limit: ") in line.accessibleDescription()


async def test_a_deletion_is_announced_once_however_its_seconds_run(said: list[str]) -> None:
    core = FakeCore()
    for title in ("First", "Second"):
        core.conversations.add(title, user("go"))
    async with open_window(core) as rig:
        await delete(rig, "First")
        rig.window.panel.undo_bar.show_deletion("First", 3)
        (words,) = said
        assert re.fullmatch("Deleted “First”. Undo takes it back, for [1-9][0-9]* seconds", words)


async def test_the_filter_says_once_how_many_titles_it_leaves(said: list[str]) -> None:
    core = FakeCore()
    for title in ("Orders", "Old orders", "River"):
        core.conversations.add(title, user("go"))
    async with open_window(core) as rig:
        field = rig.find(QLineEdit, "conversationFilter")
        for typed, words in (("orders", "2 conversations"), ("river", "1 conversation")):
            field.clear()
            QTest.keyClicks(field, typed)
            await until(lambda: said)
            assert said == [words]
            said.clear()
        QTest.keyClicks(field, "zebra")
        await until(lambda: said)
        assert said == ["No title holds that"]


async def test_a_file_is_announced_when_it_is_attached(said: list[str], tmp_path: Path) -> None:
    async with open_window(FakeCore()) as rig:
        attach(rig, file(tmp_path, "notes.md"))
        await until(lambda: names(rig) == ["notes.md"])
        assert said == ["Attached notes.md, 4 bytes · ~1 token"]


async def test_the_models_are_told_row_by_row_while_the_field_has_the_keyboard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[str, int]] = []

    class Told:
        """QAccessible for a window that somebody listens to."""

        Event = QAccessible.Event
        isActive = staticmethod(lambda: True)

        @staticmethod
        def updateAccessibility(event: QAccessible.Event) -> None:
            told.append((event.object().objectName(), event.child()))  # type: ignore[attr-defined]

    monkeypatch.setattr(model_popup, "QAccessible", Told)
    async with open_window(FakeCore()) as rig:
        picker = rig.window.picker
        await until(lambda: picker.shown.marks)
        picker.setFocus()
        QTest.keyClick(picker, Qt.Key.Key_Return)
        popup = rig.window.models.popup
        await until(lambda: popup.isVisible() and len(popup.list.rows) > 2)
        field, view = popup.filter, rig.find(QListView, "modelList")
        assert field.accessibleDescription() == popup.list.rows[0].words
        told.clear()
        QTest.keyClick(field, Qt.Key.Key_Down)
        QTest.keyClick(field, Qt.Key.Key_Up)
        assert told == [("modelList", 1), ("modelList", 0)]
        row = QAccessible.queryAccessibleInterface(view).child(0)
        assert row.text(QAccessible.Text.Name).endswith("chosen")
        popup.close()


async def test_the_tab_key_goes_through_the_trace_as_it_is_read() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.window.resize(1400, 900)
        rig.window.activateWindow()
        handle = await send(rig, core, "Look")
        handle.store(Message("m1", Role.ASSISTANT, "Seen"))
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)
        start = rig.find(QWidget, "traceFilter")
        start.setFocus()
        seen = [part.objectName() for part in tabbed(start)]
        wanted = ["traceFilter", "traceSave", "traceFloat", "traceClose", "traceTree", "traceLine"]
        assert seen[: len(wanted)] == wanted
        after = seen[len(wanted) :]
        assert after[:3] == ["traceAsText", "traceCopy", "traceDetailsScroll"]
        assert after.index("traceShowInTranscript") < after.index("buttonToggleList")
        scroll = rig.find(QWidget, "traceDetailsScroll")
        assert name_of(scroll) == "Details of Run 1 · message"
        assert "State: " in scroll.accessibleDescription()


async def test_no_two_entries_of_a_menu_share_a_letter_and_no_two_commands_a_key() -> None:
    async with open_window(FakeCore()) as rig:
        places = (rig.window, rig.window.menus)
        found_menus = [menu for place in places for menu in place.findChildren(QMenu)]
        menus = [(menu.objectName(), menu.actions()) for menu in found_menus]
        menus.append(("the bar", rig.window.menuBar().actions()))
        assert len(menus) > 8
        for name, entries in menus:
            letters = Counter(
                found.group(1).casefold()
                for entry in entries
                if (found := re.search(r"&([^&])", entry.text())) is not None
            )
            assert [letter for letter, count in letters.items() if count > 1] == [], name
        keys = Counter(key.toString() for action in rig.window.menu_actions for key in action.shortcuts())
        assert [key for key, count in keys.items() if count > 1] == []


async def test_the_tab_key_reaches_every_button_of_the_window_that_can_be_pressed() -> None:
    core = FakeCore()
    core.conversations.add("Orders", user("go"))
    async with open_window(core) as rig:
        rig.window.resize(1400, 900)
        rig.window.activateWindow()
        rig.composer.setFocus()
        reached = tabbed(rig.composer)
        buttons = [
            part
            for kind in (QPushButton, QLineEdit, QListView)
            for part in rig.window.findChildren(kind)
            if part.isVisible() and part.isEnabled() and part.focusPolicy() != Qt.FocusPolicy.NoFocus
        ]
        assert len(buttons) > 1
        assert [part.objectName() for part in buttons if part not in reached] == []


# Marks grow with the type


def ink_of(size: int) -> QRect:
    """Where the icon of a menu's entry is painted at a size of type, in pixels."""
    option = QStyleOptionMenuItem()
    option.font.setPixelSize(size)
    option.icon = icon(Mark.STOP, _Light())
    option.rect = QRect(0, 0, 200, item_size(option).height())
    picture = QImage(QSize(200, option.rect.height()), QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    paint_item(painter, option)
    painter.end()
    inked = [
        (x, y)
        for x in range(picture.width())
        for y in range(picture.height())
        if picture.pixelColor(x, y).alpha()
    ]
    across, down = [x for x, _ in inked], [y for _, y in inked]
    return QRect(min(across), min(down), max(across) - min(across) + 1, max(down) - min(down) + 1)


class _Light:
    """A theme that never changes."""

    tokens = LIGHT


def test_icons_in_menus_grow_with_the_type() -> None:
    small, large = ink_of(13), ink_of(26)
    assert large.width() in (2 * small.width(), 2 * small.width() + 1)
    assert large.height() in (2 * small.height(), 2 * small.height() + 1)


async def test_the_mark_in_the_filter_grows_with_the_zoom_and_the_words_make_room() -> None:
    async with open_window(FakeCore()) as rig:
        field = rig.find(QLineEdit, "conversationFilter")
        mark = rig.find(FieldMark, "conversationFilterMark")
        before, room = mark.width(), field.textMargins().left()
        assert before == 16
        for _ in range(4):
            rig.action("actionZoomIn").trigger()
        await until(lambda: mark.width() > before)
        assert mark.width() == mark.height()
        assert field.textMargins().left() - room == mark.width() - before
        await until(lambda: abs(mark.geometry().center().y() - field.rect().center().y()) <= 1)
