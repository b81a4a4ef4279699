"""Menus as the look has them: measures, marks, keys, the shadow around them, and where they stand."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.theme.floating import MARGIN
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import WindowRig, open_window, turns, until

BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])


def core_in(tokens: Tokens) -> FakeCore:
    """One conversation, one theme."""
    core = FakeCore()
    core.conversations.add("Orders", user("Total them."))
    core.settings.set("ui.theme", tokens.name)
    return core


def colour_at(image: QImage, x: float, y: float) -> str:
    """A pixel as a token is written."""
    return QColor(image.pixelColor(QPointF(x, y).toPoint())).name().upper()


async def opened(rig: WindowRig, name: str) -> FloatingMenu:
    """A menu of the bar, laid out; showing it would grab the keyboard, which no test may."""
    menu = rig.find(FloatingMenu, name)
    menu.ensurePolished()
    menu.adjustSize()
    await turns(3)
    return menu


@BOTH
async def test_entries_are_28_high_with_the_frame_of_the_look_around_them(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        menu = await opened(rig, "menuFile")
        first, second = (menu.actionGeometry(menu.actions()[index]) for index in (0, 2))
        assert (first.height(), second.height()) == (28, 28)
        assert (first.left(), first.top()) == (MARGIN + 4, 4)  # nothing of it lies over the bar
        picture = menu.grab().toImage()
        frame_left, middle = MARGIN, first.center().y()
        assert colour_at(picture, frame_left, middle) == tokens.border_strong
        assert colour_at(picture, frame_left + 2, middle) == tokens.raised
        assert picture.pixelColor(QPoint(0, middle)).alpha() == 0
        below = [picture.pixelColor(QPoint(100, menu.height() - 1 - row)).alpha() for row in range(MARGIN)]
        assert below == sorted(below)
        assert below[0] == 0 < below[-2]
        corner = picture.pixelColor(QPoint(frame_left, menu.height() - 1 - MARGIN))
        assert corner.alpha() < 255  # round


@BOTH
async def test_a_chosen_entry_has_its_ground_and_keys_are_fainter_than_words(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        menu = await opened(rig, "menuFile")
        action = rig.action("actionNewChat")
        menu.setActiveAction(action)
        place = menu.actionGeometry(action)
        picture = menu.grab().toImage()
        assert colour_at(picture, place.right() - 2, place.center().y()) == tokens.hover
        right = {
            colour_at(picture, x, y)
            for x in range(place.right() - 70, place.right() - 8)
            for y in range(place.top(), place.bottom())
        }
        words = {
            colour_at(picture, x, y)
            for x in range(place.left() + 32, place.left() + 90)
            for y in range(place.top(), place.bottom())
        }
        assert tokens.text_3 in right
        assert tokens.text not in right
        assert tokens.text in words


async def test_commands_have_their_marks_and_words_begin_in_one_line() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        for name in ("actionNewChat", "actionRename", "actionDelete", "actionSettings", "actionResume"):
            assert not rig.action(name).icon().isNull(), name
        menu = await opened(rig, "menuFile")
        picture = menu.grab().toImage()
        lefts = []
        for name in ("actionNewChat", "actionSettings", "actionQuit"):
            place = menu.actionGeometry(rig.action(name))
            inked = [
                x
                for x in range(place.left() + 28, place.left() + 60)
                if any(
                    colour_at(picture, x, y) != LIGHT.raised
                    for y in range(place.top() + 4, place.bottom() - 8)
                )
            ]
            lefts.append(inked[0])
        assert max(lefts) - min(lefts) <= 2  # letters have margins of their own


async def test_a_right_click_on_a_conversation_offers_what_can_be_done_with_it() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        rig.choose("Orders")
        await until(lambda: rig.window.presenter.conversation_id is not None)
        view = rig.find(GroupedView, "conversationList")
        menu = rig.find(FloatingMenu, "conversationMenu")
        entries = [action for action in menu.actions() if not action.isSeparator()]
        names = ["actionRename", "actionExportHere", "actionResume", "actionDelete"]
        assert [action.objectName() for action in entries] == names
        assert all(not action.icon().isNull() for action in entries)
        assert [action.isEnabled() for action in entries] == [True, True, False, True]
        assert view.contextMenuPolicy() == Qt.ContextMenuPolicy.CustomContextMenu


async def test_a_click_on_the_shadow_is_a_click_beside_the_menu() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        menu = FloatingMenu("", rig.window.theme, rig.window)
        told: list[str] = []
        action = menu.addAction("One")
        action.triggered.connect(lambda: told.append("one"))
        menu.aboutToHide.connect(lambda: told.append("hidden"))
        menu.adjustSize()
        menu.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        menu.show()
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=QPoint(4, menu.height() // 2))
        assert "one" not in told
        assert not menu.isVisible()


def test_a_menu_of_qt_itself_is_plain_and_of_the_same_colours(application: QApplication) -> None:
    menu = QMenu()
    menu.addAction("Copy")
    menu.adjustSize()
    assert menu.actionGeometry(menu.actions()[0]).height() == 28
