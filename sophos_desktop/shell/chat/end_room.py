"""Room below the end of a conversation, so that what is above a card stays still when the card shrinks.

Invariant: the room is the last entry of the model or none; it only shrinks, by what comes before it, and it
goes as soon as it is used up or out of the view.
"""

from dataclasses import dataclass

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from sophos_desktop.shell.chat.shown_rows import ShownRows
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptMessage
from sophos_desktop.shell.transcript.view.layout import BOTTOM_MARGIN, Anchor, TranscriptLayout
from sophos_desktop.shell.transcript.view.news import END_ROOM
from sophos_desktop.shell.transcript.view.rows import AFTER_CARD, AFTER_USER


@dataclass(frozen=True, slots=True)
class Room:
    """The payload of the entry; pixels."""

    height: int


class RoomCard(QWidget):
    """Nothing to see."""

    def __init__(self, message: TranscriptMessage, parent: QWidget) -> None:
        """As high as the message says."""
        super().__init__(parent)
        self.setObjectName("endRoom")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._height = 0
        self.show_message(message)

    def show_message(self, message: TranscriptMessage) -> None:
        """Another height."""
        if isinstance(message.payload, Room):
            self._height = message.payload.height

    def sizeHint(self) -> QSize:
        """As high as the room."""
        return QSize(0, self._height)


class EndRoom:
    """Lives as long as its view. The view calls `look` after each layout."""

    def __init__(self, rows: ShownRows, layout: TranscriptLayout) -> None:
        """No room."""
        self._rows = rows
        self._layout = layout
        self._held: tuple[str, Anchor] | None = None  # a message's id, and where one of its parts is to be
        self._anchor = Anchor()  # what the layout held then
        self._is_changing = self._is_looking = False

    def forget(self) -> None:
        """Another conversation."""
        self._held = None
        self._is_changing = False

    def hold(self) -> None:
        """A card is about to be lower: what is above it must stay where it is now."""
        self._hold(self._layout.anchor)

    def hold_for_change(self, message: int | None) -> None:
        """The same of the card of `message`, which may also become a part of the card before it; if it
        reaches beyond the upper edge its top is to be seen. `restore` follows when the model has changed."""
        layout, anchor = self._layout, self._layout.anchor
        if anchor.message == message:
            anchor = Anchor(message, anchor.part, max(0, anchor.y))
            if message > 0 and layout.model.message(message - 1).kind is MessageKind.CARD:
                above = layout.rows.measure(message - 1, 0)
                anchor = Anchor(message - 1, 0, anchor.y - above)
        self._hold(anchor)
        self._is_changing = self._held is not None

    def _hold(self, anchor: Anchor) -> None:
        layout = self._layout
        # What is in the view as a whole stays there.
        if len(layout.model) and (layout.greatest_value > 0 or self._rows.has_room):
            self._held = layout.model.message(anchor.message).id, anchor
            self._anchor = layout.anchor

    def restore(self) -> bool:
        """The model has changed; True if the view has to be laid out again."""
        is_due, self._is_changing = self._is_changing, False
        if not is_due or self._held is None:
            return False
        name, anchor = self._held
        message = self._layout.model.index_of(name)
        if message is not None:
            self._layout.go_to(message, anchor.part, anchor.y)
            self._anchor = self._layout.anchor
        return True

    def look(self) -> None:
        """Have as much room as is needed now."""
        if self._held is None or self._is_looking or self._is_changing:
            return
        self._is_looking = True
        try:
            self._fit(*self._held)
        finally:
            self._is_looking = False

    def _fit(self, name: str, held: Anchor) -> None:
        layout = self._layout
        model, heights = layout.model, layout.rows.heights
        message = model.index_of(name)
        last, has_room = len(model) - 1, self._rows.has_room
        if message is None or (has_room and last not in layout.visible_messages):
            self._release()
            return
        room = heights.total - heights.top(last) if has_room else 0
        below = heights.total - room - heights.top(message) - layout.rows.row(message).heights.top(held.part)
        wanted = layout.height - BOTTOM_MARGIN - held.y - below
        gap = layout.rows.gap(last, 0) if has_room else _gap_after(model.message(last))
        if wanted <= gap:
            if has_room or layout.anchor != self._anchor:
                self._release()  # used up, or the reader is elsewhere
        elif wanted != room:
            if not has_room:
                layout.go_to(message, held.part, held.y)
            self._rows.show_room(_message(wanted - gap))

    def _release(self) -> None:
        self._held = None
        self._rows.show_room(None)


def _gap_after(last: TranscriptMessage) -> int:
    return AFTER_USER if last.kind is MessageKind.USER else AFTER_CARD


def _message(height: int) -> TranscriptMessage:
    return TranscriptMessage(END_ROOM, MessageKind.CARD, payload=Room(height), stands_apart=True)
