"""The trace dock: title with its buttons, figures, tree, details.

Invariant: it shows what the model holds and asks for nothing else; hidden, it costs nothing (`shown_changed`
tells the feed). The line above the details moves with the rows until somebody moves it or chooses a row.
"""

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.projection import Figures
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark, icon, mark_pixmap
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.trace.details import TraceDetails
from sophos_desktop.shell.trace.facts import run_telling, telling_of
from sophos_desktop.shell.trace.figures import FiguresPanel
from sophos_desktop.shell.trace.filter_menu import FilterMenu
from sophos_desktop.shell.trace.floating import float_beside, give_frame
from sophos_desktop.shell.trace.nodes import Run
from sophos_desktop.shell.trace.parted import Parted
from sophos_desktop.shell.trace.shown import EVERYTHING, Shown
from sophos_desktop.shell.trace.tools_known import ToolsKnown
from sophos_desktop.shell.trace.trace_model import TraceModel
from sophos_desktop.shell.trace.trace_tree import TraceTree
from sophos_desktop.shell.widgets.foldaway import Foldaway

_TICK_MILLISECONDS = 250
_ICON = 16
_EMPTY_MARK = 24
_NOTHING = Figures()
_TO_FILTER = "Choose what the trace shows"
_FILTERED = "Some rows are not shown. Choose what the trace shows"
_TO_FLOAT = "Show the trace in its own window"
_TO_DOCK = "Put the trace back into the window"


class TraceDock(QDockWidget):
    """Lives as long as its window."""

    shown_changed = Signal(bool)
    save_wanted = Signal(str)  # run id
    place_wanted = Signal(object)  # Place

    def __init__(self, model: TraceModel, theme: Theme, parent: QWidget) -> None:
        """Shows `model`."""
        super().__init__("Trace", parent)
        self.setObjectName("traceDock")
        self.setAccessibleName("Trace")
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self._window = parent
        self._trace = model
        self._theme = theme
        self.known = ToolsKnown()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self.tree = TraceTree(model, theme, self)
        self.details = TraceDetails(theme, self)
        self._stack = QStackedLayout()
        self._is_placed_by_hand = False
        self._splitter = Parted(theme)
        self._filter_button = self._title_button("traceFilter", _TO_FILTER, Mark.FILTER)
        self._filter_menu = FilterMenu(theme, self)
        self._save_button = self._title_button("traceSave", "Save the trace of this run", Mark.SAVE)
        self._float_button = self._title_button("traceFloat", _TO_FLOAT, Mark.DETACH)
        self._close_button = self._title_button("traceClose", "Hide the trace", Mark.CLOSE)
        self.setTitleBarWidget(self._make_title())
        self.setWidget(self._make_body())
        self._connect()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._refresh()

    def _title_button(self, name: str, what: str, mark: Mark) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setAccessibleName(what)
        button.setToolTip(what)
        button.setProperty("quiet", "true")
        button.setFixedSize(MEASURES.icon_button_in_bar, MEASURES.icon_button_in_bar)
        button.setIcon(icon(mark, self._theme))
        button.setIconSize(QSize(_ICON, _ICON))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _make_title(self) -> QWidget:
        bar = QWidget(self)
        bar.setObjectName("traceTitleBar")
        title = QLabel("Trace", bar)
        title.setObjectName("traceTitle")
        row = QHBoxLayout(bar)
        spare = (MEASURES.dock_title - MEASURES.icon_button_in_bar) // 2
        row.setContentsMargins(16, spare, 8, spare)
        row.setSpacing(0)
        row.addWidget(title, 1)
        row.addWidget(self._filter_button)
        row.addWidget(self._save_button)
        row.addWidget(self._float_button)
        row.addWidget(self._close_button)
        return bar

    def _make_body(self) -> QWidget:
        body = QWidget(self)
        body.setObjectName("traceBodyPanel")
        body.setMinimumWidth(MEASURES.dock_narrowest)
        body.setMaximumWidth(MEASURES.dock_widest)
        splitter = self._splitter
        splitter.setObjectName("traceSplitter")
        splitter.addWidget(self.tree)
        splitter.addWidget(self.details)
        splitter.handle(1).setObjectName("traceLine")  # Qt names it once it is made
        splitter.setStretchFactor(0, 1)
        splitter.setCollapsible(0, False)
        full = Foldaway(body)
        column = QVBoxLayout(full.inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._figures = FiguresPanel(self._theme, full.inside)
        column.addWidget(self._figures)
        column.addWidget(splitter, 1)
        self._stack.addWidget(self._make_empty(body))
        self._stack.addWidget(full)
        body.setLayout(self._stack)
        return body

    def _make_empty(self, parent: QWidget) -> QWidget:
        empty = Foldaway(parent)
        page = empty.inside
        self._empty_mark = QLabel(page)
        self._empty_mark.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        words = QLabel("Steps appear here as a run works.", page)
        words.setObjectName("traceEmpty")
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        words.setWordWrap(True)
        column = QVBoxLayout(page)
        column.setSpacing(12)
        column.addStretch(10)
        column.addWidget(self._empty_mark)
        column.addWidget(words)
        column.addStretch(11)
        return empty

    def _connect(self) -> None:
        self._filter_button.clicked.connect(lambda _checked=False: self._on_filter())
        self._filter_menu.changed.connect(self._on_filter_changed)
        self._save_button.clicked.connect(lambda _checked=False: self._on_save())
        self._float_button.clicked.connect(lambda _checked=False: self._on_float())
        self.topLevelChanged.connect(self._on_floating_changed)
        self._close_button.clicked.connect(lambda: self.toggleViewAction().trigger())
        self._splitter.splitterMoved.connect(self._on_splitter_moved)
        self.details.place_wanted.connect(self.place_wanted)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        for changed in (self.tree.expanded, self.tree.collapsed):
            changed.connect(lambda _index: self._place_splitter())
        self._trace.modelReset.connect(self._refresh)
        self._trace.rowsInserted.connect(self._refresh)
        self._trace.grew.connect(self._on_grew)

    def attach(self, core: Core) -> None:
        """The core is open: it knows the servers, and how many steps a run may take."""
        self.known.attach(core)
        self._refresh()

    def detach(self) -> None:
        """The core is about to close."""
        self.known.detach()

    def take_focus(self) -> None:
        """Show it, and let the keyboard be in its steps."""
        if self.isHidden():
            self.toggleViewAction().trigger()
        if self.isFloating():
            self.activateWindow()
        (self.tree if self.tree.isVisible() else self._close_button).setFocus(
            Qt.FocusReason.ShortcutFocusReason
        )

    def sizeHint(self) -> QSize:
        """The width of the look."""
        return QSize(MEASURES.dock_width - 1, 600)

    @property
    def chosen_run(self) -> Run | None:
        """The run of the chosen item, or the newest."""
        node = self._trace.node(self.tree.currentIndex())
        if node is not None:
            return node.run
        runs = self._trace.runs
        return runs[0] if runs else None

    def event(self, event: QEvent) -> bool:
        """Tell when it is shown or hidden by itself, not with the window."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            is_shown = event.type() == QEvent.Type.ShowToParent
            self._run_clock()
            self.shown_changed.emit(is_shown)
        return super().event(event)

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._refresh()

    def _on_grew(self, _run_id: str) -> None:
        self._refresh()

    def _on_filter(self) -> None:
        self._filter_button.setChecked(self._trace.shown != EVERYTHING)  # the press itself chooses nothing
        self._filter_menu.open_at(self._filter_button)

    def _on_filter_changed(self, shown: Shown) -> None:
        opened = self.tree.expanded_runs()
        self._trace.show_only(shown)
        self.tree.open_runs(opened)
        is_on = shown != EVERYTHING
        self._filter_button.setIcon(icon(Mark.FILTER, self._theme, "accent" if is_on else "text_2"))
        self._filter_button.setCheckable(is_on)
        self._filter_button.setChecked(is_on)
        self._filter_button.setToolTip(_FILTERED if is_on else _TO_FILTER)
        self._filter_button.setAccessibleDescription("Some rows are not shown" if is_on else "")

    def _on_float(self) -> None:
        if self.isFloating():
            self.setFloating(False)
        else:
            float_beside(self, self._window)
        self._float_button.setFocus()  # another window has taken it away

    def _on_floating_changed(self, floats: bool) -> None:  # noqa: FBT001 (a Qt slot)
        what = _TO_DOCK if floats else _TO_FLOAT
        self._float_button.setToolTip(what)
        self._float_button.setAccessibleName(what)
        if floats:
            give_frame(self)

    def _on_save(self) -> None:
        if self.chosen_run is not None:
            self.save_wanted.emit(self.chosen_run.record.id)

    def _on_splitter_moved(self, _position: int, _index: int) -> None:
        self._is_placed_by_hand = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The details stand below the rows."""
        super().resizeEvent(event)
        self._place_splitter()

    def _place_splitter(self) -> None:
        """Put the details right below the rows; never while somebody may be reading them."""
        height = self._splitter.height()
        if self._is_placed_by_hand or self.tree.currentIndex().isValid() or height <= 0:
            return
        rows = min(self.tree.height_of_rows, max(height // 2, height - self.details.sizeHint().height()))
        if self._splitter.sizes()[:1] != [rows]:
            self._splitter.setSizes([rows, height - rows - self._splitter.handleWidth()])

    def _refresh(self) -> None:
        run = self.chosen_run
        is_first = run is not None and self._stack.currentIndex() == 0
        self._stack.setCurrentIndex(1 if run is not None else 0)
        if is_first:
            self._order_tabs()
        self._save_button.setEnabled(run is not None)
        goes_on = run is not None and (run.is_running or run.is_waiting)
        limit = self.known.step_limit if goes_on else None
        self._figures.show_figures(run.fold.figures if run is not None else _NOTHING, limit)
        self._show_details()
        self._scale()
        self._run_clock()
        self._place_splitter()

    def _order_tabs(self) -> None:
        """The Tab key goes from the title to the rows, and from there down."""
        line = self._splitter.handle(1)
        QWidget.setTabOrder(self._close_button, self.tree)
        QWidget.setTabOrder(self.tree, line)
        self.details.order_tabs(line)

    def _show_details(self) -> None:
        """Of what is chosen; else of the newest run."""
        node, run = self._trace.node(self.tree.currentIndex()), self.chosen_run
        if node is not None:
            self.details.show_telling(telling_of(node, self._trace.took_ms(node), self.known))
        elif run is not None:
            self.details.show_telling(run_telling(run, self._trace.run_ms(run)))
        else:
            self.details.show_telling(None)

    def _scale(self) -> None:
        self.tree.set_scale(self._trace.scale_ms if self._trace.runs else None)

    def _run_clock(self) -> None:
        """A bar that grows is painted again four times a second, while somebody can see it."""
        is_needed = not self.isHidden() and any(run.is_running for run in self._trace.runs)
        if is_needed and not self._tick.isActive():
            self._tick.start()
        elif not is_needed:
            self._tick.stop()

    def _on_tick(self) -> None:
        self._trace.refresh_running()
        self._show_details()
        self._scale()

    def _on_theme_changed(self) -> None:
        ratio = self.devicePixelRatioF()
        self._empty_mark.setPixmap(mark_pixmap(Mark.STEPS, _EMPTY_MARK, self._theme.tokens.text_2, ratio))
