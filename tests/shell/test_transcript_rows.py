"""Items become entries of the transcript, and only what changed is touched."""

from dataclasses import replace

import pytest

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.chat.item_kinds import (
    AnswerItem,
    ErrorItem,
    Figures,
    Item,
    NoticeItem,
    NoticeTone,
    ResultImage,
    ToolItem,
    UserItem,
)
from sophos_desktop.shell.chat.shown_rows import ShownRows
from sophos_desktop.shell.chat.transcript_rows import rows_of
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import CallState
from sophos_desktop.shell.transcript.cards.meta_words import meta_facts
from sophos_desktop.shell.transcript.cards.notice_line import NoticeFacts, NoticeKind
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts
from sophos_desktop.shell.transcript.cards.tool_card import AskedCall, ToolGroup
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)

QUESTION = UserItem("u", "Where?")
FIRST, SECOND = (ToolItem(f"m1:{n}", "memory", "search", "{}", "ok", "found", 9) for n in range(2))
ANSWER = AnswerItem("m2", "Here.", "hm", model="qwen3:8b", figures=Figures(2_600, 412, 46.2))


def entries(*items: Item) -> list[TranscriptMessage]:
    return rows_of(items)[0]


def test_a_turn_is_a_question_one_card_for_its_calls_the_thinking_and_the_answer() -> None:
    question, card, thinking, answer = entries(QUESTION, FIRST, SECOND, ANSWER)
    assert (question.kind, question.text) == (MessageKind.USER, "Where?")
    assert isinstance(card.payload, ToolGroup)
    assert [(call.key, call.state, call.duration_ms) for call in card.payload.calls] == [
        ("m1:0", CallState.DONE, 9),
        ("m1:1", CallState.DONE, 9),
    ]
    assert thinking.payload == ThinkingFacts("m2/thinking", "hm", 2_600)
    assert (answer.kind, answer.has_footer) == (MessageKind.ANSWER, True)
    assert meta_facts(answer).parts == ("qwen3:8b", "412 tokens", "46.2 tok/s")


def test_a_message_that_asks_for_tools_has_no_line_below_and_a_stopped_one_says_so() -> None:
    (asking,) = entries(AnswerItem("m", "I look.", asks=True))
    assert not asking.has_footer
    (stopped,) = entries(AnswerItem("m", "", state=MessageState.STOPPED, asks=True, can_continue=True))
    assert stopped.has_footer
    assert stopped.meta.can_continue
    assert meta_facts(stopped).parts == ("Stopped by you; Continue writes it anew",)
    (empty,) = entries(AnswerItem("m", ""))
    assert meta_facts(empty).parts == ("No text",)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (None, CallState.WAITING),
        ("running", CallState.RUNNING),
        ("asked", CallState.ASKED),
        ("uncertain", CallState.UNCERTAIN),
        ("allowed", CallState.ALLOWED),
        ("again", CallState.AGAIN),
        ("entered", CallState.ENTERED),
        ("error", CallState.FAILED),
        ("interrupted", CallState.INTERRUPTED),
        ("denied", CallState.DENIED),
        ("skipped", CallState.SKIPPED),
        ("unresolved", CallState.UNCERTAIN),
        ("not_run", CallState.NOT_RUN),
        ("of a later version", CallState.INTERRUPTED),
    ],
)
def test_each_state_of_a_call_is_shown(status: str | None, state: CallState) -> None:
    (card,) = entries(replace(FIRST, status=status))
    assert isinstance(card.payload, ToolGroup)
    assert card.payload.calls[0].state is state


def test_many_calls_in_a_row_are_shared_out_to_cards_of_a_bounded_size() -> None:
    rows, starts = rows_of([replace(FIRST, key=f"m:{n}") for n in range(90)])
    assert [len(row.payload.calls) for row in rows if isinstance(row.payload, ToolGroup)] == [40, 40, 10]
    assert (starts[39], starts[40], starts[89]) == (0, 1, 2)


def test_a_call_that_somebody_is_asked_about_has_a_card_of_its_own_in_its_place() -> None:
    calls = [replace(FIRST, key=f"m:{n}", status="asked" if n in (2, 3) else "ok") for n in range(6)]
    rows, starts = rows_of(calls)
    assert [type(row.payload) for row in rows] == [ToolGroup, AskedCall, AskedCall, ToolGroup]
    assert [row.id for row in rows] == ["m:0/card", "m:2/card", "m:3/card", "m:4/card"]
    assert starts == [0, 0, 1, 2, 3, 3]


def test_a_call_of_which_nobody_knows_tells_so_alone_and_gets_another_card_when_it_is_asked_about() -> None:
    told, asked = (entries(FIRST, replace(SECOND, status=status)) for status in ("unresolved", "uncertain"))
    assert [row.id for row in told] == [row.id for row in asked] == ["m1:0/card", "m1:1/card"]
    assert [type(row.payload) for row in told] == [ToolGroup, ToolGroup]
    assert [type(row.payload) for row in asked] == [ToolGroup, AskedCall]


def test_room_at_the_end_belongs_to_no_item_and_stays_at_the_end() -> None:
    model = TranscriptModel()
    rows = ShownRows(model)
    rows.open([QUESTION, FIRST])
    for height in (40, 20):
        rows.show_room(TranscriptMessage("room", MessageKind.CARD, payload=height))
    rows.show([QUESTION, FIRST, ANSWER])
    ids = [model.message(index).id for index in range(len(model))]
    assert ids == ["u", "m1:0/card", "m2/thinking", "m2", "room"]
    assert model.message(4).payload == 20
    assert rows.items_of(range(4, 5)) == [ANSWER]
    rows.show([QUESTION, FIRST])
    rows.show_room(None)
    assert [model.message(index).id for index in range(len(model))] == ["u", "m1:0/card"]


def test_images_of_a_result_stand_below_its_card() -> None:
    card, images = entries(replace(FIRST, images=(ResultImage("m1:0/1", "image/png"),)))
    assert isinstance(card.payload, ToolGroup)
    assert [(image.key, image.name) for image in images.images] == [("m1:0/1", "image/png")]


def test_notices_and_the_error_are_cards_with_their_action() -> None:
    notice, error = entries(
        NoticeItem("r/1", "Cut.", NoticeTone.CUT),
        ErrorItem("error", "Limit", "Go on.", "RECURSION_LIMIT", can_continue=True),
    )
    assert notice.payload == NoticeFacts("Cut.", NoticeKind.CUT)
    assert error.payload == ErrorFacts("Limit", "Go on.", "RECURSION_LIMIT", "Continue", "continue")
    (final,) = entries(ErrorItem("error", "Busy", "Wait.", "ENGINE_BUSY"))
    assert final.payload == ErrorFacts("Busy", "Wait.", "ENGINE_BUSY")


class Watched:
    """A model whose changes are written down."""

    def __init__(self) -> None:
        self.model = TranscriptModel()
        self.rows = ShownRows(self.model)
        self.changes: list[tuple[object, ...]] = []
        self.model.was_reset.connect(lambda: self.changes.append(("reset",)))
        self.model.inserted.connect(lambda first, last: self.changes.append(("inserted", first, last)))
        self.model.removed.connect(lambda first, last: self.changes.append(("removed", first, last)))
        self.model.changed.connect(lambda index: self.changes.append(("changed", index)))
        self.model.grew.connect(lambda index, _segments: self.changes.append(("grew", index)))

    def show(self, *items: Item) -> list[tuple[object, ...]]:
        self.changes.clear()
        self.rows.show(items)
        known = [self.model.message(index).id for index in range(len(self.model))]
        assert known == [row.id for row in entries(*items)]
        return list(self.changes)


def test_only_what_changed_is_touched() -> None:
    watched = Watched()
    watched.rows.open([QUESTION, FIRST, ANSWER])
    assert watched.show(QUESTION, FIRST, ANSWER) == []
    assert watched.show(QUESTION, FIRST, SECOND, ANSWER) == [("changed", 1)]
    assert watched.show(QUESTION, FIRST, SECOND, ANSWER, UserItem("u2", "And?")) == [("inserted", 4, 4)]
    late = replace(ANSWER, figures=Figures(2_600, 413))
    assert watched.show(QUESTION, FIRST, SECOND, late, UserItem("u2", "And?")) == [("changed", 3)]
    assert watched.show(QUESTION, FIRST, SECOND) == [("removed", 2, 4)]


def test_what_was_sent_becomes_its_stored_message_in_place() -> None:
    watched = Watched()
    watched.rows.open([UserItem("pending", "hello")])
    assert watched.show(UserItem("u1", "hello")) == [("changed", 0)]


def test_what_is_between_is_taken_out_and_put_in_without_touching_the_rest() -> None:
    watched = Watched()
    notice = NoticeItem("r/1", "Left out.")
    watched.rows.open([QUESTION, notice, FIRST, ANSWER])
    assert watched.show(QUESTION, FIRST, ANSWER) == [("removed", 1, 1)]
    assert watched.show(QUESTION, FIRST, notice, ANSWER) == [("inserted", 2, 2)]
    assert watched.show(notice, QUESTION, FIRST, ANSWER) != []


def test_an_answer_that_grows_costs_its_end_alone() -> None:
    watched = Watched()
    watched.rows.open([QUESTION])
    growing = AnswerItem("m2", "He", live=True)
    assert not watched.rows.grow(growing)
    assert watched.show(QUESTION, growing) == [("inserted", 1, 1)]
    assert watched.model.segments(1)  # as a view asks
    watched.changes.clear()
    grown = AnswerItem("m2", "Here it", live=True)
    assert watched.rows.grow(grown)
    assert watched.changes == [("grew", 1)]
    assert watched.model.source(1) == "Here it"
    changes = watched.show(QUESTION, AnswerItem("m2", "Here it is."))
    assert ("grew", 1) in changes
    assert not [change for change in changes if change[0] in ("inserted", "removed", "reset")]
    assert not watched.model.is_open(1)


def test_thinking_that_grows_changes_its_row_alone() -> None:
    watched = Watched()
    watched.rows.open([QUESTION])
    watched.show(QUESTION, AnswerItem("m2", "", "hm", live=True))
    watched.changes.clear()
    assert watched.rows.grow(AnswerItem("m2", "", "hm, well", live=True))
    assert watched.changes == [("changed", 1)]
    assert not watched.rows.grow(AnswerItem("m2", "So", "hm, well", live=True))


def test_the_items_of_some_entries_are_found() -> None:
    watched = Watched()
    watched.rows.open([QUESTION, FIRST, SECOND, ANSWER])
    assert list(watched.rows.items_of(range(1, 2))) == [FIRST, SECOND]
    assert list(watched.rows.items_of(range(4))) == [QUESTION, FIRST, SECOND, ANSWER]
    assert list(watched.rows.items_of(range(2, 3))) == [ANSWER]
    assert list(watched.rows.items_of(range(0))) == []
