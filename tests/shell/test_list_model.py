"""The list of conversations, without a window."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt

from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role, RowState, row_state
from sophos_desktop.shell.conversations.relative_time import relative_time
from tests.support.fake_core_parts import START, FakeClock, record

NOW = datetime(2026, 11, 27, 18, 0, tzinfo=timezone(timedelta(hours=1)))


def conversation(name: str, minutes: int = 0, status: RunStatus | None = None) -> Conversation:
    run = None if status is None else record(name, "run", status)
    at = to_text(START + timedelta(minutes=minutes))
    return Conversation(name, name, ConversationStatus.ACTIVE, False, None, 0, at, at, last_run=run)


def model_of(*conversations: Conversation) -> ConversationListModel:
    model = ConversationListModel(FakeClock())
    model.reset(conversations)
    return model


def titles(model: ConversationListModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount())]


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 11, 27, 9, 42, tzinfo=UTC), "10:42"),
        (datetime(2026, 11, 26, 23, 30, tzinfo=UTC), "00:30"),
        (datetime(2026, 11, 26, 12, 0, tzinfo=UTC), "Yesterday"),
        (datetime(2026, 11, 23, 12, 0, tzinfo=UTC), "Mon"),
        (datetime(2026, 11, 20, 12, 0, tzinfo=UTC), "20 Nov"),
        (datetime(2025, 1, 2, 12, 0, tzinfo=UTC), "2 Jan 2025"),
        (datetime(2026, 11, 28, 12, 0, tzinfo=UTC), "13:00"),
    ],
)
def test_a_time_is_said_as_a_person_would(moment: datetime, words: str) -> None:
    assert relative_time(moment, NOW) == words


def test_rows_are_newest_first() -> None:
    assert titles(model_of(conversation("old"), conversation("new", 5))) == ["new", "old"]


def test_the_filter_ignores_case_and_hides_rows() -> None:
    model = model_of(conversation("Plum cake"), conversation("Orders", 5))
    model.set_filter(" PLUM ")
    assert titles(model) == ["Plum cake"]
    model.set_filter("")
    assert titles(model) == ["Orders", "Plum cake"]


def test_a_changed_conversation_moves_to_the_top_and_keeps_its_persistent_index() -> None:
    model = model_of(conversation("a"), conversation("b", 1), conversation("c", 2))
    kept = QPersistentModelIndex(model.row_of("a"))
    model.update(replace(conversation("a", 9), title="a again"))
    assert titles(model) == ["a again", "c", "b"]
    assert kept.row() == 0


def test_a_conversation_that_did_not_move_is_told_as_changed() -> None:
    model = model_of(conversation("a"), conversation("b", 1))
    changed: list[int] = []
    model.dataChanged.connect(lambda index, _last: changed.append(index.row()))
    model.update(replace(conversation("a"), title="renamed"))
    assert (titles(model), changed) == (["b", "renamed"], [1])


def test_a_new_conversation_is_inserted_where_its_time_puts_it() -> None:
    model = model_of(conversation("a"), conversation("c", 9))
    model.update(conversation("b", 5))
    assert titles(model) == ["c", "b", "a"]


def test_a_renamed_conversation_that_the_filter_hides_leaves_the_list() -> None:
    model = model_of(conversation("plum"))
    model.set_filter("plum")
    model.update(replace(conversation("plum"), title="pear"))
    assert titles(model) == []
    model.set_filter("")
    assert titles(model) == ["pear"]


def test_a_removed_conversation_is_gone() -> None:
    model = model_of(conversation("a"), conversation("b", 1))
    model.remove("b")
    model.remove("never there")
    assert titles(model) == ["a"]
    assert model.conversation("b") is None


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (None, RowState.NONE),
        (RunStatus.COMPLETED, RowState.NONE),
        (RunStatus.CANCELLED, RowState.NONE),
        (RunStatus.RUNNING, RowState.RUNNING),
        (RunStatus.WAITING, RowState.WAITING),
        (RunStatus.FAILED, RowState.FAILED),
        (RunStatus.INTERRUPTED, RowState.INTERRUPTED),
    ],
)
def test_a_row_says_what_became_of_the_last_run(status: RunStatus | None, state: RowState) -> None:
    assert row_state(conversation("a", status=status)) is state


def test_a_run_whose_questions_are_all_decided_waits_for_nobody_and_can_be_resumed() -> None:
    waiting = conversation("a", status=RunStatus.WAITING)
    assert waiting.last_run is not None
    decided = replace(waiting, last_run=replace(waiting.last_run, decided=True))
    assert (row_state(decided), decided.resumable) == (RowState.INTERRUPTED, True)


def test_a_row_reads_out_title_state_and_time() -> None:
    model = model_of(conversation("Orders", status=RunStatus.FAILED))
    words = str(model.index(0).data(Qt.ItemDataRole.AccessibleTextRole))
    assert words == f"Orders, Failed, {model.index(0).data(Role.TIME)}"


def test_editing_a_title_asks_for_it_and_changes_nothing_yet() -> None:
    model = model_of(conversation("a"))
    asked: list[tuple[str, str]] = []
    model.rename_requested.connect(lambda one, title: asked.append((one, title)))
    assert model.setData(model.index(0), "  better  ")
    assert not model.setData(model.index(0), "   ")
    assert model.setData(model.index(0), "a")
    assert (asked, titles(model)) == ([("a", "better")], ["a"])


def test_no_row_lies_outside_the_model() -> None:
    model = model_of(conversation("a"))
    assert model.data(QModelIndex()) is None
    assert model.rowCount(model.index(0)) == 0
