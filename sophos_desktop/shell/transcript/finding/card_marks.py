"""Marks what was found in cards, and opens the card that hides it.

Invariant: cards that nobody opened stay shut until a hit in them is gone to.
"""

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.transcript.cards.call_part import CallPart
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingRow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.finding.find import Hit
from sophos_desktop.shell.transcript.text.text_search import places
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_MOST_MARKED = 1_000
_MARGIN = 24


class CardMarks:
    """Lives as long as its find bar."""

    def __init__(self, view: TranscriptView) -> None:
        """Nothing is marked."""
        self._view = view

    def show(self, needle: str, current: Hit | None) -> None:
        """Mark `needle` in every open card in the view; `current` gets the frame."""
        for message in self._view.transcript_layout.visible_messages:
            card = self._view.card(message)
            is_here = current is not None and current.message == message
            if isinstance(card, ToolCard):
                for head in card.heads:
                    found = places(head.names, needle, _MOST_MARKED)
                    is_chosen = is_here and current is not None and card.head(current.part) is head
                    head.show_matches(found, _index(current if is_chosen else None, len(found)))
                for part in card.all_parts():
                    chosen = current if is_here and current is not None and current.part == part.key else None
                    found = places(part.lines.text, needle, _MOST_MARKED)
                    part.lines.show_matches(found, _index(chosen, len(found)))
            elif isinstance(card, ThinkingRow) and card.is_open:
                found = places(card.text.shown_text(), needle, _MOST_MARKED)
                card.text.show_matches(found, _index(current if is_here else None, len(found)))

    def reveal(self, hit: Hit, needle: str) -> None:
        """Open what hides a hit in a card, and bring the hit into the view."""
        view = self._view
        if hit.message not in view.transcript_layout.visible_messages:
            view.scroll_to_message(hit.message)
        card = view.card(hit.message)
        target: tuple[QWidget, QRect] | None = None
        if isinstance(card, ToolCard) and (head := card.head(hit.part)) is not None:
            target = head, head.rect()
        elif isinstance(card, ToolCard):
            card.open_call(hit.part.rpartition("/")[0])
            part = next((part for part in card.all_parts() if part.key == hit.part), None)
            if part is not None:
                target = part.lines, self._place_in_part(part, hit, needle)
        elif isinstance(card, ThinkingRow):
            card.open()
            found = places(card.text.shown_text(), needle, _MOST_MARKED)
            position = found[min(hit.start, len(found) - 1)][0] if found else 0
            target = card.text, card.text.rectangle_of(position)
        view.transcript_layout.rows.remeasure_widgets(hit.message)
        view.refresh()
        # What is inside of the card takes its place only now.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        if target is not None:
            self._bring_into_view(*target)

    def _place_in_part(self, part: CallPart, hit: Hit, needle: str) -> QRect:
        found = places(part.lines.text, needle, hit.start + 1)
        position = found[-1][0] if found else 0
        if part.lines.rows.count and position > part.lines.rows.row(part.lines.rows.count - 1)[1]:
            part.open_whole()
            found = places(part.lines.text, needle, hit.start + 1)
            position = found[-1][0] if found else 0
        return part.lines.rectangle_of(position)

    def _bring_into_view(self, widget: QWidget, place: QRect) -> None:
        viewport = self._view.viewport()
        top = widget.mapTo(viewport, QPoint(0, place.top())).y()
        height = viewport.height()
        if not _MARGIN <= top <= height - place.height() - _MARGIN:
            self._view.scroll_by(top - height // 3)


def _index(hit: Hit | None, count: int) -> int:
    return -1 if hit is None else min(hit.start, count - 1)
