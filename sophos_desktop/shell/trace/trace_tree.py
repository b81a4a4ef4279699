"""The tree of the trace dock.

Invariant: it expands what is new of the newest run and otherwise only what the person opened; nothing of it
costs more with more events than what is on the screen.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QStyleOptionViewItem, QTreeView, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import TRACE_INDENT, TRACE_NAME_WIDTH, TRACE_TIME_WIDTH
from sophos_desktop.shell.trace.time_bars import AxisHeader, TraceDelegate
from sophos_desktop.shell.trace.trace_model import BAR, NAME, TIME, TraceModel
from sophos_desktop.shell.widgets.shapes import Shape, paint_shape

_OPENED_STEPS = 30  # a run with more of them is opened, its steps are not


class TraceTree(QTreeView):
    """Lives as long as its dock."""

    def __init__(self, model: TraceModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`."""
        super().__init__(parent)
        self._trace = model
        self._theme = theme
        self._newest: str | None = None
        self.setObjectName("traceTree")
        self.setAccessibleName("Runs, steps and events")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setIndentation(TRACE_INDENT)
        self.setAnimated(False)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.axis = AxisHeader(theme, self)
        self.setHeader(self.axis)
        self.setModel(model)
        self.setItemDelegate(TraceDelegate(theme, self))
        self.axis.setStretchLastSection(False)
        self.axis.setMinimumSectionSize(TRACE_TIME_WIDTH)
        self.axis.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Interactive)
        self.axis.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
        self.axis.setSectionResizeMode(TIME, QHeaderView.ResizeMode.Fixed)
        self.axis.resizeSection(NAME, TRACE_NAME_WIDTH)
        self.axis.resizeSection(TIME, TRACE_TIME_WIDTH + 12)
        model.modelReset.connect(self._on_reset)
        model.rowsInserted.connect(self._on_rows_inserted)
        theme.changed.connect(self.viewport().update)

    def _on_reset(self) -> None:
        self._newest = None
        self._open_newest()

    def _on_rows_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        if not parent.isValid():
            self._open_newest()
            return
        run = self._trace.node(parent)
        is_newest = run is not None and run.parent is None and run.run.record.id == self._newest
        if is_newest and self.isExpanded(parent):
            for row in range(first, min(last, _OPENED_STEPS) + 1):
                self.expand(self._trace.index(row, NAME, parent))

    def _open_newest(self) -> None:
        """Open the newest run; the one that was it stays as it is."""
        index = self._trace.index(0, NAME)
        run = self._trace.node(index)
        if run is not None and run.run.record.id != self._newest:
            self._newest = run.run.record.id
            self.expand(index)
            for row in range(min(self._trace.rowCount(index), _OPENED_STEPS)):
                self.expand(self._trace.index(row, NAME, index))
            if self._trace.canFetchMore(index):
                self._trace.fetchMore(index)

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A chevron for what can be opened, in place of the style's."""
        here = self._trace.index(index.row(), NAME, index.parent())
        if self.selectionModel().isSelected(here):
            painter.fillRect(rect, QColor(self._theme.tokens.selected))
        if self._trace.hasChildren(index):
            shape = Shape.OPEN if self.isExpanded(here) else Shape.SHUT
            box = QRectF(rect.right() - 11, rect.center().y() - 5.5, 12, 12)
            paint_shape(painter, shape, box, QColor(self._theme.tokens.text_2))

    def drawRow(
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """A row, with a frame while the keyboard is on it."""
        super().drawRow(painter, options, index)
        here = self._trace.index(index.row(), NAME, index.parent())
        is_current = self.currentIndex().siblingAtColumn(NAME) == here
        if self.hasFocus() and is_current:
            painter.save()
            painter.setPen(QColor(self._theme.tokens.accent))
            painter.drawRect(options.rect.adjusted(0, 0, -1, -1))
            painter.restore()
