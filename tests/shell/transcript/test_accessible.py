"""What assistive technology is told, asked in process the way a bridge asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QAccessible, QGuiApplication

from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.accessible import ANSWER_FINISHED, Accessibility
from sophos_desktop.shell.transcript.speaking.accessible_message import COPY, COPY_MARKDOWN, READ
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.card_rig import calls, cards_shown, wait_for
from tests.shell.transcript.viewing import PROSE, answer, conversation, settle, shown, user


@contextmanager
def spoken(messages: list[TranscriptMessage]) -> Iterator[tuple[TranscriptView, Selection, Accessibility]]:
    with shown(messages) as view:
        selection = Selection(view)
        yield view, selection, Accessibility(view, selection)


def test_the_view_is_a_list_of_all_messages_laid_out_or_not() -> None:
    messages = [user(f"m{number}", f"Message number {number}") for number in range(10_000)]
    with spoken(messages) as (view, _selection, owner):
        found = QAccessible.queryAccessibleInterface(view)
        assert found.role() == QAccessible.Role.List
        assert found.text(QAccessible.Text.Name) == "Conversation"
        assert found.childCount() == 10_000
        for index in (0, 5_000, 9_999):
            item = found.child(index)
            assert item.role() == QAccessible.Role.ListItem
            assert item.text(QAccessible.Text.Name) == f"You: Message number {index}"
            assert item.text(QAccessible.Text.Description) == f"{index + 1:,} of 10,000"
            assert found.indexOfChild(item) == index
            assert item.state().offscreen == (index != 9_999)
        assert owner.item_count == 3
        assert found.child(10_000) is None


def test_a_message_gives_its_text_caret_and_places() -> None:
    messages = [user("u", "Ask"), answer("a", "First *line*.\n\nSecond 😀 paragraph.")]
    with spoken(messages) as (view, selection, owner):
        text = owner.item(1)._text
        assert text.text(0, -1) == "First line.\nSecond 😀 paragraph."
        assert text.characterCount() == 11 + 1 + len("Second 😀 paragraph.") + 1
        assert text.text(6, 10) == "line"
        area = text.characterRect(6)
        corner = view.viewport().mapToGlobal(QPoint(0, 0))
        (place,) = view.geometry_of_text.rectangles(TextPosition(1, 0, 6), TextPosition(1, 0, 7))
        assert area == place.toAlignedRect().translated(corner)
        assert text.offsetAtPoint(area.center() - QPoint(area.width() // 4, 0)) == 6
        text.setCursorPosition(6)
        assert selection.caret == TextPosition(1, 0, 6)
        assert text.cursorPosition() == 6
        text.addSelection(6, 10)
        assert selection.text() == "line"
        assert text.selectionCount() == 1
        text.removeSelection(0)
        assert text.selectionCount() == 0


def test_a_formula_is_spoken_as_words_and_the_places_behind_it_stay_right() -> None:
    with spoken([answer("a", "Take $a^2$ then stop.")]) as (view, _selection, owner):
        (formula,) = view.transcript_layout.documents.get(view.model, 0, 0).built.formulas
        assert formula.is_drawn
        text = owner.item(0)._text
        whole = text.text(0, -1)
        assert "\ufffc" not in whole
        assert whole.startswith("Take ")
        offset = whole.index("stop")
        text.setCursorPosition(offset)
        assert text.cursorPosition() == offset
        assert owner.selection.caret == TextPosition(0, 0, formula.end + len(" then "))


def test_actions_copy_and_read() -> None:
    with spoken([answer("a", "Some *words*.")]) as (_view, selection, owner):
        actions = owner.item(0)._actions
        assert actions.actionNames() == [COPY, COPY_MARKDOWN, READ]
        actions.doAction(COPY_MARKDOWN)
        assert QGuiApplication.clipboard().text() == "Some *words*."
        copied: list[bool] = []
        selection.copied.connect(lambda: copied.append(True))
        actions.doAction(COPY)
        wait_for(lambda: bool(copied))
        assert QGuiApplication.clipboard().text() == "Some words."
        asked: list[tuple[int, str]] = []
        owner.acted.connect(lambda message, name: asked.append((message, name)))
        actions.doAction(READ)
        assert asked == [(0, READ)]
        assert actions.localizedActionName(COPY) == "Copy"


def test_the_end_of_an_answer_is_announced_and_its_tokens_are_not() -> None:
    with spoken([user("u", "Ask")]) as (view, _selection, owner):
        said: list[str] = []
        owner.announced.connect(said.append)
        view.model.insert(1, [answer("a", "", is_open=True)])
        for _ in range(20):
            view.model.append(1, "word ")
            settle()
        assert said == []
        view.model.close(1)
        settle()
        assert said == [ANSWER_FINISHED]
        view.model.replace(1, answer("a", "word " * 20))
        assert said == [ANSWER_FINISHED]


def test_words_before_a_tool_call_are_no_end() -> None:
    with spoken([user("u", "Ask"), answer("a", "I will look.", is_open=True)]) as (view, _selection, owner):
        said: list[str] = []
        owner.announced.connect(said.append)
        view.model.replace(1, replace(answer("a", "I will look it up."), ends_turn=False))
        settle()
        assert said == []
        view.model.insert(2, [answer("b", "Found", is_open=True)])
        view.model.replace(2, answer("b", "Found it."))
        assert said == [ANSWER_FINISHED]


def test_a_message_that_went_is_invalid_and_harms_nobody() -> None:
    with spoken(conversation(3)) as (view, _selection, owner):
        found = QAccessible.queryAccessibleInterface(view)
        item = owner.item(2)
        assert item.isValid()
        view.model.insert(0, [user("x", "Earlier")])
        assert found.indexOfChild(item) == 3
        view.model.remove(3, 3)
        assert not item.isValid()
        assert item.text(QAccessible.Text.Name) == ""
        assert item.rect() == QRect()
        assert found.indexOfChild(item) == -1
        owner.item(0)
        view.model.reset(conversation(2))
        assert owner.item_count == 0
        assert found.childCount() == 4


def test_the_text_is_that_of_now_while_it_grows() -> None:
    with spoken([answer("a", "One.", is_open=True)]) as (view, _selection, owner):
        text = owner.item(0)._text
        assert text.text(0, -1) == "One."
        view.model.append(0, " Two.")
        assert text.text(0, -1) == "One. Two."
        assert owner.item(0).state().busy


def test_a_huge_message_is_its_source() -> None:
    source = "".join(f"## Part {number}\n\n{PROSE * 20}\n\n" for number in range(400))
    with spoken([answer("a", source)]) as (_view, _selection, owner):
        assert owner.item(0)._text.text(0, 9) == "## Part 0"
        assert owner.item(0)._text.characterRect(5) == QRect()


def test_a_card_is_a_child_of_its_message() -> None:
    call = CallFacts("c1", "memory", "search_nodes", "{}", CallState.DONE, 9)
    with cards_shown([user("u", "Ask"), calls(call)]) as rig:
        owner = Accessibility(rig.view, Selection(rig.view))
        item = owner.item(1)
        assert item.text(QAccessible.Text.Name).startswith("Tool call: ")
        assert item.childCount() == 1
        card = item.child(0)
        assert card.object() is rig.view.card(1)
        assert card.childCount() >= 1
        assert item.indexOfChild(card) == 0


def test_views_come_and_go_while_somebody_listens() -> None:
    for _ in range(5):
        with spoken(conversation(20)) as (view, _selection, _owner):
            found = QAccessible.queryAccessibleInterface(view)
            for index in range(found.childCount()):
                item = found.child(index)
                assert item.text(QAccessible.Text.Name)
                assert item.interface_cast(QAccessible.InterfaceType.TextInterface) is not None
                assert item.interface_cast(QAccessible.InterfaceType.ActionInterface) is not None
                assert item.interface_cast(QAccessible.InterfaceType.TableInterface) is not None
