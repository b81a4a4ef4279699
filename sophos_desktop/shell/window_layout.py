"""Where the parts of the window are and how large all is: kept over a restart, and fitted to the width.

Invariant: a narrow window hides the trace dock by itself, a narrower one makes the list a rail, and a wide
one gives both back; what the person hid stays hidden, and what the person opened by hand stays open as long
as the transcript keeps its narrowest width.
"""

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSplitter

from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.facade import Conversations
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import wide
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.zoom import zoom_of

_GEOMETRY = "window_geometry"
_SPLITTER = "window_splitter"
_STATE = "window_state"
_LIST = "window_list"
_ZOOM = "window_zoom"
_NARROW, _BY_HAND = "narrow ", "by-hand "  # before the state: the dock is hidden, or was opened
_STATE_VERSION = 1
_SCALE = 1_000  # what a scale is counted in


class WindowLayout(QObject):
    """Lives as long as its window."""

    def __init__(
        self,
        window: QMainWindow,
        splitter: QSplitter,
        panel: ConversationPanel,
        dock: QDockWidget,
        theme: Theme,
    ) -> None:
        """`panel` is the list at the left, `dock` the trace at the right."""
        super().__init__(window)
        self._window = window
        self._splitter = splitter
        self._panel = panel
        self._dock = dock
        self._theme = theme
        self._hid_dock = False
        self._opened_by_hand = False
        self._list_opened_by_hand = False
        self._wide_splitter = QByteArray()
        self._dock_width = MEASURES.dock_width - 1
        self._list_width = MEASURES.list_width  # at 100 %, with its line
        self._scale = wide(_SCALE)
        splitter.splitterMoved.connect(self._on_splitter_moved)
        dock.installEventFilter(self)
        theme.sizes_changed.connect(self._on_sizes_changed)
        panel.list_wanted.connect(self._on_list_wanted)
        panel.chosen.connect(self._on_chosen)
        dock.toggleViewAction().triggered.connect(self._on_dock_toggled)

    def _on_dock_toggled(self, shown: bool) -> None:  # noqa: FBT001 (a Qt slot)
        self._hid_dock = False
        self._opened_by_hand = shown

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember how wide the dock was made; what a narrow window presses it to is no wish."""
        if (
            watched is self._dock
            and event.type() == QEvent.Type.Resize
            and not self._dock.isHidden()
            and not self._dock.isFloating()
            and self._window.width() >= wide(MEASURES.dock_fits_width)
        ):
            self._dock_width = self._dock.width()
        return super().eventFilter(watched, event)

    def _on_sizes_changed(self) -> None:
        """With the type grow the list, which holds titles, and what counts as narrow."""
        before, self._scale = self._scale, wide(_SCALE)
        if before != self._scale:
            self.fit()
            self._widen_list()

    def _widen_list(self) -> None:
        if not self._panel.is_rail:
            width = wide(self._list_width) - 1
            self._splitter.setSizes([width, max(1, self._splitter.width() - width)])

    def _on_splitter_moved(self) -> None:
        width = self._splitter.sizes()[0]
        if width and not self._panel.is_rail:
            self._list_width = round((width + 1) * _SCALE / self._scale)

    def _on_list_wanted(self) -> None:
        self._list_opened_by_hand = True
        self._fit_list()
        self._panel.filter.setFocus()

    def _on_chosen(self, _conversation_id: str) -> None:
        """The list that was opened over a narrow window has done what it was opened for."""
        if self._list_opened_by_hand:
            self._list_opened_by_hand = False
            self._fit_list()

    def fit(self) -> None:
        """The window has another width."""
        self._fit_dock()
        self._fit_list()

    def _fit_dock(self) -> None:
        is_wide = self._window.width() >= wide(MEASURES.dock_fits_width)
        may_stay = is_wide or (self._opened_by_hand and self._has_room_for_dock)
        if not may_stay and not self._dock.isHidden() and not self._dock.isFloating():
            self._hid_dock = True
            self._dock.hide()
        elif may_stay and self._hid_dock:
            self._hid_dock = False
            width = self._dock_width  # before it shows, pressed together as it was when it went
            self._dock.show()
            self._window.resizeDocks([self._dock], [width], Qt.Orientation.Horizontal)

    @property
    def _has_room_for_dock(self) -> bool:
        is_listed = self._window.width() >= wide(MEASURES.list_fits_width)
        full, rail = self._panel.width() + 1, wide(MEASURES.rail_width)
        beside = 0 if self._panel.isHidden() else full if is_listed and not self._panel.is_rail else rail
        dock = max(self._dock.width(), MEASURES.dock_narrowest)
        return self._window.width() - beside - dock >= MEASURES.transcript_narrowest

    def _fit_list(self) -> None:
        is_narrow = self._window.width() < wide(MEASURES.list_fits_width)
        if not is_narrow:
            self._list_opened_by_hand = False
        is_rail = is_narrow and not self._list_opened_by_hand
        if is_rail == self._panel.is_rail:
            return
        if is_rail:
            self._wide_splitter = self._splitter.saveState()
        self._panel.show_rail(is_rail=is_rail)
        if is_rail:
            rail = self._panel.minimumWidth()
            self._splitter.setSizes([rail, self._splitter.width() - rail])
        else:
            self._widen_list()

    async def save(self, conversations: Conversations) -> None:
        """Write it. Raises SophosError of the store."""
        state = {
            _GEOMETRY: _text(self._window.saveGeometry()),
            _SPLITTER: _text(self._wide_splitter if self._panel.is_rail else self._splitter.saveState()),
            _STATE: self._dock_word + _text(self._window.saveState(_STATE_VERSION)),
            _LIST: "hidden" if self._panel.isHidden() else "shown",
            _ZOOM: str(self._theme.zoom_percent),
        }
        for key, value in state.items():
            await conversations.save_app_state(key, value)

    @property
    def _dock_word(self) -> str:
        is_wanted = self._opened_by_hand and (self._hid_dock or not self._dock.isHidden())
        return (_NARROW if self._hid_dock else "") + (_BY_HAND if is_wanted else "")

    async def restore(self, conversations: Conversations) -> None:
        """Bring back what was saved. Raises SophosError of the store."""
        geometry = await conversations.app_state(_GEOMETRY)
        splitter = await conversations.app_state(_SPLITTER)
        state = await conversations.app_state(_STATE)
        listed = await conversations.app_state(_LIST)
        self._theme.choose_zoom(zoom_of(await conversations.app_state(_ZOOM)))
        if geometry:
            self._window.restoreGeometry(_bytes(geometry))
        if state:
            self._hid_dock = _NARROW in state
            self._opened_by_hand = _BY_HAND in state
            bare = state.removeprefix(_NARROW).removeprefix(_BY_HAND)
            self._window.restoreState(_bytes(bare), _STATE_VERSION)
        if splitter:
            self._splitter.restoreState(_bytes(splitter))
            self._on_splitter_moved()
        self._panel.setVisible(listed != "hidden")
        self.fit()


def _text(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    return QByteArray.fromBase64(text.encode("ascii"))
