"""What stands where a conversation will be: the mark, a title, a sentence, and what one can do from here.

Invariant: it asks for no room of its own: what does not fit is left out, the hints first, then the mark.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line, row_height, wide
from sophos_desktop.shell.theme.icons import Mark, mark_size
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.parts import MarkView
from sophos_desktop.shell.widgets.foldaway import Foldaway

_WIDTH = 360
_SIDES = 40
_MARK, _RADIUS = 40, 0.23  # of its side
_RING, _RING_MIDDLE, _STROKE, _ARM = 9.0, QPointF(20.0, 21.5), 3.0, 30.5
_ICON, _ICON_GAP, _KEY_GAP = 16, 12, 4
HINTS = (
    (Mark.ATTACH, "Drop files here to attach them", ""),
    (Mark.TOOL, "Tool servers", "Ctrl+T"),
    (Mark.KEYBOARD, "All shortcuts", "F1"),
)


class EmptyPage(Foldaway):
    """Lives as long as its view."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self.setObjectName("emptyPage")
        self._theme = theme
        self._has_hints = False
        self._block = QWidget(self.inside)
        self._mark = _OwnMark(theme, self._block)
        self._title = self._label("emptyTitle")
        self._note = self._label("emptyNote")
        self._hints = QWidget(self._block)
        self._hints.setObjectName("emptyHints")
        rows = QVBoxLayout(self._hints)
        rows.setContentsMargins(0, 16, 0, 0)
        rows.setSpacing(0)
        line = QFrame(self._hints)
        line.setObjectName("emptyLine")
        line.setFixedHeight(1)
        rows.addWidget(line)
        rows.addSpacing(8)
        self._rows = [_hint(mark, words, keys, theme, self._hints) for mark, words, keys in HINTS]
        for row in self._rows:
            rows.addWidget(row)
        self._column = column = QVBoxLayout(self._block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._mark)
        column.addSpacing(16)
        column.addWidget(self._title)
        column.addSpacing(4)
        column.addWidget(self._note)
        column.addWidget(self._hints)
        theme.sizes_changed.connect(self._fit)

    def _label(self, name: str) -> QLabel:
        label = QLabel(self._block)
        label.setObjectName(name)
        label.setWordWrap(True)
        return label

    def say(self, title: str, note: str, *, has_hints: bool = False) -> None:
        """`has_hints`: one can begin here."""
        self._title.setText(title)
        self._note.setText(note)
        self._has_hints = has_hints
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """None: a small window keeps its composer."""
        return QSize(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of it fits."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        for row in self._rows:
            row.setFixedHeight(row_height(MEASURES.row))
        for label, role in ((self._title, TYPE.heading_1), (self._note, TYPE.interface)):
            label.setMinimumHeight(role_line(role))
            label.setFont(role_font(role))
        width = max(1, min(wide(_WIDTH), self.width() - _SIDES))
        self._mark.show()
        self._hints.setVisible(self._has_hints)
        for part in (self._hints, self._mark):
            if self._wanted(width) > self.height() - MEASURES.list_margin:
                part.hide()
        height = min(self._wanted(width), self.height())
        above = max(0, (self.height() - height) * 2 // 5)  # the eye's middle is higher
        self._block.setGeometry((self.width() - width) // 2, above, width, height)

    def _wanted(self, width: int) -> int:
        column = self._column
        column.invalidate()
        return column.totalHeightForWidth(width) if column.hasHeightForWidth() else column.sizeHint().height()


class _OwnMark(QWidget):
    """The program's own mark: a sigma of one stroke."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fit()
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        self.setFixedSize(mark_size(_MARK), mark_size(_MARK))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Drawn at 40 pixels, and as much larger as the type is."""
        tokens, side = self._theme.tokens, float(_MARK)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self.width() / side, self.height() / side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent))
        painter.drawRoundedRect(QRectF(0, 0, side, side), side * _RADIUS, side * _RADIUS)
        painter.setPen(
            QPen(QColor(tokens.on_accent), _STROKE, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(_RING_MIDDLE, _RING, _RING)
        top = _RING_MIDDLE - QPointF(0, _RING)
        painter.drawLine(top, QPointF(_ARM, top.y()))
        painter.end()


def _hint(mark: Mark, words: str, keys: str, theme: Theme, parent: QWidget) -> QWidget:
    """A row: icon, words, keys at the right."""
    made = QWidget(parent)
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(_KEY_GAP)
    row.addWidget(MarkView(mark, "text_2", _ICON, theme, made))
    row.addSpacing(_ICON_GAP - _KEY_GAP)
    said = QLabel(words, made)
    said.setProperty("part", "hint")
    row.addWidget(said)
    row.addStretch(1)
    shown = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
    for name in shown.split("+") if shown else ():
        key = QLabel(name, made)
        key.setProperty("part", "key")
        key.setIndent(0)
        row.addWidget(key, 0, Qt.AlignmentFlag.AlignVCenter)
    return made


def empty_style(t: Tokens) -> str:
    """The style sheet's rules for the page."""
    return f"""
#emptyPage QLabel[part="hint"] {{ color: {t.text_2}; }}
#emptyPage QLabel[part="key"] {{ background: {t.raised}; color: {t.text_2};
  border: 1px solid {t.border_strong}; border-radius: {t.measures.menu_item_radius}px;
  padding: 0 5px; min-height: {t.type.badge.line}px; font-size: {t.type.badge.size}px;
  font-weight: {t.type.badge.weight}; }}
#emptyLine {{ background: {t.border}; border: none; }}
"""
