"""Where the parts of the window are: kept over a restart, and fitted to the width.

Invariant: a narrow window hides the trace dock by itself, a narrower one makes the list a rail, and a wide
one gives both back; what the person hid or opened by hand stays so.
"""

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSplitter

from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.facade import Conversations
from sophos_desktop.shell.theme.measures import MEASURES

_GEOMETRY = "window_geometry"
_SPLITTER = "window_splitter"
_STATE = "window_state"
_LIST = "window_list"
_STATE_VERSION = 1


class WindowLayout(QObject):
    """Lives as long as its window."""

    def __init__(
        self, window: QMainWindow, splitter: QSplitter, panel: ConversationPanel, dock: QDockWidget
    ) -> None:
        """`panel` is the list at the left, `dock` the trace at the right."""
        super().__init__(window)
        self._window = window
        self._splitter = splitter
        self._panel = panel
        self._dock = dock
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
        is_narrow = self._window.width() < MEASURES.dock_fits_width
        if is_narrow and not self._dock.isHidden() and not self._dock.isFloating():
            if not self._opened_by_hand:
                self._hid_dock = True
                self._dock.hide()
        elif not is_narrow and self._hid_dock:
            self._hid_dock = False
            self._dock.show()

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
            _STATE: ("narrow " if self._hid_dock else "") + _text(self._window.saveState(_STATE_VERSION)),
            _LIST: "hidden" if self._panel.isHidden() else "shown",
        }
        for key, value in state.items():
            await conversations.save_app_state(key, value)

    async def restore(self, conversations: Conversations) -> None:
        """Bring back what was saved. Raises SophosError of the store."""
        geometry = await conversations.app_state(_GEOMETRY)
        splitter = await conversations.app_state(_SPLITTER)
        state = await conversations.app_state(_STATE)
        listed = await conversations.app_state(_LIST)
        if geometry:
            self._window.restoreGeometry(_bytes(geometry))
        if state:
            was_narrow = state.startswith("narrow ")
            self._window.restoreState(_bytes(state.removeprefix("narrow ")), _STATE_VERSION)
            self._hid_dock = was_narrow
            self._opened_by_hand = not was_narrow and not self._dock.isHidden()
        if splitter:
            self._splitter.restoreState(_bytes(splitter))
        self._panel.setVisible(listed != "hidden")
        self.fit()


def _text(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    return QByteArray.fromBase64(text.encode("ascii"))
