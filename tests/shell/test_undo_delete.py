"""Deleting in the window: ten seconds to take it back, then for good; what the memory keeps is said."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QListView, QListWidget, QPushButton

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store.conversations import UNDO_SECONDS
from sophos_desktop.shell.conversations.list_model import Role
from sophos_desktop.shell.conversations.undo_bar import UndoBar
from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.core_fixture import open_test_core, say, until_let_go
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.fake_deletions import FakeFact
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until

ADA, TEA = FakeFact("Ada (person)"), FakeFact("Ada: likes tea")


def core_with(*titles: str) -> tuple[FakeCore, list[str]]:
    core = FakeCore()
    return core, [core.conversations.add(title, user("hi")) for title in titles]


def bar_of(rig: WindowRig) -> UndoBar:
    return rig.find(UndoBar, "undoBar")


async def delete(rig: WindowRig, title: str) -> None:
    """As a person does."""
    conversation_id = str(rig.window.model.index(rig.titles.index(title)).data(Role.ID))
    rig.choose(title)
    await rig.opened(conversation_id)
    rig.action("actionDelete").trigger()
    for question in rig.window.findChildren(QDialog, "deleteQuestion"):
        if question.isVisible():
            question.accept()
    await until(lambda: title not in rig.titles)


def press(dialog: QDialog, name: str) -> None:
    button = dialog.findChild(QPushButton, name)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def facts_dialog(rig: WindowRig) -> QDialog | None:
    shown = [one for one in rig.window.findChildren(QDialog, "factsQuestion") if one.isVisible()]
    return shown[0] if shown else None


async def test_a_deletion_can_be_taken_back_and_nothing_is_lost() -> None:
    core, (first, second) = core_with("First", "Second")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.type("a draft")
        await delete(rig, "First")
        bar = bar_of(rig)
        assert (bar.isVisible(), bar.says) == (True, "Deleted “First”")
        assert core.conversations.finished == []
        await rig.opened(second)
        assert rig.composer.text == ""
        rig.click("undoDelete")
        await until(lambda: rig.titles == ["Second", "First"])
        await rig.opened(first)
        assert rig.composer.text == "a draft"
        assert not bar.isVisible()
        assert core.conversations.buried == {}
        assert core.conversations.finished == []


async def test_after_a_deletion_the_next_row_is_open_and_the_keyboard_stays_in_the_list() -> None:
    core, (first, _, third) = core_with("First", "Second", "Third")
    async with open_window(core) as rig:
        view = rig.find(QListView, "conversationList")
        view.setFocus()
        await delete(rig, "Second")
        await rig.opened(first)  # the list shows the newest first
        assert view.currentIndex().data(Role.ID) == first
        assert rig.window.focusWidget() is view
        await delete(rig, "First")
        await rig.opened(third)  # nothing stands below the last one
        await delete(rig, "Third")
        await rig.opened(None)


async def test_ctrl_z_takes_the_deletion_back_wherever_the_keyboard_is() -> None:
    core, (first, second) = core_with("First", "Second")
    async with open_window(core) as rig:
        assert not rig.action("actionUndo").isEnabled()
        await delete(rig, "First")
        await rig.opened(second)
        rig.find(QListView, "conversationList").setFocus()
        assert rig.action("actionUndo").isEnabled()
        rig.action("actionUndo").trigger()
        await rig.opened(first)
        assert not rig.action("actionUndo").isEnabled()
        await delete(rig, "First")
        await rig.opened(second)
        rig.window.activateWindow()
        rig.composer.setFocus()
        await until(rig.composer.hasFocus)
        rig.type("x")
        QTest.keyClick(rig.composer, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert rig.composer.text == ""
        assert bar_of(rig).isVisible()
        QTest.keyClick(rig.composer, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await rig.opened(first)
        assert not bar_of(rig).isVisible()


async def test_when_the_time_is_up_it_is_gone_for_good() -> None:
    core, (first,) = core_with("First")
    core.conversations.undo_seconds = 0.3
    async with open_window(core) as rig:
        await delete(rig, "First")
        await until(lambda: core.conversations.finished == [first])
        await until(lambda: not bar_of(rig).isVisible())


async def test_the_bar_counts_down_and_tells_a_screen_reader_once() -> None:
    core, _ = core_with("First")
    core.conversations.undo_seconds = 60.0
    async with open_window(core) as rig:
        bar = bar_of(rig)
        bar.show_deletion("First", 10)
        said = bar.undo_button.accessibleName()
        seconds = rig.find(QLabel, "undoSeconds")
        assert seconds.text() == "10 s"
        bar.show_deletion("First", 9)
        assert seconds.text() == "9 s"
        assert bar.undo_button.accessibleName() == said == "Undo: Deleted “First”"
        bar.hide_deletion()


async def test_two_deletions_are_taken_back_one_after_the_other() -> None:
    core, _ = core_with("First", "Second", "Third")
    async with open_window(core) as rig:
        await delete(rig, "First")
        await delete(rig, "Second")
        assert bar_of(rig).says == "Deleted “Second”"
        rig.click("undoDelete")
        await until(lambda: rig.titles == ["Third", "Second"])
        assert bar_of(rig).says == "Deleted “First”"
        rig.click("undoDelete")
        await until(lambda: rig.titles == ["Third", "Second", "First"])
        assert not bar_of(rig).isVisible()


async def test_undo_that_comes_too_late_says_so() -> None:
    core, (first,) = core_with("First")
    async with open_window(core) as rig:
        await delete(rig, "First")
        await core.conversations.finish_deletion(first)
        rig.click("undoDelete")
        await until(lambda: rig.shows("errorBanner"))
        assert "too late" in rig.banner("errorBanner").title
        assert rig.titles == []


async def test_quitting_carries_out_what_was_deleted(tmp_path: Path) -> None:
    core, (first,) = core_with("First")
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    made.window.feed.delete(first)
    await until(lambda: first in core.conversations.buried)
    made.window.close()
    assert await ended(task, made) == 0
    assert core.conversations.finished == [first]
    assert core.calls[-1] == "closed"


async def test_the_facts_that_stay_in_the_memory_are_said_and_may_be_removed() -> None:
    core, (first,) = core_with("First")
    core.conversations.facts[first] = [ADA, TEA]
    core.conversations.memory = [ADA, TEA, FakeFact("Bob (person)")]
    async with open_window(core) as rig:
        await delete(rig, "First")
        bar = bar_of(rig)
        assert bar.says_of_facts == "2 facts stay in memory"
        rig.click("undoFactsRemove")
        await until(lambda: facts_dialog(rig))
        dialog = facts_dialog(rig)
        assert dialog is not None
        listed = dialog.findChild(QListWidget, "factsList")
        assert listed is not None
        assert [listed.item(row).text() for row in range(listed.count())] == [ADA.words, TEA.words]
        listed.item(0).setCheckState(Qt.CheckState.Unchecked)
        press(dialog, "factsRemoveButton")
        await until(lambda: bar.says_of_facts == "1 fact removed")
        assert core.conversations.memory == [ADA, FakeFact("Bob (person)")]
        assert not rig.shows("undoFactsRemove")


async def test_facts_are_kept_unless_somebody_says_otherwise() -> None:
    core, (first,) = core_with("First")
    core.conversations.facts[first] = [ADA]
    core.conversations.memory = [ADA]
    async with open_window(core) as rig:
        await delete(rig, "First")
        rig.click("undoFactsRemove")
        await until(lambda: facts_dialog(rig))
        dialog = facts_dialog(rig)
        assert dialog is not None
        press(dialog, "factsKeepButton")
        await until(lambda: facts_dialog(rig) is None)
        QTest.mouseClick(bar_of(rig).close_button, Qt.MouseButton.LeftButton)
        assert bar_of(rig).says_of_facts == ""
        assert core.conversations.memory == [ADA]


async def test_facts_that_are_gone_already_are_not_offered() -> None:
    core, (first,) = core_with("First")
    core.conversations.facts[first] = [ADA]
    async with open_window(core) as rig:
        await delete(rig, "First")
        rig.click("undoFactsRemove")
        await until(lambda: bar_of(rig).says_of_facts == "Nothing of it is in memory")
        assert facts_dialog(rig) is None


async def test_a_memory_that_does_not_answer_is_an_error_that_is_shown() -> None:
    core, (first,) = core_with("First")
    core.conversations.facts[first] = [ADA]
    core.conversations.memory_error = SophosError(ErrorCode.TOOL_SERVER_DOWN, "The memory is down", "Wait.")
    async with open_window(core) as rig:
        await delete(rig, "First")
        rig.click("undoFactsRemove")
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "TOOL_SERVER_DOWN"


async def test_taking_back_a_deletion_takes_the_offer_along() -> None:
    core, (first,) = core_with("First")
    core.conversations.facts[first] = [ADA]
    async with open_window(core) as rig:
        await delete(rig, "First")
        rig.click("undoDelete")
        await until(lambda: rig.titles == ["First"])
        await until(lambda: not bar_of(rig).isVisible())


async def test_the_bar_is_readable_with_the_list_as_a_rail_and_hidden() -> None:
    core, _ = core_with("A conversation with a title that is far too long for the list")
    async with open_window(core) as rig:
        await delete(rig, "A conversation with a title that is far too long for the list")
        bar, panel = bar_of(rig), rig.window.panel
        assert bar.width() <= panel.width()
        assert bar.undo_button.mapTo(panel, bar.undo_button.rect().topRight()).x() < panel.width()
        changes: list[Callable[[], None]] = [
            lambda: panel.show_rail(is_rail=True),
            lambda: panel.show_rail(is_rail=False),
            lambda: rig.action("actionToggleList").trigger(),
            lambda: rig.action("actionToggleList").trigger(),
        ]
        for change in changes:
            change()
            await until(lambda: bar.isVisible() and bar.width() > 150)
            is_below_list = panel.has_room_for_undo
            assert panel.isAncestorOf(bar) is is_below_list
            assert rig.window.chat.isAncestorOf(bar) is not is_below_list
            word = bar.undo_button.fontMetrics().horizontalAdvance("Undo")
            await until(lambda: bar.undo_button.isVisible())
            assert bar.undo_button.width() >= word
            assert rig.window.rect().contains(bar.mapTo(rig.window, bar.rect().bottomRight()))
        rig.action("actionToggleList").trigger()
        await until(lambda: rig.window.chat.isAncestorOf(bar) and bar.isVisible())
        QTest.mouseClick(bar.undo_button, Qt.MouseButton.LeftButton)
        await until(lambda: len(rig.titles) == 1 and not bar.isVisible())


async def test_with_the_real_core_undo_gives_the_conversation_back(tmp_path: Path) -> None:
    async with OllamaServer() as server, open_test_core(tmp_path, server) as core:
        handle, _ = await say(core, None, "Keep me")
        await until_let_go(core, handle)
        async with open_window(core) as rig:
            await until(lambda: rig.titles == ["Keep me"])
            await delete(rig, "Keep me")
            assert await core.conversations.find_all() == []
            rig.click("undoDelete")
            await until(lambda: rig.titles == ["Keep me"])
            await until(lambda: "Hello!" in rig.transcript_text)
            await delete(rig, "Keep me")
            await rig.window.feed.finish_deletions()
            assert not bar_of(rig).isVisible()
        assert UNDO_SECONDS == 10.0
        assert await core.conversations.runs(handle.conversation_id) == []
