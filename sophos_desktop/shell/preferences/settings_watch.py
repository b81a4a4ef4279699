"""Tells which settings were changed outside this window: by another process, or in the file itself.

Invariant: a setting is told once for each change of the value in force, whoever wrote it.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal

from sophos_desktop.shell.facade import Core


class SettingsWatch(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    changed = Signal(str)  # key

    def __init__(self, parent: QObject) -> None:
        """Knows no settings yet."""
        super().__init__(parent)
        self._core: Core | None = None
        self._known: Mapping[str, object] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core
        self._known = _values(core)
        self._unsubscribe = core.neighbours.subscribe(self._compare)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._core = None

    def _compare(self) -> None:
        if self._core is None:
            return
        before, self._known = self._known, _values(self._core)
        for key, value in self._known.items():
            if before.get(key) != value:
                self.changed.emit(key)


def _values(core: Core) -> Mapping[str, object]:
    return {item.key: item.value for item in core.settings.items()}
