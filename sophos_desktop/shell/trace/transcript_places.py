"""Finds in the transcript what an item of the trace is about, and brings it into the view.

Invariant: only scrolls and opens; where nothing is found nothing moves.
"""

from PySide6.QtCore import QCoreApplication, QEvent

from sophos_desktop.shell.trace.telling import Place
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard, ToolGroup
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView


def show_place(view: TranscriptView, place: Place) -> bool:
    """Bring a message or a call to the top of the view and the keyboard to the view; a call is opened. False
    if the transcript does not show it."""
    message, call_id = entry_of(view.model, place)
    if message is None:
        return False
    view.scroll_to_message(message)
    card = view.card(message)
    if call_id is not None and isinstance(card, ToolCard):
        card.open_call(call_id)
        view.transcript_layout.rows.remeasure_widgets(message)
        view.refresh()
        # What is inside of the card takes its place only now.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    view.setFocus()
    return True


def entry_of(model: TranscriptModel, place: Place) -> tuple[int | None, str | None]:
    """Which message of the transcript shows it, and which call of its card; None for what is not there.

    A message that only asked for tools has no text: its first call stands for it."""
    if place.call_id is None:
        for name in (place.message_id, f"{place.message_id}/thinking"):
            if (index := model.index_of(name)) is not None:
                return index, None
    beginning = f"{place.message_id}:"
    for index in range(len(model)):
        payload = model.message(index).payload
        for call in payload.calls if isinstance(payload, ToolGroup) else ():
            if call.key == place.call_id or (place.call_id is None and call.key.startswith(beginning)):
                return index, place.call_id
    return None, None
