"""Says in the window that a tool server defines a tool otherwise than before.

Invariant: each change is said once, until the person closes the message; the next one opens it again.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from sophos_desktop.core.domain.events import Notice
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.shapes import Shape

_SHOWN = 3
_TITLE = "Tools are not what they were"
_REMEDY = "A tool that changed is asked about again, whatever you allowed. See Tools > Permissions."


class ChangedTools(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    permissions_wanted = Signal()

    def __init__(self, theme: Theme, window: QWidget) -> None:
        """Says nothing yet; `banner` wants a place."""
        super().__init__(window)
        self.banner = Banner("changedToolsBanner", "warning", Shape.WARNING, theme, window, closable=True)
        button = self.banner.add_button("changedToolsButton", "Permissions…")
        button.clicked.connect(lambda: self.permissions_wanted.emit())
        self.banner.closed.connect(self._on_closed)
        self._said: list[str] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    def attach(self, core: Core) -> None:
        """The core is open: say what changed since it was closed, and what changes from now on."""
        self._unsubscribe = core.definitions.subscribe(self._on_changed)
        for notice in core.definitions.changes():
            self._on_changed(notice)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._unsubscribe = lambda: None

    def _on_changed(self, notice: Notice) -> None:
        if notice.text not in self._said:
            self._said.append(notice.text)
        shown = [f"{text[:1].upper()}{text[1:]}." for text in self._said[-_SHOWN:]]
        more = len(self._said) - len(shown)
        if more:
            shown.insert(0, f"And {more} more before these.")
        self.banner.show_message(_TITLE, "\n".join([*shown, _REMEDY]), notice.code)

    def _on_closed(self) -> None:
        self._said.clear()
