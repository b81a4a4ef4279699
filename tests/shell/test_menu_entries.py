"""What stands in the menus: every entry has words, a mark of its own to press and something that it does."""

from collections import Counter
from collections.abc import Iterator

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QToolButton, QWidget

from sophos_desktop.shell.trace.trace_tree import TraceTree
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import WindowRig, open_window, turns, until

NEEDS_A_CONVERSATION = {
    "actionRename",
    "actionDelete",
    "actionExportMarkdown",
    "actionExportHere",
    "actionExportJsonl",
}


def menus(rig: WindowRig) -> list[FloatingMenu]:
    """Those of the bar, those within them, and that of a row of the list."""
    found = [rig.find(FloatingMenu, name) for name in ("menuExport", "menuZoom", "conversationMenu")]
    for entry in rig.window.menuBar().actions():
        menu = entry.menu()
        assert isinstance(menu, FloatingMenu), entry.text()
        found.append(menu)
    return found


def entries(menu: FloatingMenu) -> list[QAction]:
    return [action for action in menu.actions() if not action.isSeparator()]


def mnemonics(actions: list[QAction]) -> Iterator[str]:
    for action in actions:
        words = action.text().replace("&&", "")
        assert words.strip("&…"), action.objectName()
        at = words.find("&")
        assert at >= 0, f"{action.text()!r} has no letter to press"
        yield words[at + 1].lower()


async def test_no_two_entries_of_a_menu_have_the_same_letter() -> None:
    async with open_window(FakeCore()) as rig:
        assert len(set(mnemonics(rig.window.menuBar().actions()))) == 6
        for menu in menus(rig):
            letters = Counter(mnemonics(entries(menu)))
            assert [letter for letter, count in letters.items() if count > 1] == [], menu.objectName()


async def test_no_two_commands_have_the_same_keys() -> None:
    async with open_window(FakeCore()) as rig:
        portable = QKeySequence.SequenceFormat.PortableText
        used = Counter(
            keys.toString(portable)
            for action in {entry for menu in menus(rig) for entry in entries(menu)}
            for keys in action.shortcuts()
        )
        assert [keys for keys, count in used.items() if count > 1] == []
        assert len(used) > 20


async def test_commands_on_a_conversation_wait_for_one() -> None:
    core = FakeCore()
    core.conversations.add("Orders", user("Total them."))
    async with open_window(core) as rig:
        assert {name for name in NEEDS_A_CONVERSATION if rig.action(name).isEnabled()} == set()
        rig.choose("Orders")
        await until(lambda: rig.window.presenter.conversation_id is not None)
        assert {name for name in NEEDS_A_CONVERSATION if rig.action(name).isEnabled()} == NEEDS_A_CONVERSATION


async def test_files_are_attached_and_models_chosen_from_the_menu() -> None:
    async with open_window(FakeCore()) as rig:
        pressed: list[str] = []
        for name in ("attachButton", "modelPicker"):
            button = rig.find(QToolButton, name)
            button.clicked.disconnect()
            button.clicked.connect(lambda _checked=False, name=name: pressed.append(name))
            button.setEnabled(True)
        rig.action("actionAttach").trigger()
        rig.action("actionChooseModel").trigger()
        assert pressed == ["attachButton", "modelPicker"]


async def test_the_keyboard_goes_to_the_trace_wherever_it_is() -> None:
    core = FakeCore()
    core.conversations.add("Orders", user("Total them."))
    async with open_window(core) as rig:
        rig.window.resize(1280, 800)
        await turns(3)
        rig.action("actionFocusTrace").trigger()
        assert rig.window.dock.isAncestorOf(focused(rig))
        rig.action("actionToggleTrace").trigger()
        await until(lambda: not rig.window.dock.isVisible())
        rig.action("actionFocusTrace").trigger()
        await until(lambda: rig.window.dock.isVisible() and rig.window.dock.isAncestorOf(focused(rig)))
        assert rig.action("actionToggleTrace").isChecked()
        assert not isinstance(focused(rig), TraceTree), "it has no steps yet"


def focused(rig: WindowRig) -> QWidget:
    return rig.window.focusWidget() or rig.window
