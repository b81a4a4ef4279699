"""Where the caret goes: by characters, words, lines and paragraphs, from segment to segment.

Invariant: a move ends at a place that exists; cards are passed over. Nothing is shown here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.copying.clipboard import DocumentOf
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel

_Operation = QTextCursor.MoveOperation


class MoveKind(Enum):
    """How far."""

    STEP = "step"  # within the text, by the cursor's own rules
    START_OF_ALL = "start"
    END_OF_ALL = "end"


@dataclass(frozen=True, slots=True)
class Move:
    """One key's meaning; `operation` is for STEP."""

    kind: MoveKind
    operation: QTextCursor.MoveOperation = _Operation.NoMove
    is_forward: bool = True

    @classmethod
    def of(cls, event: QKeyEvent) -> "Move | None":
        """What a key with Shift means; None for no move."""
        is_far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        found = _KEYS.get((Qt.Key(event.key()), is_far))
        return found if found is None or isinstance(found, Move) else cls(MoveKind.STEP, *found)


_KEYS: dict[tuple[Qt.Key, bool], "Move | tuple[QTextCursor.MoveOperation, bool]"] = {
    (Qt.Key.Key_Left, False): (_Operation.PreviousCharacter, False),
    (Qt.Key.Key_Right, False): (_Operation.NextCharacter, True),
    (Qt.Key.Key_Left, True): (_Operation.PreviousWord, False),
    (Qt.Key.Key_Right, True): (_Operation.NextWord, True),
    (Qt.Key.Key_Up, False): (_Operation.Up, False),
    (Qt.Key.Key_Down, False): (_Operation.Down, True),
    (Qt.Key.Key_Up, True): (_Operation.PreviousBlock, False),
    (Qt.Key.Key_Down, True): (_Operation.NextBlock, True),
    (Qt.Key.Key_Home, False): (_Operation.StartOfLine, False),
    (Qt.Key.Key_End, False): (_Operation.EndOfLine, True),
    (Qt.Key.Key_Home, True): Move(MoveKind.START_OF_ALL),
    (Qt.Key.Key_End, True): Move(MoveKind.END_OF_ALL),
}


def moved(model: TranscriptModel, document_of: DocumentOf, place: TextPosition, move: Move) -> TextPosition:
    """Where `move` leads from `place`."""
    if move.kind is MoveKind.START_OF_ALL:
        return next(_neighbours(model, TextPosition(-1, 0, 0), is_forward=True), place)
    last = next(_neighbours(model, TextPosition(len(model), 0, 0), is_forward=False), None)
    if last is None:
        return place
    if move.kind is MoveKind.END_OF_ALL or place.message >= len(model):
        end = _length(document_of(last.message, last.segment))
        place = TextPosition(last.message, last.segment, end)
        if move.kind is MoveKind.END_OF_ALL:
            return place
    document = document_of(place.message, place.segment)
    cursor = QTextCursor(document)
    cursor.setPosition(min(place.character, _length(document)))
    if cursor.movePosition(move.operation) or move.operation in (
        _Operation.StartOfLine,
        _Operation.EndOfLine,
    ):
        return TextPosition(place.message, place.segment, cursor.position())
    beyond = next(_neighbours(model, place, is_forward=move.is_forward), None)
    if beyond is None:
        return TextPosition(place.message, place.segment, _length(document) if move.is_forward else 0)
    if move.is_forward:
        return beyond
    end = _length(document_of(beyond.message, beyond.segment))
    return TextPosition(beyond.message, beyond.segment, end)


def _length(document: QTextDocument) -> int:
    return max(0, document.characterCount() - 1)


def _neighbours(model: TranscriptModel, place: TextPosition, *, is_forward: bool) -> Iterator[TextPosition]:
    """The segments before or behind that of `place`, nearest first."""
    step = 1 if is_forward else -1
    message, segment = place.message, place.segment + step
    if not 0 <= message < len(model):
        message, segment = message + step, 0 if is_forward else -1
        if not is_forward and 0 <= message < len(model):
            segment = len(model.segments(message)) - 1
    while 0 <= message < len(model):
        segments = model.segments(message)
        while 0 <= segment < len(segments):
            yield TextPosition(message, segment, 0)
            segment += step
        message += step
        if 0 <= message < len(model):
            segment = 0 if is_forward else len(model.segments(message)) - 1
