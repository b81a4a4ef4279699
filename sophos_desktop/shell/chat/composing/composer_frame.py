"""The composer with what belongs to it: chips above the field, below it a row of buttons.

Invariant: it decides nothing: what a person wants is told by signals. Stop takes the place of Send while a
run is active.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.shell.chat.cards.card import MarkView, set_property
from sophos_desktop.shell.chat.composer import Composer, SendKey
from sophos_desktop.shell.chat.composing.attachment_chip import chip_style
from sophos_desktop.shell.chat.composing.chip_area import INSET, ChipArea, ShownAttachment
from sophos_desktop.shell.chat.composing.drop_target import DropTarget, drop_style
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.foldaway import Foldaway

_WRITE = "Write a message"
_WRITE_NEXT = "Write the next message"
_WRITE_WHILE_WAITING = "Write a message. It is kept until you have decided"
_HINT_FITS = 400  # the narrowest composer with room for the hint beside the buttons
_ICON, _STOP_ICON = 18, 12
_BEFORE_SEND = 8
_HINTS: Final = {
    SendKey.ENTER: ("Enter sends, Shift+Enter breaks the line", "Send (Enter)"),
    SendKey.CTRL_ENTER: ("Ctrl+Enter sends, Enter breaks the line", "Send (Ctrl+Enter)"),
}


class ComposerFrame(QFrame):
    """Lives as long as its window. Other parts of the window add theirs to `tools`, left of the hint."""

    send_requested = Signal()
    stop_requested = Signal()
    attach_requested = Signal()
    remove_wanted = Signal(object)  # AttachmentRef
    incoming = Signal(object)  # Sequence[Incoming]: pasted or dropped
    model_changed = Signal()  # another model is chosen; told by the part that chooses it

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty, one line high, nothing to send."""
        super().__init__(parent)
        self.setObjectName("composerFrame")
        self._theme = theme
        self._is_waiting = self._is_running = False
        self._closed_words: str | None = None
        self._has_room = True
        self._width = 10 * _HINT_FITS  # until somebody says it
        self._row = QHBoxLayout()
        self.field = Composer(self)
        self._attached = Foldaway(self)
        self.chips = ChipArea(theme, self._attached.inside, tab_after=self.field)
        self._warning = QWidget(self._attached.inside)
        self._warning_words = QLabel(self._warning)
        self.attach_button = QToolButton(self)
        self.hint = QLabel(self)
        self.stop_button = QPushButton(self)
        self.send_button = QPushButton(self)
        self.tools = QHBoxLayout()
        self._make_buttons()
        self._make_warning()
        self._lay_out()
        self.drop_target = DropTarget(theme, self)
        self.set_send_key(SendKey.ENTER)
        self._connect()
        self._on_sizes_changed()

    def _make_buttons(self) -> None:
        attach, send, stop = self.attach_button, self.send_button, self.stop_button
        attach.setObjectName("attachButton")
        attach.setAccessibleName("Attach files")
        attach.setToolTip("Attach text files or images")
        attach.setProperty("quiet", "true")
        attach.setIcon(icon(Mark.ATTACH, self._theme))
        IconFit(attach, _ICON, self._theme, lambda: (self._theme.tokens.measures.icon_button,) * 2)
        attach.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        send.setObjectName("sendButton")
        send.setAccessibleName("Send")
        send.setProperty("primary", "true")
        send.setIcon(icon(Mark.SEND, self._theme, "on_accent", {QIcon.Mode.Disabled: "text_3"}))
        IconFit(send, _ICON, self._theme)
        stop.setObjectName("stopButton")
        stop.setAccessibleName("Stop")
        stop.setToolTip("Stop (Esc)")
        stop.setIcon(icon(Mark.STOP, self._theme, "text"))
        IconFit(stop, _STOP_ICON, self._theme)
        stop.hide()

    def _make_warning(self) -> None:
        self._warning.setObjectName("attachmentWarning")
        self._warning_words.setWordWrap(True)
        self._warning_words.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout(self._warning)
        row.setContentsMargins(12, 0, 8, 4)
        row.setSpacing(6)
        mark = MarkView(Mark.WARNING, "warning", 14, self._theme, self._warning)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._warning_words, 1)
        self._warning.hide()

    def _lay_out(self) -> None:
        self.hint.setObjectName("composerHint")
        self.tools.setSpacing(4)
        row = self._row
        row.setContentsMargins(8, 4, 8, 8)
        row.setSpacing(4)
        row.addWidget(self.attach_button)
        row.addLayout(self.tools)
        row.addStretch(1)
        row.addWidget(self.hint)
        row.addSpacing(_BEFORE_SEND)
        row.addWidget(self.stop_button)
        row.addWidget(self.send_button)
        around = QVBoxLayout()
        margin = 16 - self.field.text_margin
        around.setContentsMargins(margin, 4, 8, 0)
        around.addWidget(self.field)
        beside = QVBoxLayout()
        beside.setContentsMargins(12 - INSET, 0, 8, 0)
        beside.addWidget(self.chips)
        attached = QVBoxLayout(self._attached.inside)
        attached.setContentsMargins(0, 0, 0, 0)
        attached.setSpacing(0)
        attached.addLayout(beside)
        attached.addWidget(self._warning)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10 - INSET, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._attached)
        column.addLayout(around)
        column.addLayout(row)

    def _connect(self) -> None:
        field = self.field
        field.send_requested.connect(self.send_requested)
        field.focus_changed.connect(self._on_focus_changed)
        field.incoming.connect(self.incoming)
        field.textChanged.connect(self._show_hint)
        self.send_button.clicked.connect(lambda: self.send_requested.emit())
        self.stop_button.clicked.connect(lambda: self.stop_requested.emit())
        self.attach_button.clicked.connect(lambda: self.attach_requested.emit())
        self.chips.remove_wanted.connect(self.remove_wanted)
        self.chips.emptied.connect(field.setFocus)
        self.drop_target.dropped.connect(self.incoming)
        self._theme.sizes_changed.connect(self._on_sizes_changed)

    # What it shows

    def show_attachments(self, shown: Sequence[ShownAttachment], warning: str = "") -> None:
        """Chips for exactly these; `warning`: what is to be said of some of them."""
        if shown or warning:
            self._attached.show()
        self.chips.show_attachments(shown)
        is_new = warning != self._warning_words.text()
        self._warning_words.setText(warning)
        self._warning.setAccessibleName(warning)
        self._warning.setVisible(bool(warning))
        self._attached.setVisible(bool(shown or warning))
        if is_new:
            announce(self._warning, warning)

    def show_running(self, *, is_running: bool, can_send: bool, can_stop: bool) -> None:
        """Set the two buttons."""
        self._is_running = is_running
        self.send_button.setVisible(not is_running)
        self.send_button.setEnabled(can_send)
        self.stop_button.setVisible(is_running)
        self.stop_button.setEnabled(can_stop)
        self._show_hint()

    def show_waiting(self, *, is_waiting: bool) -> None:
        """Say what becomes of a message while calls wait for a decision."""
        self._is_waiting = is_waiting
        self._show_hint()

    def close_for_work(self, why: str = "") -> None:
        """Nothing is taken any more; `why` stands where one would write."""
        self._closed_words = why
        self._show_hint()
        self.field.setReadOnly(True)
        self.attach_button.setEnabled(False)
        self.chips.setEnabled(False)
        self.drop_target.setEnabled(False)

    def set_send_key(self, name: str) -> None:
        """Which key sends from now on; a value of `SendKey`."""
        key = SendKey(name)
        self.field.set_send_key(key)
        hint, tip = _HINTS[key]
        self.hint.setText(hint)
        self.send_button.setToolTip(tip)

    def fit(self, width: int) -> None:
        """The window or the column, `width` pixels wide, has another size."""
        self._width, self._has_room = width, width > _HINT_FITS
        self._show_hint()
        self.field.fit_window()

    def _show_hint(self) -> None:
        """Only while nothing is written: then it is news, and never beside what is read. It gives way before
        the model's name is cut."""
        is_open = self._closed_words is None
        is_wanted = is_open and self._has_room and not self._is_running and self.field.is_empty
        self.hint.setVisible(is_wanted and self._width_with_hint() <= self._width)
        words = _WRITE_NEXT if self._is_running else _WRITE
        words = _WRITE_WHILE_WAITING if self._is_waiting and self._has_room else words
        words = words if self._closed_words is None else self._closed_words
        if words != self.field.placeholderText():
            self.field.setPlaceholderText(words)
            self.field.viewport().update()  # Qt 6.11 draws it anew only when it comes or goes

    def _width_with_hint(self) -> int:
        """What the row of buttons needs with everything in full."""
        parts = (self.attach_button, self.tools, self.hint, self.send_button)
        margins = self._row.contentsMargins()
        gaps = self._row.spacing() * self._row.count() + _BEFORE_SEND
        return margins.left() + margins.right() + gaps + sum(part.sizeHint().width() for part in parts)

    def event(self, event: QEvent) -> bool:
        """Another model has another name."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._show_hint()
        return super().event(event)

    def _on_focus_changed(self, focused: bool) -> None:  # noqa: FBT001 (a Qt slot)
        set_property(self, "focused", "true" if focused else "false")

    def _on_sizes_changed(self) -> None:
        self._show_hint()  # other sizes need other room


def composer_style(t: Tokens) -> str:
    """The style sheet's rules for what is in the composer."""
    radius, inner = t.measures.card_radius, t.measures.send - 2
    own = f"""
#sendButton, #stopButton {{ padding: 0; border-radius: {radius}px;
  min-height: {inner}px; max-height: {inner}px; min-width: {inner}px; max-width: {inner}px; }}
#stopButton {{ border-color: {t.border_control}; }}
#attachmentWarning, #attachmentWarning QLabel {{ background: transparent; border: none; color: {t.warning};
  font-size: {t.type.small.size}px; }}
"""
    return own + chip_style(t) + drop_style(t)
