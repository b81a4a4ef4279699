"""Shows the items of one conversation as text.

Invariant: only what changed is written again: each item owns a frame of the document, and an item that is
the same object as before is not touched. No image, style or link of an answer makes Qt read anything; a
link is only reported, never followed. The text stays where it is while the reader looks at older parts.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor, QTextFrame
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from sophos_desktop.shell.chat.folds import ALL_SCHEME, FOLD_SCHEME, Folds
from sophos_desktop.shell.chat.item_writer import ItemWriter
from sophos_desktop.shell.chat.items import Item, ToolItem
from sophos_desktop.shell.chat.markdown import may_open
from sophos_desktop.shell.chat.tool_writer import opens_by_itself
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import COLUMN_MARGIN, COLUMN_WIDTH

_WINDOW = 120
_EARLIER = "sophos-earlier:"


class _Shown:
    """An item on the screen and the frame that holds it."""

    def __init__(self, item: Item, frame: QTextFrame) -> None:
        self.item = item
        self.frame = frame


class Transcript(QTextBrowser):
    """Lives as long as its window, on the GUI thread."""

    link_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName("Conversation")
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(0)
        self._theme = theme
        self._column = COLUMN_WIDTH
        self._writer = ItemWriter(theme.tokens, self._column)
        self._items: Sequence[Item] = ()
        self._shown: list[_Shown] = []
        self._earlier = 0
        self._folds = Folds()
        self._follows_by_key = False
        self.anchorClicked.connect(self._on_anchor_clicked)
        self._follows_end = True
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        self.verticalScrollBar().actionTriggered.connect(self._on_scrolled)
        theme.changed.connect(self._write_all)

    def loadResource(self, resource_type: int, name: QUrl | str) -> Any:
        """Nothing is ever loaded: an answer is untrusted."""
        return None

    @property
    def shown_items(self) -> list[Item]:
        """What is written into the document."""
        return [shown.item for shown in self._shown]

    def open_items(self, items: Sequence[Item]) -> None:
        """Show another conversation, from its end."""
        self._earlier = max(0, len(items) - _WINDOW)
        self._folds.clear()
        self._items = items
        self._write_all()
        self._scroll_to_end()

    def show_items(self, items: Sequence[Item]) -> None:
        """Show the conversation as it is now; writes only what changed."""
        self._items = items
        if len(items) < self._earlier:
            self._earlier = max(0, len(items) - _WINDOW)
            self._write_all()
            return
        follows = self._is_at_end()
        self._write_changes(items[self._earlier :])
        if follows:
            self._scroll_to_end()

    def _write_changes(self, items: Sequence[Item]) -> None:
        same = 0
        for shown, item in zip(self._shown, items, strict=False):
            if shown.item.key != item.key:
                break
            if shown.item is not item:
                self._rewrite(shown, item)
            same += 1
        self._cut(same)
        for item in items[same:]:
            self._append(item)

    def _write_all(self) -> None:
        value = self.verticalScrollBar().value()
        follows = self._is_at_end()
        self._writer = ItemWriter(self._theme.tokens, self._column)
        self._shown.clear()
        self.document().clear()
        if self._earlier:
            self._write_earlier_line()
        for item in self._items[self._earlier :]:
            self._append(item)
        if follows:
            self._scroll_to_end()
        else:
            self.verticalScrollBar().setValue(value)

    def _write_earlier_line(self) -> None:
        formats = self._writer.formats
        cursor = QTextCursor(self.document())
        cursor.setBlockFormat(formats.block(12))
        words = f"Show earlier messages ({self._earlier:,})"
        cursor.insertText(words, formats.link(formats.small(), _EARLIER))
        cursor.insertBlock()

    def _append(self, item: Item) -> None:
        formats = self._writer.formats
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        gap = self._writer.gap_before(item, is_first=not self._shown)
        cursor.setBlockFormat(formats.spacer(gap))
        cursor.setBlockCharFormat(formats.hair())
        frame = cursor.insertFrame(self._writer.frame_format(item))
        self._shown.append(_Shown(item, frame))
        self._fill(frame, item)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(formats.spacer(12))
        cursor.setBlockCharFormat(formats.hair())
        cursor.endEditBlock()

    def _rewrite(self, shown: _Shown, item: Item) -> None:
        cursor = shown.frame.firstCursorPosition()
        cursor.beginEditBlock()
        cursor.setPosition(shown.frame.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._fill(shown.frame, item)
        cursor.endEditBlock()
        shown.item = item

    def _fill(self, frame: QTextFrame, item: Item) -> None:
        cursor = frame.firstCursorPosition()
        self._writer.write(item, cursor, self._folds)

    def _cut(self, count: int) -> None:
        """Take away all items but the first `count`."""
        if count >= len(self._shown):
            return
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._shown[count].frame.firstPosition() - 1)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self._shown[count:]

    def _is_at_end(self) -> bool:
        return self._follows_end and not self.textCursor().hasSelection()

    def _scroll_to_end(self) -> None:
        # Qt scrolls to the text cursor whenever the view is shown or gets the focus.
        self.moveCursor(QTextCursor.MoveOperation.End)
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._follows_end = True

    def _on_scrolled(self) -> None:
        # By the reader: layout moves the bar too, and that says nothing about what the reader wants.
        bar = self.verticalScrollBar()
        self._follows_end = bar.sliderPosition() >= bar.maximum() - 8

    def _on_range_changed(self) -> None:
        # A long document is laid out bit by bit: its end moves after it was scrolled to.
        follows = self._is_at_end()
        self._place_column()
        if follows:
            self._scroll_to_end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column in the middle."""
        follows = self._is_at_end()
        column = self._place_column()
        super().resizeEvent(event)
        if column != self._column:
            self._column = column
            self._write_all()
        if follows:
            self._scroll_to_end()

    def _place_column(self) -> int:
        """Set the margins; gives the width between them."""
        column = max(200, min(COLUMN_WIDTH, self.width() - COLUMN_MARGIN))
        side = max(0, (self.width() - column) // 2)
        # The scroll bar stays at the edge: while it is there, the right margin is shorter by its width.
        bar = self.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > bar.minimum() else 0
        self.setViewportMargins(side, 0, max(0, side - taken), 0)
        return column

    def _on_anchor_clicked(self, url: QUrl) -> None:
        address = url.toString()
        if address == _EARLIER:
            self._show_earlier()
        elif url.scheme() == FOLD_SCHEME:
            self._toggle(address.removeprefix(FOLD_SCHEME + ":"), address)
        elif url.scheme() == ALL_SCHEME:
            part = address.removeprefix(ALL_SCHEME + ":")
            self._folds.show_all(part)
            self._write_in_place(part.rpartition("/")[0])
        elif may_open(address):
            self.link_chosen.emit(address)

    def _show_earlier(self) -> None:
        bar = self.verticalScrollBar()
        below = bar.maximum() - bar.value()
        self._earlier = max(0, self._earlier - _WINDOW)
        self._write_all()
        bar.setValue(max(0, bar.maximum() - below))

    def _toggle(self, key: str, address: str) -> None:
        """Open or close a block; who came by keyboard stays on its link."""
        shown = next((shown for shown in self._shown if shown.item.key == key), None)
        if shown is None:
            return
        value = self.verticalScrollBar().value()
        default = isinstance(shown.item, ToolItem) and opens_by_itself(shown.item)
        self._folds.set_open(key, is_open=not self._folds.is_open(key, default=default))
        self._write_in_place(key)
        if self._follows_by_key:
            self._select_link(shown.frame.firstPosition(), address)
        else:
            self.setTextCursor(QTextCursor(self.document()))  # Qt selects the link that was clicked
            self.verticalScrollBar().setValue(value)

    def _write_in_place(self, key: str) -> None:
        """Write an item again, with what is above it where it was."""
        value = self.verticalScrollBar().value()
        self._follows_end = False
        for shown in self._shown:
            if shown.item.key == key:
                self._rewrite(shown, shown.item)
        self.verticalScrollBar().setValue(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remember that a link is followed by key."""
        self._follows_by_key = True
        try:
            super().keyPressEvent(event)
        finally:
            self._follows_by_key = False

    def _select_link(self, start: int, address: str) -> None:
        """Put the keyboard's place on a link: Qt takes a selected link for the one that Enter follows."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        while cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor):
            if cursor.charFormat().anchorHref() != address:
                cursor.movePosition(
                    QTextCursor.MoveOperation.PreviousCharacter, QTextCursor.MoveMode.KeepAnchor
                )
                break
        self.setTextCursor(cursor)
