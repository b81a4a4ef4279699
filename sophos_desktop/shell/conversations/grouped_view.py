"""The list of conversations with a head above each group.

Invariant: heads are only painted: the model has rows of conversations alone, and keys, clicks and screen
readers go from one conversation to the next. Where a row lies is reckoned, so 20,000 rows cost what 20 do.
"""

from bisect import bisect_right

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QCursor, QEnterEvent, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QScrollBar,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from sophos_desktop.shell.conversations.groups import PINNED, Group
from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role, RowState
from sophos_desktop.shell.conversations.row_delegate import RowDelegate
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE

_Index = QModelIndex | QPersistentModelIndex
_Cursor = QAbstractItemView.CursorAction
_Hint = QAbstractItemView.ScrollHint
_State = QStyle.StateFlag
_SPIN_MILLISECONDS = 83
_SPIN_DEGREES = 30.0  # twelve pictures a turn, a turn a second
_HEAD_SHIFT = 8  # a head stands nearer to its rows than to those above it
_PIN = 12
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class GroupedView(QListView):
    """Lives as long as its panel."""

    def __init__(self, model: ConversationListModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`, which the panel sets once it listens to it."""
        super().__init__(parent)
        self._conversations = model
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._theme = theme
        self._head_font = role_font(TYPE.group_head)
        theme.changed.connect(self._on_theme_changed)
        self._shown_bar = self._make_shown_bar()
        self._running: list[QRect] = []
        self._spin = QTimer(self)
        self._spin.setSingleShot(True)
        self._spin.setInterval(_SPIN_MILLISECONDS)
        self._spin.timeout.connect(self._on_spin)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)

    def _on_theme_changed(self) -> None:
        """Rows keep their places but for another size of type."""
        font = role_font(TYPE.group_head)
        if font != self._head_font:
            self._head_font = font
            self.updateGeometries()
        self.viewport().update()

    def _make_shown_bar(self) -> QScrollBar:
        """A scroll bar over the rows' margin, while the pointer is in the list: it takes no width of them."""
        shown, real = QScrollBar(Qt.Orientation.Vertical, self), self.verticalScrollBar()
        shown.setObjectName("conversationScrollBar")
        shown.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        shown.hide()
        shown.valueChanged.connect(real.setValue)
        real.valueChanged.connect(shown.setValue)
        return shown

    def _fit_shown_bar(self) -> None:
        real, width = self.verticalScrollBar(), self._shown_bar.sizeHint().width()
        self._shown_bar.setRange(real.minimum(), real.maximum())
        self._shown_bar.setPageStep(real.pageStep())
        self._shown_bar.setSingleStep(real.singleStep())
        self._shown_bar.setGeometry(self.width() - width, 0, width, self.height())
        self._shown_bar.setVisible(self.underMouse() and real.maximum() > 0)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer came."""
        super().enterEvent(event)
        self._fit_shown_bar()

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer went."""
        super().leaveEvent(event)
        self._shown_bar.hide()

    # Where things are; tops count from the first row's head, not from the viewport's edge

    @property
    def _row_height(self) -> int:
        return self._theme.tokens.measures.row

    @property
    def _head_height(self) -> int:
        return self._theme.tokens.measures.group_head

    def _heads_down_to(self, row: int) -> int:
        return bisect_right(self._conversations.groups, row, key=lambda group: group.first)

    def _top(self, row: int) -> int:
        return row * self._row_height + self._heads_down_to(row) * self._head_height

    @property
    def _full_height(self) -> int:
        rows = self._conversations.rowCount()
        return rows * self._row_height + len(self._conversations.groups) * self._head_height

    def _first_row_below(self, y: int) -> int:
        """The first row whose lower edge is below `y`."""
        groups = self._conversations.groups
        place = bisect_right(groups, y, key=lambda group: self._top(group.first) - self._head_height) - 1
        first = groups[place].first if place >= 0 else 0
        return first + max(0, (y - self._top(first)) // self._row_height)

    def visualRect(self, index: _Index) -> QRect:
        """Where a row is in the viewport."""
        if not index.isValid():
            return QRect()
        top = self._top(index.row()) - self.verticalOffset()
        return QRect(0, top, self.viewport().width(), self._row_height)

    def head_rect(self, group: Group) -> QRect:
        """Where a group's head is in the viewport."""
        top = self._top(group.first) - self._head_height - self.verticalOffset()
        return QRect(0, top, self.viewport().width(), self._head_height)

    def indexAt(self, point: QPoint) -> QModelIndex:
        """The row at a point of the viewport; invalid on a head and below the last row."""
        y = point.y() + self.verticalOffset()
        row = self._first_row_below(y) if self._conversations.rowCount() else -1
        if not 0 <= row < self._conversations.rowCount() or y < self._top(row):
            return QModelIndex()
        return self._conversations.index(row)

    def verticalOffset(self) -> int:
        """How far the list is scrolled, in pixels."""
        return self.verticalScrollBar().value()

    def doItemsLayout(self) -> None:
        """Nothing of the rows: where they are is worked out when it is asked for."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        """Give the scroll bar the real height."""
        QAbstractItemView.updateGeometries(self)
        room = self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setSingleStep(self._row_height)
        bar.setPageStep(room)
        bar.setRange(0, max(0, self._full_height - room))
        self._fit_shown_bar()

    def scrollTo(self, index: _Index, hint: QAbstractItemView.ScrollHint = _Hint.EnsureVisible) -> None:
        """Bring a row into view, the first one of a group with its head."""
        if not index.isValid():
            return
        bar, room = self.verticalScrollBar(), self.viewport().height()
        top = self._top(index.row())
        bottom = top + self._row_height
        if any(group.first == index.row() for group in self._conversations.groups):
            top -= self._head_height
        if bar.maximum() < self._full_height - room:
            self.updateGeometries()  # rows came, and the view has not laid itself out yet
        if hint == _Hint.PositionAtCenter:
            bar.setValue((top + bottom - room) // 2)
        elif hint == _Hint.PositionAtTop or top < bar.value():
            bar.setValue(top)
        elif hint == _Hint.PositionAtBottom or bottom > bar.value() + room:
            bar.setValue(bottom - room)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """The row that a key goes to."""
        last = self._conversations.rowCount() - 1
        page = max(1, self.viewport().height() // self._row_height - 1)
        ways = {
            _Cursor.MoveUp: -1,
            _Cursor.MovePrevious: -1,
            _Cursor.MoveDown: 1,
            _Cursor.MoveNext: 1,
            _Cursor.MovePageUp: -page,
            _Cursor.MovePageDown: page,
            _Cursor.MoveHome: -last - 1,
            _Cursor.MoveEnd: last + 1,
        }
        current = self.currentIndex()
        if not current.isValid():
            return self._conversations.index(last if action == _Cursor.MoveEnd else 0)
        return self._conversations.index(max(0, min(last, current.row() + ways.get(action, 0))))

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """One row at most: the one at the point, a rectangle's lower right corner."""
        index = self.indexAt(rect.bottomRight())
        selection = QItemSelection(index, index) if index.isValid() else QItemSelection()
        self.selectionModel().select(selection, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """What is to be painted anew when a selection changes."""
        region = QRegion()
        for index in selection.indexes():
            region += QRegion(self.visualRect(index))
        return region

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows and heads that the event asks for."""
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # places are reckoned for no other
        if not self._conversations.rowCount():
            self._paint_nothing(painter)
            painter.end()
            return
        wanted = event.rect()
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        base_state = option.state & ~(_State.State_MouseOver | _State.State_Selected | _State.State_HasFocus)
        hovered = self._hovered_row()
        self._running = []
        row = self._first_row_below(wanted.top() + self.verticalOffset())
        while row < self._conversations.rowCount():
            index = self._conversations.index(row)
            option.rect = self.visualRect(index)
            if option.rect.top() > wanted.bottom():
                break
            option.state = base_state
            if self.selectionModel().isSelected(index):
                option.state |= _State.State_Selected
            if row == hovered:
                option.state |= _State.State_MouseOver
            if self.hasFocus() and index == self.currentIndex():
                option.state |= _State.State_HasFocus
            self.itemDelegate().paint(painter, option, index)
            if index.data(Role.STATE) == RowState.RUNNING:
                self._running.append(QRect(option.rect))
            row += 1
        for group in self._conversations.groups:
            if self.head_rect(group).intersects(wanted):
                self._paint_head(painter, group)
        painter.end()
        if self._running and not self._spin.isActive():
            self._spin.start()  # by what was painted: what nobody can see does not turn

    @property
    def is_spinning(self) -> bool:
        """True while a mark turns."""
        return self._spin.isActive()

    def _on_spin(self) -> None:
        delegate = self.itemDelegate()
        if isinstance(delegate, RowDelegate):
            delegate.turned_degrees = (delegate.turned_degrees + _SPIN_DEGREES) % 360
        for row in self._running:
            self.viewport().update(row)

    def _hovered_row(self) -> int:
        if not self.viewport().underMouse():
            return -1
        return self.indexAt(self.viewport().mapFromGlobal(QCursor.pos())).row()

    def _paint_head(self, painter: QPainter, group: Group) -> None:
        colour = QColor(self._theme.tokens.text_3)
        place = self.head_rect(group).adjusted(MEASURES.row_inset + MEASURES.row_padding, _HEAD_SHIFT, 0, 0)
        if group.name == PINNED:
            side = mark_size(_PIN)
            box = QRectF(place.left(), place.center().y() - side / 2 + 1, side, side)
            paint_mark(painter, Mark.PINNED, box, colour)
            place.setLeft(place.left() + side + 6)
        painter.setFont(self._head_font)
        painter.setPen(colour)
        painter.drawText(place, _LEFT, group.name)

    def _paint_nothing(self, painter: QPainter) -> None:
        if not self._conversations.is_known:
            words = "Opening…"
        else:
            words = "No title holds that." if self._conversations.is_filtered else "No conversations yet."
        left = MEASURES.row_inset + MEASURES.row_padding
        painter.setFont(role_font(TYPE.interface))
        painter.setPen(QColor(self._theme.tokens.text_2))
        painter.drawText(QRect(left, 8, self.viewport().width() - left, MEASURES.group_head), _LEFT, words)
