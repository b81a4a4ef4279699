"""Writes one item of the transcript into its frame.

Invariant: what is written depends on the item, the theme, the column and what the reader opened alone, so
that an item drawn again looks as it did.
"""

from PySide6.QtGui import QFontMetrics, QTextCharFormat, QTextCursor, QTextFrameFormat

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.chat.document_builder import DocumentBuilder
from sophos_desktop.shell.chat.folds import Folds, fold_address
from sophos_desktop.shell.chat.items import AnswerItem, Item, ToolItem, UserItem
from sophos_desktop.shell.chat.text_formats import TextFormats
from sophos_desktop.shell.chat.tool_writer import ToolWriter
from sophos_desktop.shell.theme.fonts import text_font
from sophos_desktop.shell.theme.tokens import BUBBLE_WIDTH, READING_SIZE, Tokens

_BUBBLE_PADDING = 14
_FRAME_PADDING = 8


class ItemWriter:
    """Writes for one theme and one column width; made anew when either changes."""

    def __init__(self, tokens: Tokens, column_width: int) -> None:
        """`column_width` in pixels."""
        self.formats = TextFormats(tokens)
        self._tokens = tokens
        self._column_width = column_width

    def frame_format(self, item: Item) -> QTextFrameFormat:
        """The frame that an item gets."""
        if isinstance(item, UserItem):
            return self.formats.bubble_frame(self._bubble_left(item.text))
        if isinstance(item, ToolItem):
            return self.formats.card_frame()
        return self.formats.plain_frame()

    def _bubble_left(self, text: str) -> int:
        widest = min(BUBBLE_WIDTH, self._column_width) - 2 * _BUBBLE_PADDING
        metrics = QFontMetrics(text_font(READING_SIZE))
        lines = text.splitlines()[:40]
        # Past the bubble's width the exact figure is of no use: measure no more than could fit.
        needed = max((metrics.horizontalAdvance(line[: widest // 2]) for line in lines), default=0) + 4
        return max(0, self._column_width - min(needed, widest) - 2 * _BUBBLE_PADDING)

    @staticmethod
    def gap_before(item: Item, *, is_first: bool) -> int:
        """Pixels between an item and the one above it."""
        if is_first:
            return 12
        return 24 if isinstance(item, UserItem) else 12

    def write(self, item: Item, cursor: QTextCursor, folds: Folds) -> None:
        """Write `item` at `cursor`, which stands in the empty frame."""
        builder = DocumentBuilder(cursor, self.formats)
        if isinstance(item, UserItem):
            # A fixed line height puts its air above the letters: the same below makes the bubble even.
            block = self.formats.block()
            block.setBottomMargin(4)
            block.setLeftMargin(_BUBBLE_PADDING - _FRAME_PADDING)
            block.setRightMargin(_BUBBLE_PADDING - _FRAME_PADDING)
            builder.paragraph(block, self.formats.reading(), item.text)
        elif isinstance(item, ToolItem):
            ToolWriter(builder, self.formats, folds, self._column_width).write(item)
        else:
            self._write_answer(item, builder, folds)

    def _write_answer(self, item: AnswerItem, builder: DocumentBuilder, folds: Folds) -> None:
        if item.thinking:
            self._write_thinking(item, builder, folds)
        if item.text:
            builder.write(item.text)
        if item.state is MessageState.INCOMPLETE:
            self._mark(builder, "◌ Incomplete: the rest of this answer did not arrive", self._tokens.plum)
        elif item.state is MessageState.STOPPED:
            self._mark(builder, "■ Stopped by you", self._tokens.text_3)
        elif not item.text and not item.thinking and not item.live:
            self._mark(builder, "No text", self._tokens.text_3)

    def _write_thinking(self, item: AnswerItem, builder: DocumentBuilder, folds: Folds) -> None:
        count = len(item.thinking.split())
        is_thinking = item.live and not item.text
        is_open = is_thinking or folds.is_open(item.key, default=False)
        words = f"{count:,} word" if count == 1 else f"{count:,} words"
        head = "Thinking…" if is_thinking else f"{'▾' if is_open else '▸'}  Thought in {words}"
        characters = QTextCharFormat(self.formats.small())
        if not is_thinking:
            characters.setAnchor(True)
            characters.setAnchorHref(fold_address(item.key))
        builder.paragraph(self.formats.block(), characters, head)
        if is_open:
            block = self.formats.block(2, 16, 20)
            builder.paragraph(block, self.formats.quiet(), item.thinking.strip())

    def _mark(self, builder: DocumentBuilder, words: str, colour: str) -> None:
        builder.paragraph(self.formats.block(8), self.formats.small(colour), words)
