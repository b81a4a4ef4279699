"""One attachment as a chip: icon, name, size, and a button that takes it away.

Invariant: it decides nothing; its whole name and everything it warns of are its tooltip and its accessible
name.
"""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from sophos_desktop.core.domain.attaching import is_image
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.shell.chat.cards.card import MarkView, set_property
from sophos_desktop.shell.chat.composing.attachment_words import size_words
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import row_height
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.widgets.plain_tip import plain_tip

_ICON, _CLOSE, _REMOVE = 14, 14, 24
_NAME_WIDTH, _LEAST_NAME = 160, 40
_PADDING = 8


class AttachmentChip(QFrame):
    """Lives as long as its attachment is shown. `attachment` is None while its file is read."""

    remove_wanted = Signal()

    def __init__(
        self, name: str, attachment: AttachmentRef | None, theme: Theme, parent: QWidget, *, removable: bool
    ) -> None:
        """`removable`: there is a button that asks for its removal."""
        super().__init__(parent)
        self.setObjectName("attachmentChip")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.attachment = attachment
        self.name = name
        self._kind = Mark.IMAGE if attachment is not None and is_image(attachment) else Mark.FILE
        self._mark = MarkView(self._kind, "text_2", _ICON, theme, self)
        self._name = _NameLabel(name, self)
        self._size = QLabel("reading…" if attachment is None else size_words(attachment), self)
        self._size.setProperty("part", "chipSize")
        self.remove_button: QToolButton | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(_PADDING, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._mark)
        row.addSpacing(_PADDING - 2)
        row.addWidget(self._name)
        row.addSpacing(_PADDING - 2)
        row.addWidget(self._size)
        row.addSpacing(1 if removable else _PADDING)
        if removable:
            row.addWidget(self._make_remove_button(theme))
        self.warn("")

    def _make_remove_button(self, theme: Theme) -> QToolButton:
        button = self.remove_button = QToolButton(self)
        button.setObjectName("attachmentRemove")
        button.setProperty("quiet", "true")
        button.setIcon(icon(Mark.CLOSE, theme))
        IconFit(button, _CLOSE, theme, lambda: (row_height(_REMOVE),) * 2)
        button.setAccessibleName(f"Remove {self.name}")
        button.setToolTip(plain_tip(f"Remove {self.name}"))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setEnabled(self.attachment is not None)
        button.clicked.connect(lambda: self.remove_wanted.emit())
        return button

    def warn(self, words: str) -> None:
        """Say why it does not reach the model; nothing takes the warning away."""
        is_warned = bool(words)
        set_property(self, "warned", "true" if is_warned else "false")
        self._mark.show_mark(Mark.WARNING if is_warned else self._kind, "warning" if is_warned else "text_2")
        said = self.said
        self.setToolTip(plain_tip(f"{said}\n{words}" if words else said))
        self.setAccessibleName(f"Attachment {said}. {words}".strip().removesuffix("."))

    @property
    def said(self) -> str:
        """Its name and its size."""
        return f"{self.name}, {self._size.text()}"

    @property
    def is_warned(self) -> bool:
        """True while it says why it does not reach the model."""
        return bool(self.property("warned") == "true")


class _NameLabel(QLabel):
    """A name of one line, elided in its middle, where the two ends that tell files apart stay."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("part", "chipName")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._whole = " ".join(name.split())

    def sizeHint(self) -> QSize:
        """As wide as the name, up to a bound."""
        self.ensurePolished()
        metrics = self.fontMetrics()
        shown = metrics.elidedText(self._whole, Qt.TextElideMode.ElideMiddle, _NAME_WIDTH)
        return QSize(metrics.horizontalAdvance(shown) + 1, metrics.height())

    def minimumSizeHint(self) -> QSize:
        """Where the whole row is narrower than the chip."""
        return QSize(min(_LEAST_NAME, self.sizeHint().width()), self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As much of it as fits."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """The style sheet came, or another size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
            self._elide()

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, self.width()))


def chip_style(t: Tokens) -> str:
    """The style sheet's rules for chips."""
    return f"""
#attachmentChip {{ background: {t.raised}; border: 1px solid {t.border_strong};
  border-radius: {t.measures.button_radius}px; }}
#attachmentChip[warned="true"] {{ border-color: {t.warning_line}; }}
#attachmentChip QLabel {{ background: transparent; border: none; color: {t.text_2};
  font-size: {t.type.small.size}px; }}
#attachmentChip[warned="true"] QLabel[part="chipName"] {{ color: {t.warning}; }}
"""
