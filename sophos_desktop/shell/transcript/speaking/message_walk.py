"""Which message the keyboard is at, and the keys that lead from one to the next.

Invariant: there is a current message only once the view had the focus by a key; a bar beside the text shows
it. Ctrl with Up and Down always walks; the plain keys scroll, and walk only while something speaks the
window.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.view.news import END_ROOM
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_BAR_WIDTH = 3
_BAR_DISTANCE = 12  # from the text
_BY_TAB = Qt.FocusPolicy.TabFocus
_BY_HAND = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.PopupFocusReason)
_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_ENDS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageWalk(QObject):
    """Lives as long as its view, on the GUI thread."""

    moved = Signal(int)  # the message that is current now, by the keyboard
    read_wanted = Signal(int)  # a caret is wanted in the text of a message

    def __init__(
        self, view: TranscriptView, selection: Selection, is_spoken: Callable[[], bool] = QAccessible.isActive
    ) -> None:
        """No message is current. `is_spoken`: whether the plain keys walk."""
        super().__init__(view)
        self._view = view
        self._selection = selection
        self._is_spoken = is_spoken
        self._key: int | None = None
        self._is_walking = False
        self._bar = _Bar(view)
        self._telling = QTimer(self)  # Qt tells of the view's own focus after this filter has seen it
        self._telling.setSingleShot(True)
        self._telling.timeout.connect(self._tell)
        view.installEventFilter(self)
        view.layoutChanged.connect(self._place_bar)
        selection.changed.connect(self._on_selection_changed)
        view.model.was_reset.connect(self._forget)

    @property
    def current(self) -> int | None:
        """The message that the keyboard is at; None before it was at any, or when that is gone."""
        if self._key is None:
            return None
        model = self._view.model
        return next((index for index in self._near() if model.key(index) == self._key), None)

    @property
    def count(self) -> int:
        """How many messages there are to walk: room at the end is none."""
        model = self._view.model
        count = len(model)
        return count - 1 if count and model.message(count - 1).id == END_ROOM else count

    def go_to(self, message: int) -> None:
        """Make a message the current one, and bring its beginning into the view."""
        view, model = self._view, self._view.model
        self._is_walking = True
        if model.message(message).kind is MessageKind.CARD:
            self._selection.clear()
            view.scroll_to_message(message)
        else:
            place = TextPosition(message, 0, 0)
            self._selection.select(place, place)
            view.scroll_to(place)
        self._is_walking = False
        self._key = model.key(message)
        view.refresh()
        self._tell()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys and focus of the view."""
        if watched is self._view:
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                if self._on_key(event):
                    return True
            elif event.type() == QEvent.Type.FocusIn and isinstance(event, QFocusEvent):
                self._on_focus_in(event.reason())
            elif event.type() == QEvent.Type.FocusOut:
                self._telling.stop()
                self._bar.hide()
        return super().eventFilter(watched, event)

    def _on_focus_in(self, reason: Qt.FocusReason) -> None:
        is_spoken = self._is_spoken()
        if reason in _BY_HAND or not (is_spoken or reason in _BY_KEY):
            return
        if self.current is None and self.count:
            last = self.count - 1 if is_spoken else self._last_seen()
            self._key = self._view.model.key(last)
            if is_spoken:  # else the plain keys would move the caret and no longer scroll
                self._put_caret(last)
        self._telling.start(0)

    def _put_caret(self, message: int) -> None:
        """What acts on the message of the caret, reading it or its menu, means the one that was spoken."""
        model = self._view.model
        if self._selection.caret is None and model.message(message).kind is not MessageKind.CARD:
            self._is_walking = True
            place = TextPosition(message, 0, 0)
            self._selection.select(place, place)
            self._is_walking = False

    def _on_key(self, event: QKeyEvent) -> bool:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_plain = modifiers == Qt.KeyboardModifier.NoModifier
        if is_plain and (key in _ENTER or key == Qt.Key.Key_F7):
            return (key in _ENTER and self._enter_card()) or self._read()
        is_spoken = self._is_spoken()
        walks = modifiers == Qt.KeyboardModifier.ControlModifier or (is_plain and is_spoken)
        if not walks or not self.count or key not in ((*_STEPS, *_ENDS) if is_spoken else _STEPS):
            return False
        if key in _ENDS:
            self.go_to(0 if key == Qt.Key.Key_Home else self.count - 1)
            if key == Qt.Key.Key_End:
                self._view.jump_to_latest()
            return True
        start = self.current
        if start is None:
            self.go_to(self._first_seen())
        else:
            self.go_to(max(0, min(self.count - 1, start + _STEPS[key])))
        return True

    def _enter_card(self) -> bool:
        """Enter on a card goes to the first thing in it that has the keyboard; on a text it is read."""
        message = self.current
        if message is None or self._view.model.message(message).kind is not MessageKind.CARD:
            return False
        card = self._view.card(message)
        if card is None:
            return False
        for part in card.findChildren(QWidget):
            if part.focusPolicy() & _BY_TAB and part.isVisible() and part.isEnabled():
                part.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return False

    def _read(self) -> bool:
        """The message of the caret, or the first behind it in the view that has text."""
        message = self._selection.current_message
        if message is None:
            return False
        model = self._view.model
        seen = self._view.transcript_layout.visible_messages
        for candidate in (message, *(one for one in seen if one > message)):
            if model.message(candidate).kind is not MessageKind.CARD and model.length(candidate):
                self.read_wanted.emit(candidate)
                return True
        return False

    def _first_seen(self) -> int:
        seen = self._view.transcript_layout.visible_messages
        return min(seen.start, self.count - 1) if len(seen) else 0

    def _last_seen(self) -> int:
        seen = self._view.transcript_layout.visible_messages
        return min(seen.stop, self.count) - 1 if len(seen) else self.count - 1

    def _near(self) -> list[int]:
        """Where to look for the current message: what is seen first."""
        seen = self._view.transcript_layout.visible_messages
        count = self.count
        return [*(one for one in seen if one < count), *(one for one in range(count) if one not in seen)]

    def _on_selection_changed(self) -> None:
        caret = self._selection.caret
        if caret is not None and not self._is_walking and caret.message < len(self._view.model):
            self._key = self._view.model.key(caret.message)
            self._bar.hide()

    def _forget(self) -> None:
        self._key = None
        self._bar.hide()

    def _tell(self) -> None:
        message = self.current
        if message is not None and self._view.hasFocus():
            self._bar.show()
            self._place_bar()
            self.moved.emit(message)

    def _place_bar(self) -> None:
        if self._bar.isHidden():
            return
        message = self.current
        placed = [part for part in self._view.transcript_layout.placed if part.message == message]
        if message is None or not placed:
            self._bar.move(0, -self._bar.height() - 1)
            return
        looks = self._view.looks
        self._bar.colour = QColor(looks.tokens.accent)
        left = self._view.geometry_of_text.column_left - looks.scaled(_BAR_DISTANCE)
        height = self._view.viewport().height()
        top, bottom = max(0, placed[0].top), min(height, placed[-1].bottom)
        self._bar.setGeometry(max(0, left), top, _BAR_WIDTH, max(1, bottom - top))


class _Bar(QWidget):
    """Opaque, so that the view can move its pixels along."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view.viewport())
        self.setObjectName("currentMessageBar")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.colour = QColor()
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.colour)
        painter.end()
