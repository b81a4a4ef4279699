"""Where the parts of the window are and how large all is: kept over a restart, and fitted to the width.

Invariant: a narrow window hides the trace dock by itself, a narrower one makes the list a rail, and a wide
one gives both back; what the person hid stays hidden, and what the person opened by hand stays open as long
as the transcript keeps its narrowest width.
"""

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSplitter

from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.facade import Conversations
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.zoom import zoom_of

_GEOMETRY = "window_geometry"
_SPLITTER = "window_splitter"
_STATE = "window_state"
_LIST = "window_list"
_ZOOM = "window_zoom"
_NARROW, _BY_HAND = "narrow ", "by-hand "  # before the state: the dock is hidden, or was opened
_STATE_VERSION = 1


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
        panel.list_wanted.connect(self._on_list_wanted)
        panel.chosen.connect(self._on_chosen)
        dock.toggleViewAction().triggered.connect(self._on_dock_toggled)

    def _on_dock_toggled(self, shown: bool) -> None:  # noqa: FBT001 (a Qt slot)
        self._hid_dock = False
        self._opened_by_hand = shown

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
        is_wide = self._window.width() >= MEASURES.dock_fits_width
        may_stay = is_wide or (self._opened_by_hand and self._has_room_for_dock)
        if not may_stay and not self._dock.isHidden() and not self._dock.isFloating():
            self._hid_dock = True
            self._dock.hide()
        elif may_stay and self._hid_dock:
            self._hid_dock = False
            self._dock.show()

    @property
    def _has_room_for_dock(self) -> bool:
        is_listed = self._window.width() >= MEASURES.list_fits_width
        wide, rail = self._panel.width() + 1, MEASURES.rail_width
        beside = 0 if self._panel.isHidden() else wide if is_listed and not self._panel.is_rail else rail
        dock = max(self._dock.width(), MEASURES.dock_narrowest)
        return self._window.width() - beside - dock >= MEASURES.transcript_narrowest

    def _fit_list(self) -> None:
        is_narrow = self._window.width() < MEASURES.list_fits_width
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
            self._splitter.restoreState(self._wide_splitter)

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
        self._panel.setVisible(listed != "hidden")
        self.fit()


def _text(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    return QByteArray.fromBase64(text.encode("ascii"))
