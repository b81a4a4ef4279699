"""Writes Markdown into a QTextDocument, token by token.

Invariant: only text and our own formats enter the document: no HTML, no image, no resource, so nothing of
an answer can make Qt read a file or open a connection.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption

from sophos_desktop.shell.chat.markdown import may_open, parse
from sophos_desktop.shell.chat.text_formats import TextFormats

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE_SEPARATOR = "\u2028"
_INDENT = 20
_GAP = 8
_TIGHT_GAP = 4
_HEADING_GAP = 16
_BULLETS = ("•", "◦", "▪")


class DocumentBuilder:
    """Writes at one cursor, which stands in an empty block; used for one text and thrown away."""

    def __init__(self, cursor: QTextCursor, formats: TextFormats) -> None:
        """`cursor` stays inside the frame it stands in."""
        self._cursor = cursor
        self._formats = formats
        self._fresh = True
        self._is_first = True
        self._indent = 0
        self._markers: list[int | None] = []
        self._pending_marker = ""
        self._base = formats.reading()

    def write(self, markdown: str, base: QTextCharFormat | None = None) -> None:
        """Append `markdown`."""
        if base is not None:
            self._base = base
        tokens = parse(markdown)
        index = 0
        while index < len(tokens):
            index = self._block(tokens, index)
        self.finish()

    def finish(self) -> None:
        """Flatten the empty block that a frame at the end leaves behind."""
        if self._fresh and not self._is_first:
            self._flatten()

    def _flatten(self) -> None:
        self._cursor.setBlockFormat(self._formats.spacer(1))
        self._cursor.setBlockCharFormat(self._formats.hair())

    def paragraph(
        self, block: QTextBlockFormat, characters: QTextCharFormat, text: str | None = None
    ) -> QTextCursor:
        """Begin a block, with `text` in it if given; returns the cursor at its end."""
        if self._fresh:
            self._cursor.setBlockFormat(block)
            self._cursor.setBlockCharFormat(characters)
            self._fresh = False
        else:
            self._cursor.insertBlock(block, characters)
        self._is_first = False
        if text:
            self._cursor.insertText(text, characters)
        return self._cursor

    def _gap(self, wanted: int = _GAP) -> int:
        return 0 if self._is_first else wanted

    def _block(self, tokens: "Sequence[Token]", index: int) -> int:
        token = tokens[index]
        kind = token.type
        if kind == "paragraph_open":
            gap = _TIGHT_GAP if token.hidden else _GAP
            self._paragraph_block(tokens[index + 1], self._base, self._gap(gap))
            return index + 3
        if kind == "heading_open":
            characters = self._formats.heading(int(token.tag[1]))
            self._paragraph_block(tokens[index + 1], characters, self._gap(_HEADING_GAP))
            return index + 3
        if kind in ("fence", "code_block"):
            self._code(token.content)
        elif kind == "hr":
            self.paragraph(self._formats.block(self._gap()), self._formats.small(), "─" * 24)
        elif kind == "table_open":
            return self._table(tokens, index)
        elif kind == "inline":
            self._paragraph_block(token, self._base, self._gap())
        else:
            self._nesting(token)
        return index + 1

    def _nesting(self, token: "Token") -> None:
        if token.type == "bullet_list_open":
            self._markers.append(None)
            self._indent += _INDENT
        elif token.type == "ordered_list_open":
            self._markers.append(int(token.attrs.get("start", 1)))
            self._indent += _INDENT
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._markers.pop()
            self._indent -= _INDENT
        elif token.type == "list_item_open":
            self._pending_marker = self._next_marker()
        elif token.type == "blockquote_open":
            self._indent += _INDENT
        elif token.type == "blockquote_close":
            self._indent -= _INDENT

    def _next_marker(self) -> str:
        number = self._markers[-1]
        if number is None:
            return _BULLETS[min(len(self._markers), len(_BULLETS)) - 1]
        self._markers[-1] = number + 1
        return f"{number}."

    def _paragraph_block(self, inline: "Token", characters: QTextCharFormat, gap: int) -> None:
        line = 28 if characters.font().pixelSize() > 17 else 24
        block = self._formats.block(gap, self._indent, line)
        marker, self._pending_marker = self._pending_marker, ""
        if marker:
            block.setTextIndent(-_INDENT)
            block.setTabPositions([QTextOption.Tab(_INDENT, QTextOption.TabType.LeftTab)])
        self.paragraph(block, characters)
        if marker:
            self._cursor.insertText(marker + "\t", characters)
        self._inline(inline, characters)

    def _inline(self, inline: "Token", base: QTextCharFormat) -> None:
        stack = [base]
        for token in inline.children or ():
            kind = token.type
            if kind in ("strong_open", "em_open", "s_open", "link_open"):
                stack.append(self._opened(token, stack[-1]))
            elif kind in ("strong_close", "em_close", "s_close", "link_close"):
                stack.pop()
            elif kind == "code_inline":
                self._cursor.insertText(token.content, self._formats.inline_code())
            elif kind == "image":
                self._cursor.insertText(_image_text(token), self._formats.quiet())
            elif kind == "softbreak":
                self._cursor.insertText(" ", stack[-1])
            elif kind == "hardbreak":
                self._cursor.insertText(_LINE_SEPARATOR, stack[-1])
            else:
                self._cursor.insertText(token.content, stack[-1])

    def _opened(self, token: "Token", base: QTextCharFormat) -> QTextCharFormat:
        characters = QTextCharFormat(base)
        if token.type == "strong_open":
            characters.setFontWeight(QFont.Weight.DemiBold)
        elif token.type == "em_open":
            characters.setFontItalic(True)
        elif token.type == "s_open":
            characters.setFontStrikeOut(True)
        else:
            address = str(token.attrs.get("href", ""))
            return self._formats.link(base, address) if may_open(address) else characters
        return characters

    def _code(self, text: str) -> None:
        if self._fresh:
            self._flatten()
        frame_format = self._formats.code_frame()
        frame_format.setLeftMargin(self._indent)
        if self._is_first:
            frame_format.setTopMargin(0)
        frame = self._cursor.insertFrame(frame_format)
        inside = frame.firstCursorPosition()
        inside.setBlockFormat(self._formats.code_block())
        inside.setBlockCharFormat(self._formats.code())
        inside.insertText(text.removesuffix("\n"), self._formats.code())
        self._leave(frame.lastPosition())

    def _leave(self, last_position: int) -> None:
        self._cursor.setPosition(last_position + 1)
        self._fresh = True
        self._is_first = False

    def _table(self, tokens: "Sequence[Token]", index: int) -> int:
        rows: list[list[Token]] = []
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(token)
            index += 1
        columns = max((len(row) for row in rows), default=0)
        if columns:
            self._insert_table(rows, columns)
        return index + 1

    def _insert_table(self, rows: "list[list[Token]]", columns: int) -> None:
        if self._fresh:
            self._flatten()
        table = self._cursor.insertTable(len(rows), columns, self._formats.table())
        for row_number, row in enumerate(rows):
            for column, inline in enumerate(row):
                characters = self._formats.reading()
                if row_number == 0:
                    characters = self._formats.small(self._formats.tokens.text)
                    characters.setFontWeight(QFont.Weight.DemiBold)
                outer, self._cursor = self._cursor, table.cellAt(row_number, column).firstCursorPosition()
                self._inline(inline, characters)
                self._cursor = outer
        self._leave(table.lastPosition())


def _image_text(token: "Token") -> str:
    """What stands in the place of an image: its words and its address."""
    address = str(token.attrs.get("src", ""))
    return f"[image: {token.content}] {address}" if token.content else f"[image] {address}"
