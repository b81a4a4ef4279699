"""A message with buttons that takes its own space and can be closed.

Invariant: a banner that says nothing is not on the screen; its whole text is its accessible name.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import icon, mark_size
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.foldaway import Foldaway
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap
from sophos_desktop.shell.widgets.words import breakable

_WORD_GAP = 4
_SLACK = 14  # a label breaks its words a little before they would not fit
_ABOVE = 8
_LINE = 1  # the resume banner's own, and half of the others' two
_TONE_COLOURS = {"danger": "danger", "warning": "warning", "notice": "accent", "resume": "plum"}


class Banner(Foldaway):
    """Hidden until `show_message`; lives as long as its window."""

    closed = Signal()

    def __init__(
        self,
        name: str,
        tone: str,
        shape: Shape,
        theme: Theme,
        parent: QWidget,
        *,
        closable: bool,
        buttons_below: bool = False,
    ) -> None:
        """`name` is the object name; `tone` one of `danger`, `warning`, `notice`, `resume`."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("tone", tone)
        self._tone = tone
        self._said = ("", "", "")
        self._shape = shape
        self._theme = theme
        self._icon = QLabel(self.inside)
        self._icon.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._title = self._label("title")
        self._text = self._label("text")
        self._code = self._label("code")
        self._code.setFont(code_font(TYPE.badge.size))
        self._row = QHBoxLayout(self.inside)
        self._row.setContentsMargins(16, _ABOVE, 12, _ABOVE)
        self._row.setSpacing(12)
        self._head = QWidget(self.inside)
        head = self._head_row = QHBoxLayout(self._head)
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._code, 1, Qt.AlignmentFlag.AlignVCenter)
        self._sentences = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._sentences.setSpacing(2)
        self._sentences.addWidget(self._head)
        self._sentences.addWidget(self._text, 1)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addLayout(self._sentences)
        self._row.addStrut(MEASURES.banner - 2 * _ABOVE - _LINE)
        self._row.addWidget(self._icon)
        self._row.addLayout(words, 1)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        if buttons_below:
            self._buttons.addStretch(1)
            words.addSpacing(8)
            words.addLayout(self._buttons)
        else:
            self._row.addLayout(self._buttons)
        if closable:
            self._add_close_button()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _label(self, part: str) -> QLabel:
        label = QLabel(self.inside)
        label.setProperty("part", part)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.hide()
        return label

    def _add_close_button(self) -> None:
        button = QToolButton(self.inside)
        button.setObjectName(self.objectName() + "Close")
        button.setProperty("quiet", "true")
        button.setIcon(icon(Shape.CLOSE, self._theme))
        IconFit(button, 16, self._theme, lambda: (self._theme.tokens.measures.icon_button,) * 2)
        button.setAccessibleName("Close this message")
        button.setToolTip("Close")
        button.clicked.connect(self._on_close_clicked)
        self._row.addWidget(button)

    def add_button(self, name: str, text: str, *, primary: bool = False) -> QPushButton:
        """A button at the right, in the order of the calls."""
        button = QPushButton(text, self.inside)
        button.setObjectName(name)
        button.setAccessibleName(text)
        if primary:
            button.setProperty("primary", "true")
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button

    def show_message(self, title: str, text: str = "", code: str = "") -> None:
        """Say something; empty parts take no space."""
        self.unfold()
        self._said = (title, text, code)
        for label, words in (
            (self._title, breakable(title)),
            (self._text, breakable(text)),
            (self._code, code),
        ):
            label.setText(words)
            label.setVisible(bool(words))
        self._head.setVisible(bool(title or code))
        before = self.accessibleName() if self.isVisible() else ""
        parts = [part for part in (title, text, code) if part]
        words = ". ".join((*(part.rstrip(".") for part in parts[:-1]), *parts[-1:]))
        self.setAccessibleName(words)
        self._arrange()
        self.show()
        if self.isVisible() and words != before:
            announce(self, words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One line if it fits."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Title and sentence side by side where both fit on one line and no code stands between them."""
        used = self._width_of(self._title)
        room = self.width() - self._outside() - _SLACK
        code = self._width_of(self._code)
        wanted = used + _WORD_GAP + self._width_of(self._text)
        is_line = bool(used) and not code and "\n" not in self._text.text() and wanted <= room
        is_long = used + (code + 8 if code else 0) > room
        self._title.setWordWrap(is_long)
        self._head_row.setStretch(0, 1 if is_long else 0)
        self._head_row.setStretch(1, 0 if is_long else 1)
        align = Qt.AlignmentFlag.AlignTop if is_long else Qt.AlignmentFlag.AlignVCenter
        self._head_row.setAlignment(self._code, align)
        self._sentences.setDirection(
            QBoxLayout.Direction.LeftToRight if is_line else QBoxLayout.Direction.TopToBottom
        )
        self._sentences.setSpacing(_WORD_GAP if is_line else 2)
        is_alone = not used and not code and "\n" not in self._text.text() and wanted - _WORD_GAP <= room
        self._row.setAlignment(
            self._icon, Qt.AlignmentFlag.AlignVCenter if is_line or is_alone else Qt.AlignmentFlag.AlignTop
        )

    @staticmethod
    def _width_of(label: QLabel) -> int:
        """The width of a label's words on one line."""
        label.ensurePolished()
        return label.fontMetrics().horizontalAdvance(label.text())

    def _outside(self) -> int:
        """The width of everything that is no words."""
        margins = self._row.contentsMargins()
        buttons = [part for part in self.inside.findChildren(QAbstractButton) if not part.isHidden()]
        beside = sum(part.sizeHint().width() + self._row.spacing() for part in buttons)
        mark = mark_size(MEASURES.banner_icon) + self._row.spacing()
        return margins.left() + margins.right() + mark + beside

    @property
    def title(self) -> str:
        """What the title says."""
        return self._said[0]

    @property
    def text(self) -> str:
        """What stands below the title."""
        return self._said[1]

    @property
    def code(self) -> str:
        """The error code, if any."""
        return self._said[2]

    def _on_close_clicked(self) -> None:
        self.hide()
        self.closed.emit()

    def unfold(self) -> None:
        """As a Foldaway; the icon follows the theme only while it is shown."""
        super().unfold()
        self._paint_icon()

    def _on_theme_changed(self) -> None:
        if not self.isHidden():
            self._paint_icon()

    def _paint_icon(self) -> None:
        colour = getattr(self._theme.tokens, _TONE_COLOURS[self._tone])
        pixmap = shape_pixmap(self._shape, mark_size(MEASURES.banner_icon), colour, self.devicePixelRatioF())
        self._icon.setPixmap(pixmap)
