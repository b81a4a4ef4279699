"""The composer's keys, its height, and the drafts it leaves."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.composer import Composer, SendKey
from sophos_desktop.shell.chat.drafts import DraftKeeper, joined
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.window import open_window, turns, until


@pytest.fixture
def composer() -> Iterator[Composer]:
    host = QWidget()
    host.resize(600, 600)
    composer = Composer(host)
    composer.resize(500, 24)
    composer.fit_window()
    host.show()
    yield composer
    host.hide()
    host.deleteLater()


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QCoreApplication.sendEvent(composer, event)


def sent(composer: Composer) -> list[str]:
    texts: list[str] = []
    composer.send_requested.connect(lambda: texts.append(composer.text))
    return texts


def test_enter_sends_and_leaves_the_text(composer: Composer) -> None:
    texts = sent(composer)
    QTest.keyClicks(composer, "hello")
    QTest.keyClick(composer, Qt.Key.Key_Return)
    QTest.keyClick(composer, Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert texts == ["hello", "hello"]


def test_shift_enter_breaks_the_line(composer: Composer) -> None:
    texts = sent(composer)
    QTest.keyClicks(composer, "a")
    QTest.keyClick(composer, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer, "b")
    assert (texts, composer.text) == ([], "a\nb")


async def test_an_enter_that_ends_a_composition_never_sends(composer: Composer) -> None:
    texts = sent(composer)
    compose(composer, "にほん")
    QTest.keyClick(composer, Qt.Key.Key_Return)
    compose(composer, "", "日本")
    QTest.keyClick(composer, Qt.Key.Key_Return)
    assert (texts, composer.text) == ([], "日本")
    await turns(10)
    QTest.keyClick(composer, Qt.Key.Key_Return)
    assert texts == ["日本"]


def test_it_grows_with_its_lines_up_to_a_third_of_the_window(composer: Composer) -> None:
    one = composer.height()
    composer.set_text("a\nb\nc")
    three = composer.height()
    composer.set_text("a\n" * 100)
    many = composer.height()
    composer.set_text("")
    assert one < three < many == 200
    assert composer.height() == one


def test_only_the_persons_changes_are_told(composer: Composer) -> None:
    edits: list[str] = []
    composer.edited.connect(edits.append)
    composer.set_text("restored")
    QTest.keyClicks(composer, "!")
    assert edits == ["restored!"]


def test_pasted_formats_stay_outside(composer: Composer) -> None:
    composer.insertPlainText("<b>plain</b>")
    assert composer.text == "<b>plain</b>"


async def test_drafts_are_written_after_a_pause_and_the_last_one_wins() -> None:
    core, errors = FakeCore(), list[BaseException]()
    owner, host = TaskOwner(errors.append), QWidget()
    keeper = DraftKeeper(owner, host)
    keeper.edited("one", "before the store is open")
    keeper.attach(core.conversations)
    keeper.edited(None, "h")
    keeper.edited(None, "hello")
    assert core.conversations.drafts == {}
    assert await keeper.draft(None) == "hello"
    await until(lambda: core.conversations.drafts)
    await until(lambda: not owner.active)
    assert core.conversations.drafts == {"one": "before the store is open", None: "hello"}
    await owner.close()
    host.deleteLater()
    assert not errors


async def test_a_draft_that_cannot_be_written_is_kept_and_tried_again() -> None:
    core, host = FakeCore(), QWidget()
    keeper = DraftKeeper(TaskOwner(lambda _error: None), host)
    keeper.attach(core.conversations)
    core.conversations.save_error = SophosError(ErrorCode.STORE_BUSY, "The store is busy")
    keeper.edited("one", "text")
    with pytest.raises(SophosError):
        await keeper.flush()
    core.conversations.save_error = None
    await keeper.flush()
    assert core.conversations.drafts == {"one": "text"}
    host.deleteLater()


async def test_a_draft_of_a_deleted_conversation_is_let_go() -> None:
    core, host = FakeCore(), QWidget()
    keeper = DraftKeeper(TaskOwner(lambda _error: None), host)
    keeper.attach(core.conversations)
    core.conversations.save_error = SophosError(ErrorCode.NOT_FOUND, "There is no such conversation")
    keeper.edited("gone", "text")
    await keeper.flush()
    assert await keeper.draft("gone") == ""
    host.deleteLater()


@pytest.mark.parametrize(
    ("draft", "typed", "whole"),
    [("", "", ""), ("a", "", "a"), ("", "b", "b"), ("a", "a", "a"), ("a", "b", "a\nb")],
)
def test_a_draft_and_what_was_typed_before_it_came_are_both_kept(draft: str, typed: str, whole: str) -> None:
    assert joined(draft, typed) == whole


# Which key sends


def test_with_ctrl_enter_chosen_enter_breaks_the_line(composer: Composer) -> None:
    texts = sent(composer)
    composer.set_send_key(SendKey.CTRL_ENTER)
    QTest.keyClicks(composer, "a")
    QTest.keyClick(composer, Qt.Key.Key_Return)
    QTest.keyClicks(composer, "b")
    assert (texts, composer.text) == ([], "a\nb")
    QTest.keyClick(composer, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(composer, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert (texts, composer.text) == (["a\nb"], "a\nb\n")


@pytest.mark.parametrize("key", list(SendKey))
@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
async def test_an_enter_that_confirms_a_candidate_does_nothing_else(
    composer: Composer, key: SendKey, modifier: Qt.KeyboardModifier
) -> None:
    texts = sent(composer)
    composer.set_send_key(key)
    compose(composer, "にほん")
    QTest.keyClick(composer, Qt.Key.Key_Return, modifier)
    compose(composer, "", "日本")
    QTest.keyClick(composer, Qt.Key.Key_Return, modifier)
    assert (texts, composer.text) == ([], "日本")


async def test_the_chosen_key_is_said_and_changes_while_the_window_is_open() -> None:
    core = FakeCore()
    core.settings.set("ui.send_key", "ctrl-enter")
    async with open_window(core) as rig:
        hint = rig.find(QLabel, "composerHint")
        assert hint.isVisible()
        assert hint.text() == "Ctrl+Enter sends, Enter breaks the line"
        assert rig.button("sendButton").toolTip() == "Send (Ctrl+Enter)"
        rig.type("a")
        rig.enter()
        assert (rig.composer.text, core.runs.handles) == ("a\n", [])
        core.settings.set("ui.send_key", "enter")
        rig.window.dialogs.setting_changed.emit("ui.send_key")
        assert rig.button("sendButton").toolTip() == "Send (Enter)"
        assert not hint.isVisible()  # while something is written
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton") and hint.isVisible())
        assert hint.text() == "Enter sends, Shift+Enter breaks the line"


# The last message again


async def test_up_in_an_empty_composer_brings_back_the_last_message() -> None:
    core = FakeCore()
    core.conversations.add("Old", user("First"), assistant("Yes."), user("Second\nline"), assistant("No."))
    async with open_window(core) as rig:
        QTest.keyClick(rig.composer, Qt.Key.Key_Up)
        assert rig.composer.text == ""  # in a new chat nothing was said yet
        rig.choose("Old")
        await until(lambda: "No." in rig.transcript_text and not rig.window.presenter.is_loading)
        QTest.keyClick(rig.composer, Qt.Key.Key_Up)
        assert rig.composer.text == "Second\nline"
        assert rig.composer.textCursor().atEnd()
        QTest.keyClick(rig.composer, Qt.Key.Key_Up)
        assert rig.composer.text == "Second\nline"
        assert not rig.composer.textCursor().atEnd()  # it only moves the caret now
        rig.composer.undo()
        assert rig.composer.text == ""
        QTest.keyClick(rig.composer, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
        assert rig.composer.text == ""


def test_up_belongs_to_the_input_method_while_it_composes(composer: Composer) -> None:
    asked: list[bool] = []
    composer.recall_requested.connect(lambda: asked.append(True))
    compose(composer, "にほん")
    QTest.keyClick(composer, Qt.Key.Key_Up)
    assert not asked
    compose(composer, "")
    QTest.keyClick(composer, Qt.Key.Key_Up)
    assert asked
