"""The tree of the trace dock.

Invariant: it expands what is new of the newest run and otherwise only what the person opened, and follows
that run's end while nothing is chosen and nobody scrolled away from it; nothing of it costs more with more
events than what is on the screen.
"""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QFrame,
    QHeaderView,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_size
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.tokens import TRACE_INDENT, TRACE_NAME_WIDTH, TRACE_TIME_WIDTH
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.trace.axis import ROOM_ABOVE_ROWS, SIDE, AxisHeader
from sophos_desktop.shell.trace.shown import takes_run
from sophos_desktop.shell.trace.time_bars import TraceDelegate
from sophos_desktop.shell.trace.trace_model import BAR, NAME, TIME, TraceModel
from sophos_desktop.shell.widgets.shapes import Shape, paint_shape

_OPENED_STEPS = 30  # a run with more of them is opened, its steps are not
_ROWS_OF_A_SCREEN = 60
_CHEVRON, _CHEVRON_LEFT = 12, 8


class TraceTree(QTreeView):
    """Lives as long as its dock."""

    def __init__(self, model: TraceModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`."""
        super().__init__(parent)
        self._trace = model
        self._theme = theme
        self._newest: str | None = None
        self._follows = True
        self._hides = False
        self._names_fitted = TRACE_NAME_WIDTH
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
        self.setItemDelegate(TraceDelegate(theme, self.axis, self))
        self.axis.setStretchLastSection(False)
        self.axis.setMinimumSectionSize(TRACE_TIME_WIDTH)
        self.axis.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Interactive)
        self.axis.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
        self.axis.setSectionResizeMode(TIME, QHeaderView.ResizeMode.Fixed)
        self.axis.resizeSection(NAME, TRACE_NAME_WIDTH)
        self._fit_times()
        model.modelReset.connect(self._on_reset)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.grew.connect(self._on_grew)
        self.verticalScrollBar().actionTriggered.connect(lambda _action: self._note_place())
        theme.sizes_changed.connect(self._fit_times)
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()  # rows may be higher now
        self.viewport().update()

    def event(self, event: QEvent) -> bool:
        """Qt lays all rows out whenever the style sheet changes, twice each time; once is enough, when they
        are painted (`_on_theme_changed`)."""
        if event.type() == QEvent.Type.StyleChange:
            return QAbstractScrollArea.event(self, event)
        return super().event(event)

    def _fit_times(self) -> None:
        """Times are not cut: their column grows with their type."""
        scale = role_size(TYPE.small) / TYPE.small.size
        self.axis.resizeSection(TIME, round(TRACE_TIME_WIDTH * scale) + SIDE)

    def _on_reset(self) -> None:
        self._newest = None
        self._open_newest()
        self._hide_clean_runs()

    def _on_grew(self, _run_id: str) -> None:
        self._hide_clean_runs()
        self._follow()

    def _hide_clean_runs(self) -> None:
        """Where only failures are shown, a run without any is not; its events tell, so they are wanted."""
        shown = self._trace.shown
        if not shown.only_failures and not self._hides:
            return
        self._hides = shown.only_failures
        for row in range(self._trace.rowCount()):
            index = self._trace.index(row, NAME)
            node = self._trace.node(index)
            if node is not None:
                takes = takes_run(shown, node.run.record, has_rows=bool(node.children))
                if self.isRowHidden(row, QModelIndex()) == takes:
                    self.setRowHidden(row, QModelIndex(), not takes)
                if shown.only_failures and self._trace.canFetchMore(index):
                    self._trace.fetchMore(index)

    def _last_of_newest(self) -> QModelIndex:
        """The last row of the newest run that is shown."""
        index = self._trace.index(0, NAME)
        while self.isExpanded(index) and (below := self._trace.rowCount(index)):
            index = self._trace.index(below - 1, NAME, index)
        return index

    def _note_place(self) -> None:
        """Somebody scrolls: the end is followed if that is where it goes."""
        bar = self.verticalScrollBar()
        end = self.visualRect(self._last_of_newest()).bottom() + bar.value() - bar.sliderPosition()
        self._follows = end <= self.viewport().height()

    def _follow(self) -> None:
        run = self._trace.node(self._trace.index(0, NAME))
        if self._follows and run is not None and run.run.is_running and not self.currentIndex().isValid():
            self.scrollTo(self._last_of_newest())

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a row into the view, its last pixel as well, which Qt leaves out."""
        super().scrollTo(index, hint)
        missing = self.visualRect(index).bottom() - self.viewport().rect().bottom()
        if 0 < missing < self.viewport().height():
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + missing)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling by wheel counts as well."""
        super().wheelEvent(event)
        self._note_place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Names leave room to the bars in a narrow dock; the chosen row stays in the view."""
        chosen = self.currentIndex()
        before = QRect(0, 0, event.oldSize().width(), event.oldSize().height())
        was_seen = chosen.isValid() and before.intersects(self.visualRect(chosen))
        super().resizeEvent(event)
        self._fit_names()
        if was_seen:
            self.scrollTo(chosen)
        else:
            self._follow()

    def _fit_names(self) -> None:
        """Two thirds of what the dock is narrower than drawn; a width that somebody chose stays."""
        wanted = TRACE_NAME_WIDTH - max(0, MEASURES.dock_width - 1 - self.width()) * 2 // 3
        if self.columnWidth(NAME) == self._names_fitted and wanted != self._names_fitted:
            self._names_fitted = wanted
            self.axis.resizeSection(NAME, wanted)

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
            self._follows = True
            self._open(index)
            if self._trace.canFetchMore(index):
                self._trace.fetchMore(index)

    def set_scale(self, total_ms: float | None) -> None:
        """How long the scale of all bars is, in milliseconds; None for none."""
        if total_ms != self.axis.total_ms:
            self.axis.set_total(total_ms)
            self.viewport().update()

    def updateGeometries(self) -> None:
        """The axis is lower than what the tree leaves for it: between it and the rows is some room."""
        super().updateGeometries()
        axis = self.header()
        if isinstance(axis, AxisHeader):  # Qt asks before there is one
            axis.resize(axis.width(), self._theme.tokens.measures.axis)

    def expanded_runs(self) -> list[str]:
        """The ids of the runs that are open."""
        runs = [run.record.id for run in self._trace.runs]
        return [run_id for run_id in runs if self.isExpanded(self._trace.run_index(run_id))]

    def open_runs(self, run_ids: Iterable[str]) -> None:
        """Open runs, and the steps of each."""
        for run_id in run_ids:
            self._open(self._trace.run_index(run_id))

    def _open(self, index: QModelIndex) -> None:
        self.expand(index)
        for row in range(min(self._trace.rowCount(index), _OPENED_STEPS)):
            self.expand(self._trace.index(row, NAME, index))

    @property
    def height_of_rows(self) -> int:
        """How high it is with all rows in the view; more rows than the screen has count as those."""
        rows, index = 0, self._trace.index(0, NAME)
        while index.isValid() and rows < _ROWS_OF_A_SCREEN:
            rows, index = rows + 1, self.indexBelow(index)
        return (
            rows * self._theme.tokens.measures.trace_row + self.axis.sizeHint().height() + 1 + ROOM_ABOVE_ROWS
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a chevron opens or shuts; the style would look for it elsewhere."""
        index = self._at_chevron(event.position().toPoint())
        if index.isValid() and event.button() == Qt.MouseButton.LeftButton:
            self.setExpanded(index, not self.isExpanded(index))
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second press on a chevron is a press like the first."""
        if self._at_chevron(event.position().toPoint()).isValid():
            self.mousePressEvent(event)
            return
        super().mouseDoubleClickEvent(event)

    def _at_chevron(self, position: QPoint) -> QModelIndex:
        """The item whose chevron is there; invalid if there is none."""
        found = self.indexAt(position)
        index = found.siblingAtColumn(NAME) if found.isValid() else found
        if not index.isValid() or not self._trace.hasChildren(index):
            return QModelIndex()
        return index if 0 <= position.x() < self._chevron_at(index) + _CHEVRON + 2 else QModelIndex()

    def _chevron_at(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Where the chevron of an item begins."""
        depth, above = 0, index.parent()
        while above.isValid():
            depth, above = depth + 1, above.parent()
        return depth * TRACE_INDENT + _CHEVRON_LEFT

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Nothing in place of the style's chevron but the ground of a chosen row: `drawRow` has ours."""
        here = self._trace.index(index.row(), NAME, index.parent())
        if self.selectionModel().isSelected(here):
            painter.fillRect(rect, QColor(self._theme.tokens.selected))

    def drawRow(
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """A row, with a chevron for what can be opened, and a frame while the keyboard is on it."""
        super().drawRow(painter, options, index)
        here = self._trace.index(index.row(), NAME, index.parent())
        if self._trace.hasChildren(here):
            shape = Shape.OPEN if self.isExpanded(here) else Shape.SHUT
            box = QRectF(self._chevron_at(here), options.rect.center().y() - 5, _CHEVRON, _CHEVRON)
            paint_shape(painter, shape, box, QColor(self._theme.tokens.text_3))
        is_current = self.currentIndex().siblingAtColumn(NAME) == here
        if self.hasFocus() and is_current:
            painter.save()
            painter.setPen(QColor(self._theme.tokens.accent))
            painter.drawRect(options.rect.adjusted(0, 0, -1, -1))
            painter.restore()
