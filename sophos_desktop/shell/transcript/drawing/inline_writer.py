"""Writes the inline parts of Markdown: emphasis, links, code, formulas, images that are not loaded.

Invariant: an image in an answer becomes words and an address, never a request; only http, https and mailto
become links.
"""

import re
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QTextCharFormat, QTextImageFormat

from sophos_desktop.shell.transcript.drawing.built import (
    SOURCE_PROPERTY,
    BlockedImage,
    Formula,
    Link,
    LinkKind,
    Run,
)
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.style import characters, fixed_line, growing_line
from sophos_desktop.shell.transcript.markdown import math_rules
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.reading import may_open

if TYPE_CHECKING:
    from markdown_it.token import Token

LINE_SEPARATOR = "\u2028"
_SHOWN_ADDRESS = 80
_BETWEEN_NOTES = 4
_NOT_LOADED = "Image not loaded: "
_BARE_ADDRESS = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)
_CLOSERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_EMPHASIS = ("strong_open", "em_open", "s_open")


def holds_formula(inline: "Token") -> bool:
    """Whether the lines may have to be higher than usual."""
    return any(child.type.startswith("math") for child in inline.children or ())


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
        self._formats: list[QTextCharFormat] = []
        self._link_start = -1
        self._link_target = ""

    def write(
        self,
        inline: "Token",
        base: QTextCharFormat,
        begin: Callable[[], None] | None = None,
        *,
        is_begun: bool = False,
        is_cell: bool = False,
        left: int = 0,
    ) -> None:
        """Write the children of an inline token.

        `begin` begins the block, when there is something to write (`is_begun`: it has); with it, images and
        display formulas get blocks of their own, `left` pixels from the left. Without it all is written into
        the block that is open. In a cell (`is_cell`) code has no ground: its lines are enough.
        """
        self._has_grounds = not is_cell
        self._begin = None if is_begun else begin
        self._again = begin
        self._can_break = begin is not None
        self._left = left
        self._formats = [base]
        self._link_start = -1
        for token in inline.children or ():
            self._token(token)

    def _ready(self) -> None:
        if self._begin is not None:
            begin, self._begin = self._begin, None
            begin()

    def _token(self, token: "Token") -> None:
        kind = token.type
        if kind in _EMPHASIS:
            self._formats.append(self._emphasised(kind))
        elif kind in ("strong_close", "em_close", "s_close"):
            self._formats.pop()
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
                self._canvas.insert(" ", self._formats[-1])
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
        if self._link_start < 0 and "://" in text:
            self._text_with_addresses(text)
        else:
            self._canvas.insert(text, self._formats[-1])

    def _text_with_addresses(self, text: str) -> None:
        end = 0
        for found in _BARE_ADDRESS.finditer(text):
            address = _without_punctuation(found.group())
            if not may_open(address):
                continue
            self._canvas.insert(text[end : found.start()], self._formats[-1])
            self._open_link(address)
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
        else:
            made.setFontStrikeOut(True)
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
        self._ready()
        canvas = self._canvas
        made = QTextCharFormat(self._formats[-1])
        code = canvas.style.code(canvas.style.inline_code_size)
        font = code.font()
        font.setWeight(QFont.Weight(self._formats[-1].fontWeight()))
        made.setFont(font)
        if not made.isAnchor():
            made.setForeground(code.foreground())
        if not self._has_grounds:
            canvas.insert(text.replace("\n", " "), made)
            return
        canvas.space_last(canvas.style.code_air)
        start = canvas.position
        canvas.insert(text.replace("\n", " "), made)
        canvas.space_last(canvas.style.code_air)
        canvas.inline_code.append(Run(start, canvas.position))

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
            self._canvas.space_last(_BETWEEN_NOTES)  # 1 and 2 are not 12
        self._canvas.insert(str(number), made)
        self._canvas.links.append(Link(start, self._canvas.position, label, LinkKind.FOOTNOTE))

    # Images that are not loaded.

    def _image(self, token: "Token") -> None:
        address, words = str(token.attrs.get("src", "")), token.content
        if self._can_break and self._link_start < 0:
            self._own_block(lambda: self._image_card(address, words))
        else:
            self._ready()
            start = self._canvas.position
            quiet = QTextCharFormat(self._formats[-1])
            quiet.setForeground(QColor(self._canvas.style.text_2))
            self._canvas.insert(f"[image not loaded: {words or _shortened(address)}]", quiet)
            self._note_image(start, address, words, is_card=False)

    def _own_block(self, write: Callable[[], None]) -> None:
        """Write something that is a block of its own, then go on with the paragraph."""
        self._begin = self._again
        write()

    def _image_card(self, address: str, words: str) -> None:
        canvas, style = self._canvas, self._canvas.style
        block = fixed_line(style.small_line)
        font, words_font = style.code_font(style.code_size), style.font(style.small_size)
        # The frame is laid around the letters of the line, which is higher than they are.
        letters = ceil(max(QFontMetricsF(each).height() for each in (font, words_font)))
        room = (style.image_height - letters) // 2
        block.setTopMargin(canvas.take_gap(style.gap, room))
        block.setLeftMargin(self._left + style.image_left)
        block.setRightMargin(style.image_right)
        block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        block.setNonBreakableLines(True)
        quiet = characters(words_font, style.text_2)
        canvas.begin_block(block, quiet)
        start = canvas.position
        canvas.insert(_NOT_LOADED, quiet)
        before = QFontMetricsF(words_font).horizontalAdvance(_NOT_LOADED)
        width = canvas.width - self._left - style.image_left - style.image_right - before
        middle = Qt.TextElideMode.ElideMiddle
        shown = QFontMetricsF(font).elidedText(_shortened(address), middle, max(0.0, width))
        canvas.insert(shown, characters(font, style.text_2))
        self._note_image(start, address, words, is_card=True)
        canvas.keep_below(style.image_height - style.small_line - room)

    def _note_image(self, start: int, address: str, words: str, *, is_card: bool) -> None:
        canvas = self._canvas
        block = canvas.cursor.blockNumber()
        canvas.blocked_images.append(BlockedImage(start, canvas.position, block, address, words, is_card))

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
        image = canvas.math.image(
            token.content,
            display=is_display,
            colour=text.foreground().color().name(),
            size=text.font().pixelSize(),
            x_height=QFontMetricsF(text.font()).xHeight(),
            pixel_ratio=canvas.style.pixel_ratio,
        )
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


def _shortened(address: str) -> str:
    if len(address) <= _SHOWN_ADDRESS:
        return address
    half = _SHOWN_ADDRESS // 2
    return f"{address[:half]}…{address[-half:]}"


def _without_punctuation(address: str) -> str:
    """An address in running text, without what belongs to the sentence."""
    while address and address[-1] in ".,;:!?'*_)]}":
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address
