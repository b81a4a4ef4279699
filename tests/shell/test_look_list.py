"""The list in groups: where rows lie, what a click and a key reach, and that 20,000 rows cost nothing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QScrollBar, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.conversations.groups import grouped
from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role
from sophos_desktop.shell.conversations.row_delegate import RowDelegate
from sophos_desktop.shell.theme.follower import Theme
from tests.shell.test_list_model import NOW, conversation

ROW, HEAD = 32, 28


class FixedClock:
    """A clock that stands."""

    def now(self) -> datetime:
        """Always the same."""
        return NOW

    def monotonic(self) -> float:
        """Always the same."""
        return 0.0


class CountingDelegate(RowDelegate):
    """Counts the rows that are painted."""

    painted = 0

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """One row more."""
        self.painted += 1
        super().paint(painter, option, index)


def at(name: str, moment: datetime, *, pinned: bool = False) -> Conversation:
    """A conversation that changed at a moment."""
    return replace(conversation(name), updated_at=to_text(moment), pinned=pinned)


def local(days_ago: int, hour: int = 12) -> datetime:
    """A time of day in the clock's own zone."""
    today = NOW.astimezone().replace(hour=hour, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days_ago)


def names(*conversations: Conversation) -> list[tuple[str, int]]:
    """The groups that rows fall into."""
    rows = sorted(conversations, key=lambda one: (one.pinned, one.updated_at), reverse=True)
    return [(group.name, group.first) for group in grouped(rows, NOW.astimezone())]


def test_rows_fall_into_groups_by_their_day() -> None:
    assert names(
        at("pin", local(90), pinned=True),
        at("a", local(0, 1)),
        at("b", local(0, 0)),
        at("c", local(1, 23)),
        at("d", local(1, 0)),
        at("e", local(2, 23)),
        at("f", local(6, 0)),
    ) == [("Pinned", 0), ("Today", 1), ("Yesterday", 3), ("Last 7 days", 5)]


def test_what_is_older_falls_into_months_and_those_of_other_years_say_which() -> None:
    now = datetime(2026, 3, 20, 12).astimezone()
    moments = [datetime(2026, 3, 13), datetime(2026, 3, 1), datetime(2026, 2, 28), datetime(2025, 3, 2)]
    rows = [at(str(moment), moment.astimezone()) for moment in moments]
    assert [(group.name, group.first) for group in grouped(rows, now)] == [
        ("March", 0),
        ("February", 2),
        ("March 2025", 3),
    ]


def test_a_time_to_come_counts_as_today_and_no_rows_have_no_group() -> None:
    assert names(at("a", local(-2))) == [("Today", 0)]
    assert names() == []


def test_each_of_many_rows_is_in_the_group_that_it_alone_would_be_in() -> None:
    rows = [at(str(hours), NOW - timedelta(hours=hours)) for hours in range(0, 24 * 400, 7)]
    groups = grouped(rows, NOW.astimezone())
    of_row = {}
    for place, group in enumerate(groups):
        end = groups[place + 1].first if place + 1 < len(groups) else len(rows)
        of_row.update(dict.fromkeys(range(group.first, end), group.name))
    assert [of_row[row] for row in range(len(rows))] == [
        grouped([one], NOW.astimezone())[0].name for one in rows
    ]


@pytest.fixture
def view() -> Iterator[GroupedView]:
    """Two groups: `a` and `b` today, `c` yesterday; 200 pixels high."""
    window = QWidget()
    window.resize(259, 200)
    model = ConversationListModel(FixedClock(), window)
    made = GroupedView(model, Theme(window), window)
    made.setObjectName("conversationList")
    made.setModel(model)
    made.setItemDelegate(CountingDelegate(Theme(window), made))
    made.resize(259, 200)
    model.reset([at("a", local(0, 2)), at("b", local(0, 1)), at("c", local(1))])
    window.show()
    yield made
    window.close()
    window.deleteLater()


def model_of(view: GroupedView) -> ConversationListModel:
    """The view's model."""
    model = view.model()
    assert isinstance(model, ConversationListModel)
    return model


def many(view: GroupedView, count: int = 20_000) -> None:
    """Fill the list."""
    model_of(view).reset(at(f"{hours:06}", NOW - timedelta(hours=hours)) for hours in range(count))


def test_rows_lie_below_the_heads_of_their_groups(view: GroupedView) -> None:
    tops = [view.visualRect(view.model().index(row, 0)).top() for row in range(3)]
    assert tops == [HEAD, HEAD + ROW, 2 * HEAD + 2 * ROW]
    assert [view.head_rect(group).top() for group in model_of(view).groups] == [0, HEAD + 2 * ROW]


def test_each_point_of_a_row_reaches_it_and_none_of_a_head(view: GroupedView) -> None:
    rows = [view.indexAt(QPoint(40, y)).row() for y in range(2 * HEAD + 3 * ROW + 5)]
    assert rows == [-1] * HEAD + [0] * ROW + [1] * ROW + [-1] * HEAD + [2] * ROW + [-1] * 5


def test_keys_go_from_row_to_row_over_the_heads(view: GroupedView) -> None:
    view.setCurrentIndex(view.model().index(1, 0))
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().data() == "c"
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.currentIndex().data() == "a"
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.currentIndex().data() == "a"
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.currentIndex().data() == "c"


def test_page_keys_go_through_a_long_list(view: GroupedView) -> None:
    many(view, 500)
    view.setCurrentIndex(view.model().index(0, 0))
    QTest.keyClick(view, Qt.Key.Key_PageDown)
    assert 2 <= view.currentIndex().row() <= 6
    row = view.currentIndex().row()
    assert view.viewport().rect().contains(view.visualRect(view.currentIndex()))
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.currentIndex().row() < row


def test_a_click_on_a_row_chooses_it_and_one_on_a_head_nothing(view: GroupedView) -> None:
    view.setCurrentIndex(view.model().index(0, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, HEAD + 2 * ROW + 5))
    assert view.currentIndex().data() == "a"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 2 * HEAD + 2 * ROW + 5))
    assert view.currentIndex().data() == "c"
    assert [index.data() for index in view.selectionModel().selectedIndexes()] == ["c"]


def test_20_000_rows_are_scrolled_to_the_last_one_and_only_what_is_seen_is_painted(
    view: GroupedView,
) -> None:
    many(view)
    delegate = view.itemDelegate()
    assert isinstance(delegate, CountingDelegate)
    last = view.model().index(19_999, 0)
    view.scrollTo(last)
    assert view.visualRect(last).bottom() == view.viewport().height() - 1
    assert view.verticalOffset() > 19_999 * ROW
    delegate.painted = 0
    view.viewport().grab()
    assert 5 <= delegate.painted <= 8
    view.scrollTo(view.model().index(0, 0))
    assert view.verticalOffset() == 0  # the first row shows its head


def test_what_is_painted_at_a_place_is_what_a_click_there_reaches(view: GroupedView) -> None:
    many(view, 300)
    view.verticalScrollBar().setValue(777)
    for y in range(0, view.viewport().height(), 3):
        index = view.indexAt(QPoint(40, y))
        if index.isValid():
            assert view.visualRect(index).contains(QPoint(40, y))


def test_the_list_grows_and_shrinks_with_its_rows(view: GroupedView) -> None:
    many(view, 100)
    view.updateGeometries()
    before = view.verticalScrollBar().maximum()
    model_of(view).set_filter("00001")
    view.updateGeometries()
    assert before > view.verticalScrollBar().maximum()
    model_of(view).set_filter("no such title")
    view.updateGeometries()
    assert view.verticalScrollBar().maximum() == 0
    assert not view.indexAt(QPoint(40, 40)).isValid()
    view.viewport().grab()  # says so instead of rows


def test_the_scroll_bar_lies_over_the_rows_margin_and_moves_the_list(view: GroupedView) -> None:
    many(view, 100)
    view.updateGeometries()
    assert view.viewport().width() == 259
    bar = view.findChild(QScrollBar, "conversationScrollBar")
    assert bar is not None
    bar.setValue(500)
    assert view.verticalOffset() == 500
    view.verticalScrollBar().setValue(0)
    assert bar.value() == 0


def test_a_title_is_edited_in_a_field_of_28_within_its_row(view: GroupedView) -> None:
    index = view.model().index(1, 0)
    view.setCurrentIndex(index)
    view.edit(index)
    field = view.viewport().findChild(QLineEdit)
    assert field is not None
    row = view.visualRect(index)
    assert (field.height(), field.x()) == (28, row.left() + 8)
    assert field.geometry().center().y() == pytest.approx(row.center().y(), abs=1)
    assert field.text() == "b"


def test_pinned_rows_come_first_and_a_row_of_yesterday_says_at_what_time() -> None:
    model = ConversationListModel(FixedClock())
    model.reset([at("old", local(30), pinned=True), at("now", local(0)), at("then", local(1, 17))])
    assert [model.index(row).data() for row in range(3)] == ["old", "now", "then"]
    assert model.index(2).data(Role.TIME) == "17:00"
    model.update(at("then", local(1, 17), pinned=True))
    assert [model.index(row).data() for row in range(3)] == ["then", "old", "now"]
    assert model.index(0).data(Role.TIME) == "Yesterday"
    assert [group.name for group in model.groups] == ["Pinned", "Today"]


def test_a_row_tells_screen_readers_its_group() -> None:
    model = ConversationListModel(FixedClock())
    model.reset([at("now", local(0)), at("then", local(1))])
    described = [model.index(row).data(Qt.ItemDataRole.AccessibleDescriptionRole) for row in range(2)]
    assert described == ["Today", "Yesterday"]


@pytest.mark.parametrize(("width", "has_word"), [(259, True), (150, False)])
def test_a_states_word_goes_before_the_title_does(width: int, has_word: bool) -> None:
    window = QWidget()
    theme = Theme(window)
    model = ConversationListModel(FixedClock(), window)
    view = GroupedView(model, theme, window)
    view.setModel(model)
    view.setItemDelegate(RowDelegate(theme, view))
    view.resize(width, 100)
    model.reset([replace(conversation("Orders", status=RunStatus.FAILED), updated_at=to_text(local(0)))])
    picture = view.viewport().grab().toImage()
    danger = QPointF(width - 16 - 20, HEAD + ROW / 2).toPoint()
    reds = {
        picture.pixelColor(x, y).name().upper()
        for x in range(danger.x() - 15, danger.x() - 5)
        for y in range(HEAD, HEAD + ROW)
    }
    assert (len(reds) > 1) == has_word
    window.deleteLater()


def test_the_mark_of_a_running_row_turns_while_it_is_seen(view: GroupedView, qtbot: QtBot) -> None:
    delegate = view.itemDelegate()
    assert isinstance(delegate, RowDelegate)
    running = conversation("r", status=RunStatus.RUNNING)
    model_of(view).reset([replace(running, updated_at=to_text(local(0)))])
    qtbot.waitUntil(lambda: delegate.turned_degrees >= 60, timeout=10_000)
    model_of(view).reset([at("a", local(0))])
    view.viewport().repaint()
    qtbot.waitUntil(lambda: not view.is_spinning, timeout=10_000)
