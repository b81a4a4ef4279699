"""The parts of the details pane: title, labels with values, text, link.

Invariant: each follows the theme by itself and shows plain text alone.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_size
from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole
from sophos_desktop.shell.trace.telling import Fact, Place
from sophos_desktop.shell.transcript.cards.json_text import colours_of, lay_out, read_json
from sophos_desktop.shell.transcript.cards.parts import LinkButton, Words
from sophos_desktop.shell.widgets.foldaway import Foldaway
from sophos_desktop.shell.widgets.plain_tip import plain_tip
from sophos_desktop.shell.widgets.words import breakable

_LABEL_WIDTH = 80
_GAP = 8
_ROW = 20
_PADDING = 7
_SEGMENT_SIDE = 10
_INSIDE = (6, 2, 6, 2)
_ICON = 14
_MOST_LINES = 400  # more scroll inside of their card, fewer with the pane
_ENDED = "\n\n"


class ElidedTitle(QLabel):
    """What the item is called, cut at its end where there is no room; the whole is its tooltip."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setObjectName("traceDetailsTitle")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._theme = theme
        self._role: TypeRole = TYPE.small_name

    def show_title(self, title: str, *, is_code: bool) -> None:
        """Show another; `is_code`: a tool's name."""
        self._role = TYPE.code if is_code else TYPE.small_name
        self.setFont(role_font(self._role))
        self.setText(title)
        self.setToolTip(plain_tip(title))

    def shown_text(self) -> str:
        """As much as there is room for."""
        return QFontMetrics(self._real_font()).elidedText(
            self.text(), Qt.TextElideMode.ElideRight, self.width()
        )

    def _real_font(self) -> QFont:
        font = role_font(self._role)
        font.setPixelSize(role_size(self._role))
        return font

    def paintEvent(self, _event: QPaintEvent) -> None:
        """As much as there is room for."""
        painter = QPainter(self)
        painter.setFont(self._real_font())
        painter.setPen(QColor(self._theme.tokens.text))
        painter.drawText(
            self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.shown_text()
        )
        painter.end()


class SegmentButton(QToolButton):
    """One of two choices beside each other, no wider than its word needs."""

    def __init__(self, text: str, parent: QWidget) -> None:
        """With a word."""
        super().__init__(parent)
        self.setText(text)

    def sizeHint(self) -> QSize:
        """A tool button would make room for an icon."""
        width = QFontMetrics(role_font(TYPE.small)).horizontalAdvance(self.text())
        return QSize(width + 2 * _SEGMENT_SIDE, super().sizeHint().height())


class FactGrid(QWidget):
    """Labels and their values."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setObjectName("traceFacts")
        self._theme = theme
        self._facts: Sequence[Fact] = ()
        self._rows: list[tuple[Words, Words]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these."""
        self.setVisible(bool(facts))
        if facts == self._facts:
            return
        self._facts = facts
        while len(self._rows) > len(facts):
            self._grid.setRowMinimumHeight(len(self._rows) - 1, 0)
            for part in self._rows.pop():
                self._grid.removeWidget(part)
                part.setParent(None)
                part.deleteLater()
        while len(self._rows) < len(facts):
            self._rows.append(self._new_row(len(self._rows)))
        for (label, value), fact in zip(self._rows, facts, strict=True):
            label.setText(fact.label)
            text = breakable(fact.value)
            if value.text() != text:  # what somebody has selected stays selected
                value.setText(text)
            value.set_colour("warning" if fact.is_warning else "text")
            value.setAccessibleName(f"{fact.label}: {fact.value}")

    def _new_row(self, row: int) -> tuple[Words, Words]:
        label = Words("", TYPE.small, "text_3", self._theme, self)
        value = Words("", TYPE.small, "text", self._theme, self, selectable=True)
        label.setObjectName("traceFactLabel")
        value.setObjectName("traceFactValue")
        label.setBuddy(value)
        value.setWordWrap(True)
        value.setMinimumWidth(1)  # wraps where the dock is narrow; its own hint would be cut there
        self._grid.setRowMinimumHeight(row, _ROW)
        for column, part in enumerate((label, value)):
            self._grid.addWidget(part, row, column, Qt.AlignmentFlag.AlignTop)
        return label, value


class _JsonLines(QSyntaxHighlighter):
    """Colours the lines of a document that are JSON."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self.lines = 0
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        if self.currentBlock().blockNumber() >= self.lines:
            return
        for start, end, token in colours_of(text):
            coloured = QTextCharFormat()
            coloured.setForeground(QColor(getattr(self._theme.tokens, token)))
            self.setFormat(start, end - start, coloured)


class TextCard(QPlainTextEdit):
    """Arguments, results, messages: as high as it needs to be, up to some lines."""

    _colours: "_JsonLines | None" = None  # Qt tells of fonts while the widget is being made

    def __init__(self, name: str, words: str, theme: Theme, parent: QWidget) -> None:
        """Empty. `name` is the object name, `words` the accessible one."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(role_font(TYPE.code))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.setViewportMargins(*_INSIDE)  # in addition to the padding that the style sheet gives
        self._theme = theme
        self._texts: tuple[str, ...] | None = ()
        self._laid_out_for = 0
        self._colours = _JsonLines(self.document(), theme)
        theme.changed.connect(self._lay_out)

    def show_text(self, text: str) -> None:
        """JSON as it is."""
        self._texts = None
        self._put(text, text.count("\n") + 1)

    def show_texts(self, texts: tuple[str, ...]) -> None:
        """Each, with JSON laid out in the width that there is."""
        self._texts = texts
        self._lay_out()

    def _lay_out(self) -> None:
        if self._texts is None:
            self._fit()
            return
        self._laid_out_for = self._columns
        shown: list[str] = []
        coloured = 0
        for text in self._texts:
            value = read_json(text)
            if value is not None:
                text = self._laid_out(value)
                coloured = text.count("\n") + 1 if not shown else coloured
            shown.append(text)
        self._put(_ENDED.join(shown), coloured)

    def _laid_out(self, value: object) -> str:
        """On few lines if it is short; else whole, since what is folded cannot be opened here."""
        short = lay_out(value, self._columns)
        return lay_out(value, self._columns, frozenset()).text if short.folds else short.text

    @property
    def _columns(self) -> int:
        character = QFontMetrics(self.font()).horizontalAdvance("0") or 1
        return max(20, (self.viewport().width() - 2) // character)

    def _put(self, text: str, coloured_lines: int) -> None:
        if self._colours is not None:
            self._colours.lines = coloured_lines
        if text != self.toPlainText():
            self.setPlainText(text)
        self._fit()

    def _fit(self) -> None:
        wanted = max(1, round(self.document().size().height()))
        lines = min(_MOST_LINES, wanted)
        line = QFontMetrics(self.font()).lineSpacing()
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if wanted > lines else policy.ScrollBarAlwaysOff
        )
        height = lines * line + 2 * _PADDING
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width breaks lines at other places."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            if self._texts and self._columns != self._laid_out_for:
                self._lay_out()
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other lines."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._colours is not None:
            self._lay_out()


class FoldedText(Foldaway):
    """A card of text that is there only while there is text."""

    def __init__(self, name: str, words: str, theme: Theme, parent: QWidget) -> None:
        """Empty, and not shown; `name` and `words` are those of the card."""
        super().__init__(parent)
        self.card = TextCard(name, words, theme, self.inside)
        column = QVBoxLayout(self.inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.card)

    def show_text(self, text: str) -> None:
        """JSON as it is."""
        self.setVisible(bool(text))
        self.card.show_text(text)

    def show_texts(self, texts: tuple[str, ...]) -> None:
        """Each, with JSON laid out in the width that there is."""
        self.setVisible(any(texts))
        self.card.show_texts(texts)


class PlaceLink(LinkButton):
    """Leads to the place in the transcript, with its icon."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Not shown."""
        super().__init__("traceShowInTranscript", "Show in transcript", theme, parent)
        self._look = theme
        self.hide()

    def show_place(self, place: Place | None) -> None:
        """Shown while there is a place."""
        self.setVisible(place is not None)

    def sizeHint(self) -> QSize:
        """The words, and the icon before them."""
        words = super().sizeHint()
        return QSize(words.width() + _ICON + 4, words.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The icon and the words."""
        painter = QPainter(self)
        colour = QColor(self._look.tokens.accent)
        box = QRectF(0, (self.height() - _ICON) / 2, _ICON, _ICON)
        paint_mark(painter, Mark.LOCATE, box, colour)
        font = role_font(TYPE.small)
        font.setUnderline(True)
        painter.setFont(font)
        painter.setPen(colour)
        words = self.rect().adjusted(_ICON + 4, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
