"""Buttons that decide something, and when they may.

Invariant: a key decides only where it was meant: on a button that the person went to and that can be seen, a
moment after its card came into the view; a click only if it is not the second half of one that decided
another card.
"""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QEvent, Qt, Signal
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
    """When a button of any of the cards was pressed last. Lives as long as their window."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """`now` gives seconds that only grow."""
        self.now = now
        self.is_by_mouse = False  # the last press
        self.pressed_at: float | None = None  # when a button was pressed last

    def note_press(self) -> None:
        """A button of a card was pressed."""
        self.pressed_at = self.now()

    @property
    def was_just_pressed(self) -> bool:
        """What the person does now may be the second half of a double click."""
        if self.pressed_at is None:
            return False
        return self.now() - self.pressed_at < QApplication.doubleClickInterval() / 1000

    def takes_keys(self, appeared_at: float) -> bool:
        """True once a person can have seen what appeared then."""
        return self.now() - appeared_at >= MOMENT_SECONDS

    def takes_clicks(self, appeared_at: float) -> bool:
        """False for a card that came under the pointer by the press of a button."""
        if self.pressed_at is None or self.pressed_at > appeared_at:
            return True
        return not self.was_just_pressed


class CarefulButton(QPushButton):
    """Belongs to its card."""

    unseen_pressed = Signal()  # a key was meant for it while it was out of the view

    def __init__(
        self, name: str, text: str, readiness: Readiness, parent: QWidget, card: QWidget | None = None
    ) -> None:
        """Takes no focus by itself. `card`: what it is a part of, if more than `parent`."""
        super().__init__(text, parent)
        self.setObjectName(name)
        self.setAutoDefault(False)
        self._readiness = readiness
        self._appeared_at = readiness.now()
        self._displaced_by: float | None = None
        self._was_meant = False
        self._card = parent if card is None else card
        self._has_mnemonic = self._decides_from_outside = True
        self.say(text)

    def say(self, text: str, description: str = "") -> None:
        """Another text; the accessible name has no mnemonic."""
        self._words = text
        self._show_words()
        self.setAccessibleName(text.replace("&", "").removesuffix("…"))
        if description:
            self.setAccessibleDescription(description)

    def give_mnemonic(self, *, is_given: bool, decides_from_outside: bool) -> None:
        """Two buttons with the same mnemonic would take turns, so that only one card has any. Unless it
        `decides_from_outside`, it only leads here while the keyboard is not in the card."""
        self._has_mnemonic, self._decides_from_outside = is_given, decides_from_outside
        self._show_words()

    def _show_words(self) -> None:
        words = self._words if self._has_mnemonic else self._words.replace("&", "")
        if words != self.text():
            self.setText(words)

    def appear(self) -> None:
        """It can be seen from now on."""
        self._appeared_at = self._readiness.now()

    def note_displaced(self, *, is_displaced: bool) -> None:
        """It stands elsewhere than when a button was pressed last, or is back again."""
        self._displaced_by = self._readiness.pressed_at if is_displaced else None

    @property
    def takes_clicks(self) -> bool:
        """False for what came under the pointer by a press a moment ago."""
        readiness = self._readiness
        is_displaced = self._displaced_by is not None and self._displaced_by == readiness.pressed_at
        return readiness.takes_clicks(self._appeared_at) and not (is_displaced and readiness.was_just_pressed)

    @property
    def takes_keys(self) -> bool:
        """True if a key would be heard."""
        return self._is_seen and self._readiness.takes_keys(self._appeared_at)

    @property
    def _is_reached(self) -> bool:
        focus = self.window().focusWidget()
        return self._decides_from_outside or (focus is not None and self._card.isAncestorOf(focus))

    @property
    def _is_seen(self) -> bool:
        return not self.visibleRegion().isEmpty()

    def event(self, event: QEvent) -> bool:
        """A mnemonic is a key too."""
        if event.type() == QEvent.Type.Shortcut and not self.takes_keys:
            event.accept()
            self._say_unseen()
            return True
        if event.type() == QEvent.Type.Shortcut and not self._is_reached:
            event.accept()
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return True
        if event.type() == QEvent.Type.Shortcut:
            self._readiness.is_by_mouse = False
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
            self._say_unseen()
            return
        self._readiness.is_by_mouse = False
        if event.key() in _ENTER_KEYS:
            self.click()
        else:
            super().keyPressEvent(event)

    def _say_unseen(self) -> None:
        if not self._is_seen:
            self.unseen_pressed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Not for the second half of a double click."""
        if self.takes_clicks:
            self._readiness.is_by_mouse = True
            super().mousePressEvent(event)
        else:
            event.accept()
