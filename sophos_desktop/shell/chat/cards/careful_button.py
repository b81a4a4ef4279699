"""Buttons that decide something, and when they may.

Invariant: a key decides only where it was meant: on a button that the person went to, a moment after its
card appeared; a click only if it is not the second half of one that decided another card.
"""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

MOMENT_SECONDS = 0.3
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_DECIDING_KEYS = (*_ENTER_KEYS, Qt.Key.Key_Space, Qt.Key.Key_Select)
_MEANT = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.MouseFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Readiness:
    """When a button of a column's cards was pressed last. Lives as long as the column."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """`now` gives seconds that only grow."""
        self.now = now
        self._pressed_at: float | None = None

    def note_press(self) -> None:
        """A button of a card was pressed."""
        self._pressed_at = self.now()

    def takes_keys(self, appeared_at: float) -> bool:
        """True once a person can have seen what appeared then."""
        return self.now() - appeared_at >= MOMENT_SECONDS

    def takes_clicks(self, appeared_at: float) -> bool:
        """False for a card that came under the pointer by the press of a button."""
        if self._pressed_at is None or self._pressed_at > appeared_at:
            return True
        return self.now() - self._pressed_at >= QApplication.doubleClickInterval() / 1000


class CarefulButton(QPushButton):
    """Belongs to its card."""

    def __init__(self, name: str, text: str, readiness: Readiness, parent: QWidget) -> None:
        """Takes no focus by itself."""
        super().__init__(text, parent)
        self.setObjectName(name)
        self.setAutoDefault(False)
        self._readiness = readiness
        self._appeared_at = readiness.now()
        self._was_meant = False
        self.say(text)

    def say(self, text: str, description: str = "") -> None:
        """Another text; the accessible name has no mnemonic."""
        self.setText(text)
        self.setAccessibleName(text.replace("&", "").removesuffix("…"))
        if description:
            self.setAccessibleDescription(description)

    def appear(self) -> None:
        """It can be seen from now on."""
        self._appeared_at = self._readiness.now()

    @property
    def takes_keys(self) -> bool:
        """True if a key would be heard."""
        return self._readiness.takes_keys(self._appeared_at)

    def event(self, event: QEvent) -> bool:
        """A mnemonic is a key too."""
        if event.type() == QEvent.Type.Shortcut and not self.takes_keys:
            event.accept()
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Remember whether the person came here."""
        self._was_meant = event.reason() in _MEANT or (
            self._was_meant and event.reason() == Qt.FocusReason.ActiveWindowFocusReason
        )
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses it, as Space does."""
        if event.key() not in _DECIDING_KEYS:
            super().keyPressEvent(event)
            return
        event.accept()
        if event.isAutoRepeat() or not self._was_meant or not self.takes_keys:
            return
        if event.key() in _ENTER_KEYS:
            self.click()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Not for the second half of a double click."""
        if self._readiness.takes_clicks(self._appeared_at):
            super().mousePressEvent(event)
        else:
            event.accept()
