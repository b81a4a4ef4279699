"""Writes the inline parts of Markdown: emphasis, links, code, formulas, images that are not loaded.

Invariant: an image in an answer becomes words and an address, never a request; only http, https and mailto
become links.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextImageFormat,
)

from sophos_desktop.shell.transcript.drawing.built import (
    SOURCE_PROPERTY,
    Formula,
    Link,
    LinkKind,
    Run,
)
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.image_cards import write_card, write_words
from sophos_desktop.shell.transcript.drawing.math_images import MathImage
from sophos_desktop.shell.transcript.drawing.style import fixed_line, growing_line, runs_to_left
from sophos_desktop.shell.transcript.markdown import math_rules
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.image_words import image_words
from sophos_desktop.shell.transcript.markdown.reading import may_open

if TYPE_CHECKING:
    from markdown_it.token import Token

LINE_SEPARATOR = "\u2028"
_BETWEEN_NOTES = 4
_BARE_ADDRESS = re.compile(r"(?:https?://|(?<![\w./@-])www\.(?=[\w-]+\.))[^\s<>\"`]+", re.IGNORECASE)
_CLOSERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_EMPHASIS = ("strong", "em", "s", "underline", "lowered", "raised")
_BEGINS_EMPHASIS = frozenset(f"{kind}_open" for kind in _EMPHASIS)
_ENDS_EMPHASIS = frozenset(f"{kind}_close" for kind in _EMPHASIS)


def line_for(
    canvas: Canvas, inline: "Token", text: QTextCharFormat, line: int, *, can_break: bool = False
) -> QTextBlockFormat:
    """A block whose lines are `line` high, or higher where a formula has no room between its neighbours.
    `can_break`: display formulas have blocks of their own."""
    below = 0
    kinds = (math_rules.INLINE,) if can_break else (math_rules.INLINE, math_rules.DISPLAY)
    for child in inline.children or ():
        if child.type in kinds:
            image = _formula_image(canvas, child.content, text, line)
            if image is not None and not image.fits(line):
                return growing_line(line)
            below = max(below, image.overflow(line) if image is not None else 0)
    canvas.let_overflow(below)
    return fixed_line(line)


def _formula_image(canvas: Canvas, tex: str, text: QTextCharFormat, line: int) -> MathImage | None:
    """`line`: how high its lines are; 0 for a formula that stands alone."""
    return canvas.math.image(
        tex,
        display=line == 0,
        line=line,
        colour=text.foreground().color().name(),
        size=text.font().pixelSize(),
        x_height=QFontMetricsF(text.font()).xHeight(),
        pixel_ratio=canvas.style.pixel_ratio,
    )


class InlineWriter:
    """Writes into one canvas."""

    def __init__(self, canvas: Canvas, environment: MarkdownEnvironment) -> None:
        """Cheap."""
        self._canvas = canvas
        self._environment = environment
        self._begin: Callable[[], None] | None = None
        self._again: Callable[[], None] | None = None
        self._can_break = False
        self._has_grounds = True
        self._left = 0
        self._mark_card: Callable[[QTextBlockFormat], Callable[[], None]] | None = None
        self._formats: list[QTextCharFormat] = []
        self._is_right = False
        self._air_is_due = False  # before what stands to the left of code
        self._link_start = -1
        self._link_target = ""
        self._code_start = 0

    def write(
        self,
        inline: "Token",
        base: QTextCharFormat,
        begin: Callable[[], None] | None = None,
        *,
        is_begun: bool = False,
        is_cell: bool = False,
        left: int = 0,
        mark_card: Callable[[QTextBlockFormat], Callable[[], None]] | None = None,
    ) -> None:
        """Write the children of an inline token.

        `begin` begins the block, when there is something to write (`is_begun`: it has); with it, images and
        display formulas get blocks of their own, `left` pixels from the left. Without it all is written into
        the block that is open. In a cell (`is_cell`) code has no ground: its lines are enough. `mark_card`
        is for write_card.
        """
        self._has_grounds = not is_cell
        self._begin = None if is_begun else begin
        self._again = begin
        self._can_break = begin is not None
        self._left = left
        self._mark_card = mark_card
        self._formats = [base]
        self._link_start = -1
        self._is_right = runs_to_left(inline.content)
        self._air_is_due = False
        for token in inline.children or ():
            self._token(token)

    def _ready(self) -> None:
        if self._begin is not None:
            begin, self._begin = self._begin, None
            begin()

    def _token(self, token: "Token") -> None:
        kind = token.type
        if kind in _BEGINS_EMPHASIS:
            self._formats.append(self._emphasised(kind))
        elif kind in _ENDS_EMPHASIS:
            self._formats.pop()
        elif kind == "key_open":
            self._open_key()
        elif kind == "key_close":
            self._close_key()
        elif kind == "link_open":
            self._open_link(str(token.attrs.get("href", "")))
        elif kind == "link_close":
            self._close_link()
        elif kind == "code_inline":
            self._code(token.content)
        elif kind == "image":
            self._image(token)
        elif kind in (math_rules.INLINE, math_rules.DISPLAY):
            self._formula(token)
        elif kind == "footnote_ref":
            self._footnote(str(token.meta["label"]))
        elif kind == "softbreak":
            if self._begin is None:
                self._canvas.insert(self._after_air(" "), self._formats[-1])
        elif kind == "hardbreak":
            self._text(LINE_SEPARATOR)
        else:
            self._text(token.content)

    def _text(self, text: str) -> None:
        if self._begin is not None:
            text = text.lstrip()
        if not text:
            return
        self._ready()
        text = self._after_air(text)
        if self._link_start < 0 and ("://" in text or "www." in text.lower()):
            self._text_with_addresses(text)
        else:
            self._canvas.insert(text, self._formats[-1])

    def _text_with_addresses(self, text: str) -> None:
        end = 0
        for found in _BARE_ADDRESS.finditer(text):
            address = _without_punctuation(found.group())
            target = address if "://" in address[:8] else f"https://{address}"
            if not may_open(target):
                continue
            self._canvas.insert(text[end : found.start()], self._formats[-1])
            self._open_link(target)
            self._canvas.insert(address, self._formats[-1])
            self._close_link()
            end = found.start() + len(address)
        self._canvas.insert(text[end:], self._formats[-1])

    def _emphasised(self, kind: str) -> QTextCharFormat:
        made = QTextCharFormat(self._formats[-1])
        if kind == "strong_open":
            made.setFontWeight(QFont.Weight.DemiBold)
        elif kind == "em_open":
            made.setFontItalic(True)
        elif kind == "s_open":
            made.setFontStrikeOut(True)
        elif kind == "underline_open":
            made.setFontUnderline(True)
        else:
            is_low = kind == "lowered_open"
            align = QTextCharFormat.VerticalAlignment
            made.setVerticalAlignment(align.AlignSubScript if is_low else align.AlignSuperScript)
        return made

    def _open_link(self, address: str) -> None:
        if not may_open(address):
            self._formats.append(self._formats[-1])
            return
        self._ready()
        self._formats.append(self._link_format(address))
        self._link_start = self._canvas.position
        self._link_target = address

    def _link_format(self, address: str) -> QTextCharFormat:
        made = QTextCharFormat(self._formats[-1])
        made.setAnchor(True)
        made.setAnchorHref(address)
        made.setForeground(QColor(self._canvas.style.accent))
        made.setFontUnderline(True)
        return made

    def _close_link(self) -> None:
        self._formats.pop()
        if 0 <= self._link_start < self._canvas.position:
            link = Link(self._link_start, self._canvas.position, self._link_target)
            self._canvas.links.append(link)
        self._link_start = -1

    def _code(self, text: str) -> None:
        self._open_key()
        self._canvas.insert(text.replace("\n", " "), self._formats[-1])
        self._close_key()

    def _open_key(self) -> None:
        """What follows is code, or the name of a key, which looks the same."""
        self._ready()
        canvas = self._canvas
        made = QTextCharFormat(self._formats[-1])
        code = canvas.style.code(canvas.style.inline_code_size)
        font = code.font()
        font.setWeight(QFont.Weight(self._formats[-1].fontWeight()))
        made.setFont(font)
        if not made.isAnchor():
            made.setForeground(code.foreground())
        self._formats.append(made)
        # The ground reaches to the left: to what comes before, or behind in text that runs to the left.
        if self._has_grounds and not self._is_right:
            self._space_last(canvas.style.code_air)
        self._code_start = canvas.position

    def _close_key(self) -> None:
        canvas = self._canvas
        self._formats.pop()
        if self._has_grounds:
            self._space_last(canvas.style.code_air)
            self._air_is_due = self._is_right
            canvas.inline_code.append(Run(self._code_start, canvas.position))

    def _space_last(self, pixels: int) -> None:
        """As Canvas.space_last, which has Qt look through the paragraph for where the character begins."""
        canvas, end = self._canvas, self._canvas.position
        if end == 0 or not _is_plain(canvas.document.characterAt(end - 1)):
            canvas.space_last(pixels)
            return
        last = QTextCursor(canvas.cursor)
        last.setPosition(end - 1, QTextCursor.MoveMode.KeepAnchor)
        last.mergeCharFormat(_spaced(QTextCharFormat(), pixels))

    def _after_air(self, text: str) -> str:
        """What is left to write of a text behind code that has its ground on the side of the text."""
        is_due, self._air_is_due = self._air_is_due, False
        if not is_due or not text or not _is_plain(text[0]):
            return text
        self._canvas.insert(text[0], _spaced(self._formats[-1], self._canvas.style.code_air))
        return text[1:]

    def _footnote(self, label: str) -> None:
        number = self._environment.footnote_number(label)
        if number is None:
            self._text(f"[^{label}]")
            return
        self._ready()
        made = self._link_format(f"#footnote-{number}")
        made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        start = self._canvas.position
        if self._canvas.links and self._canvas.links[-1].end == start:
            self._space_last(_BETWEEN_NOTES)  # 1 and 2 are not 12
        self._canvas.insert(str(number), made)
        self._canvas.links.append(Link(start, self._canvas.position, label, LinkKind.FOOTNOTE))

    # Images that are not loaded.

    def _image(self, token: "Token") -> None:
        address, words = str(token.attrs.get("src", "")), image_words(token)
        if self._can_break and self._link_start < 0:
            self._own_block(lambda: write_card(self._canvas, address, words, self._left, self._mark_card))
        else:
            self._ready()
            write_words(self._canvas, address, words, self._formats[-1], self._formats[0])

    def _own_block(self, write: Callable[[], None]) -> None:
        """Write something that is a block of its own, then go on with the paragraph."""
        self._begin = self._again
        write()

    # Formulas.

    def _formula(self, token: "Token") -> None:
        is_display = token.type == math_rules.DISPLAY
        if is_display and self._can_break and self._link_start < 0:
            self._own_block(lambda: self.display_formula(token, self._formats[0], self._left))
            return
        self._ready()
        self._insert_formula(token, self._formats[-1], is_display=False)

    def display_formula(self, token: "Token", base: QTextCharFormat, left: int) -> None:
        """A formula in a block of its own, in the middle of the column."""
        canvas, style = self._canvas, self._canvas.style
        block = growing_line(style.reading_line)
        block.setTopMargin(canvas.take_gap(style.gap))
        block.setLeftMargin(left)
        block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        canvas.begin_block(block, base)
        self._insert_formula(token, base, is_display=True)

    def _insert_formula(self, token: "Token", text: QTextCharFormat, *, is_display: bool) -> None:
        canvas = self._canvas
        source = f"{token.markup}{token.content}{_CLOSERS[token.markup]}"
        start = canvas.position
        line = 0 if is_display else round(canvas.cursor.blockFormat().lineHeight())
        image = _formula_image(canvas, token.content, text, line)
        if image is None:
            canvas.insert(source.replace("\n", " "), canvas.style.code(canvas.style.inline_code_size))
            canvas.formulas.append(Formula(start, canvas.position, token.content, source, False))
            return
        picture = QTextImageFormat()
        picture.merge(text)
        shrink = min(1.0, canvas.width / image.width)
        picture.setName(canvas.add_image(image))
        picture.setWidth(image.width * shrink)
        picture.setHeight(image.height * shrink)
        if not is_display:
            picture.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        picture.setProperty(SOURCE_PROPERTY, source)
        canvas.cursor.insertImage(picture)
        canvas.formulas.append(Formula(start, canvas.position, token.content, image.spoken, True))


def _spaced(text: QTextCharFormat, pixels: int) -> QTextCharFormat:
    made = QTextCharFormat(text)
    made.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
    made.setFontLetterSpacing(pixels)
    return made


def _is_plain(character: str) -> bool:
    """Whether it is a character by itself, written from left to right, whatever stands before it."""
    return " " <= character < "\u0300" or "\u3040" <= character < "\u3099" or "\u30a0" <= character < "\ua000"


def _without_punctuation(address: str) -> str:
    """An address in running text, without what belongs to the sentence."""
    while address and address[-1] in ".,;:!?'*_)]}":
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address
