"""What a person does is seen: a message, its question, a resume; keys in cards go nowhere else."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPushButton, QToolButton, QWidget

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.cards.approval_card import ApprovalCard
from sophos_desktop.shell.chat.cards.uncertain_card import UncertainCard
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.speaking.reader import Reader
from tests.support.card_window import DONE, asked, asking_window, cards, finished, part, press
from tests.support.core_fixture import LINES, append, calls, slow_append, until_lines
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.ollama_script import Reply
from tests.support.window import WindowRig, open_window, until

LONG = "\n\n".join(f"Paragraph {number}." for number in range(1, 40))


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


def is_seen(widget: QWidget) -> bool:
    return not widget.visibleRegion().isEmpty()


def told(rig: WindowRig) -> list[ToolCard]:
    return [card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard)]


def scroll_up(rig: WindowRig) -> None:
    rig.transcript.scroll_to_message(0)
    assert not rig.transcript.is_at_end


# A pause that a resume comes to


@pytest.mark.parametrize("opened", [False, True])
async def test_a_call_that_was_told_to_be_uncertain_is_asked_about_at_once_when_it_is_resumed(
    data_dir: Path, file: Path, *, opened: bool
) -> None:
    replies = (Reply(pieces=(LONG,)), calls(slow_append(file, "x")), DONE)
    async with asking_window(data_dir, *replies, mcp=LINES) as (rig, core, _):
        rig.type("First")
        rig.enter()
        await until(lambda: "Paragraph 39." in rig.transcript_text)
        await finished(rig, core)
        rig.type("Write slowly")
        rig.enter()
        await until_lines(file, 1)
        rig.click("stopButton")
        await until(lambda: [head.state_words for card in told(rig) for head in card.heads] == ["Uncertain"])
        assert rig.banner("resumeBanner").text == "1 call is uncertain; Resume settles that first."
        if opened:
            QTest.mouseClick(told(rig)[0].heads[0], Qt.MouseButton.LeftButton)
            scroll_up(rig)
        rig.go_on()
        await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
        (card,) = cards(rig)
        assert isinstance(card, UncertainCard)
        await until(lambda: is_seen(part(card, QPushButton, "runAgainButton")))
        assert told(rig) == []
        press(card, "skipButton")
        await finished(rig, core)


async def test_a_question_replaces_whatever_card_its_call_has_in_the_view() -> None:
    core = FakeCore()
    core.conversations.add("Old", user("go"))
    async with open_window(core) as rig:
        rig.choose("Old")
        await until(lambda: rig.transcript_text)
        rig.type("next")
        rig.enter()
        await until(lambda: core.runs.handles)
        handle = core.runs.handles[0]
        core.ask(handle, "a1:0", "uncertain", tool="append_line", args={})
        await until(lambda: cards(rig) and is_seen(cards(rig)[0]))
        handle.end(RunStatus.WAITING)
        await until(lambda: not rig.window.presenter.is_running)


# Keys


async def test_enter_in_the_field_of_a_card_denies_and_opens_nothing(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        rig.window.activateWindow()
        (card,) = await asked(rig, "Write one")
        press(card, "denyButton")
        field = part(card, QLineEdit, "denyReason")
        field.setFocus()
        for key in (Qt.Key.Key_Up, Qt.Key.Key_F7, Qt.Key.Key_PageUp):
            before = card.y()
            QTest.keyClick(field, key)
            assert card.y() == before
        QTest.keyClick(field, Qt.Key.Key_Return)
        await finished(rig, core)
        assert not [one for one in rig.transcript.findChildren(Reader) if one.isVisible()]


async def test_enter_on_the_fold_button_folds_and_opens_nothing(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, _, _):
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        (card,) = await asked(rig, "Write one")
        assert isinstance(card, ApprovalCard)
        fold = part(card, QToolButton, "approvalCardFold")
        fold.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(fold, Qt.Key.Key_Return)
        assert card.body.isHidden()
        QTest.keyClick(fold, Qt.Key.Key_Return)
        assert not card.body.isHidden()
        assert not [one for one in rig.transcript.findChildren(Reader) if one.isVisible()]
        assert card.is_open


async def test_enter_on_a_button_below_an_answer_presses_it_and_opens_nothing() -> None:
    core = FakeCore()
    core.conversations.add("Old", user("go"), assistant("there"))
    async with open_window(core) as rig:
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        rig.choose("Old")
        await until(lambda: "there" in rig.transcript_text)
        copy = rig.transcript.viewport().findChild(QAbstractButton, "copyAnswer")
        assert copy is not None
        copy.setFocus(Qt.FocusReason.TabFocusReason)
        assert QApplication.focusWidget() is copy
        QApplication.clipboard().setText("")
        QTest.keyClick(copy, Qt.Key.Key_Return)
        assert QApplication.clipboard().text() == "there"
        assert not [one for one in rig.transcript.findChildren(Reader) if one.isVisible()]


# Into the view


async def test_a_message_and_then_its_question_come_into_the_view_for_who_read_further_up(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, Reply(pieces=(LONG,)), calls(append(file, "one"))) as (rig, core, _):
        rig.type("First")
        rig.enter()
        await until(lambda: "Paragraph 39." in rig.transcript_text)
        await finished(rig, core)
        rig.transcript.select_all()
        scroll_up(rig)
        (card,) = await asked(rig, "Write one")
        await until(lambda: is_seen(part(card, QPushButton, "allowOnceButton")))
        assert not rig.transcript.has_selection


async def test_a_queued_message_that_is_sent_by_hand_comes_into_the_view(data_dir: Path) -> None:
    held = Reply(pieces=(LONG, " end"), hold_after=1)
    async with asking_window(data_dir, held, DONE) as (rig, core, _):
        rig.type("First")
        rig.enter()
        await until(lambda: "Paragraph 39." in rig.transcript_text)
        rig.type("Second")
        rig.enter()
        await until(rig.window.chat.queued.isVisible)
        rig.click("stopButton")
        await until(lambda: rig.shows("queuedSend"))
        scroll_up(rig)
        rig.click("queuedSend")
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        assert rig.transcript.is_at_end
