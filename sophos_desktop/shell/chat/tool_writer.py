"""Writes a tool call as a block that opens and closes: a head line, arguments, result.

Invariant: closed, it is one line; open, a long part shows its first lines and a link to the rest. Everything
of a server or a model is plain text.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QTextBlockFormat, QTextCharFormat, QTextOption

from sophos_desktop.shell.chat.document_builder import DocumentBuilder
from sophos_desktop.shell.chat.folds import Folds, all_address, fold_address
from sophos_desktop.shell.chat.items import ToolItem
from sophos_desktop.shell.chat.text_formats import TextFormats
from sophos_desktop.shell.theme.fonts import code_font, text_font
from sophos_desktop.shell.theme.tokens import CODE_SIZE, INTERFACE_SIZE, SMALL_SIZE

SHOWN_LINES = 12
_SHOWN_CHARACTERS = 1_200
_LABEL_COLUMN = 80
_INDENT = 18
_FRAME = 18  # both sides' padding and line
_LINE = 18
_STATES = {
    None: ("", "Waits", "text_3"),
    "running": ("◔", "Running…", "accent"),
    "ok": ("✓", "Done", "success"),
    "error": ("✕", "Failed", "danger"),
    "interrupted": ("?", "Outcome unknown", "plum"),
    "denied": ("⊘", "Denied", "text_2"),
    "skipped": ("⊘", "Skipped", "text_2"),
}


def opens_by_itself(item: ToolItem) -> bool:
    """A failed call is open until the reader closes it; every other is closed until it is opened."""
    return item.status == "error"


class ToolWriter:
    """Writes one tool call; used once."""

    def __init__(self, builder: DocumentBuilder, formats: TextFormats, folds: Folds, width: int) -> None:
        """`width`: of the column, in pixels."""
        self._builder = builder
        self._formats = formats
        self._folds = folds
        self._width = width - _FRAME

    def write(self, item: ToolItem) -> None:
        """Head, and if it is open what is below it."""
        is_open = self._folds.is_open(item.key, default=opens_by_itself(item))
        self._head(item, is_open=is_open)
        if is_open:
            self._part("Arguments", item.arguments or "{}", f"{item.key}/arguments", top=8)
            if item.result or item.status not in (None, "running"):
                label = "Error" if item.status == "error" else "Result"
                self._part(label, item.result or "(empty)", f"{item.key}/result", top=6)

    def _head(self, item: ToolItem, *, is_open: bool) -> None:
        tokens = self._formats.tokens
        sign, word, colour = _STATES.get(item.status, ("", item.status or "", "text_3"))
        state = f"{sign} {word}".strip()
        block = self._formats.block(0, 0, 20)
        block.setTabPositions([QTextOption.Tab(self._width, QTextOption.TabType.RightTab)])
        quiet, name = self._formats.quiet(), self._formats.code(tokens.text)
        cursor = self._builder.paragraph(block, quiet)
        chevron = "▾" if is_open else "▸"
        server = f"{item.server}  " if item.server else ""
        cursor.insertText(f"{chevron}  {server}", self._linked(quiet, item.key))
        cursor.insertText(item.tool, self._linked(name, item.key))
        used = _width_of(f"{chevron}  {server}", INTERFACE_SIZE) + _width_of(state, SMALL_SIZE) + 40
        used += QFontMetrics(code_font(CODE_SIZE)).horizontalAdvance(item.tool)
        hint = "" if is_open else self._hint(item, self._width - used)
        cursor.insertText(f"  {hint}" if hint else "", self._formats.small())
        cursor.insertText(f"\t{state}", self._formats.small(getattr(tokens, colour)))

    def _hint(self, item: ToolItem, room: int) -> str:
        """The arguments, as far as they fit into the head."""
        text = " ".join(item.arguments.split())
        if text in ("", "{}") or room < 60:
            return ""
        metrics = QFontMetrics(text_font(SMALL_SIZE))
        return metrics.elidedText(text[:400], Qt.TextElideMode.ElideRight, room)

    def _linked(self, base: QTextCharFormat, key: str) -> QTextCharFormat:
        characters = QTextCharFormat(base)
        characters.setAnchor(True)
        characters.setAnchorHref(fold_address(key))
        return characters

    def _part(self, label: str, text: str, key: str, *, top: int) -> None:
        lines = text.rstrip("\n").splitlines() or [""]
        shown = lines if self._folds.shows_all(key) else _clipped(lines)
        code = self._formats.code()
        for number, line in enumerate(shown):
            block = self._block(top if number == 0 else 0)
            if number == 0:
                block.setTextIndent(-_LABEL_COLUMN)
                block.setTabPositions([QTextOption.Tab(_LABEL_COLUMN, QTextOption.TabType.LeftTab)])
            cursor = self._builder.paragraph(block, code)
            if number == 0:
                cursor.insertText(f"{label}\t", self._formats.small(self._formats.tokens.text_2))
            cursor.insertText(line, code)
        if shown != lines:
            size = len(text.encode("utf-8", "surrogatepass"))
            small = self._formats.small()
            cursor = self._builder.paragraph(self._block(4), small)
            cursor.insertText(f"{len(shown):,} of {len(lines):,} lines, {_size(size)}  ", small)
            cursor.insertText("Show all", self._formats.link(small, all_address(key)))

    def _block(self, top: int) -> QTextBlockFormat:
        return self._formats.block(top, _INDENT + _LABEL_COLUMN, _LINE)


def _clipped(lines: list[str]) -> list[str]:
    """The first lines, together not longer than some lines of the column."""
    shown: list[str] = []
    left = _SHOWN_CHARACTERS
    for line in lines[:SHOWN_LINES]:
        shown.append(line[:left])
        left -= len(line)
        if left <= 0:
            break
    return shown


def _size(count: int) -> str:
    for unit, power in (("MB", 1e6), ("kB", 1e3)):
        if count >= power:
            return f"{count / power:.1f} {unit}"
    return f"{count} bytes"


def _width_of(text: str, size: int) -> int:
    return QFontMetrics(text_font(size)).horizontalAdvance(text)
