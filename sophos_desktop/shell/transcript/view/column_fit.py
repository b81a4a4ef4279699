"""How wide the column of a conversation is in a view, and where it stands. Pure; LOOK's measures and its
rule for narrow windows.
"""

from dataclasses import dataclass

from sophos_desktop.shell.transcript.drawing.looks import Looks

_NARROWEST = 200
_NARROW_BUBBLE = 440


@dataclass(frozen=True, slots=True)
class ColumnFit:
    """Pixels: where the column begins, how wide it is, how wide a message of the user's may be."""

    left: int
    column: int
    bubble: int

    @classmethod
    def of(cls, looks: Looks, width: int) -> "ColumnFit":
        """In a view of this width."""
        measures = looks.tokens.measures
        whole = looks.scaled(measures.column_width)
        column = max(_NARROWEST, min(whole, width - measures.column_margin))
        bubble = looks.scaled(measures.bubble_width if column == whole else _NARROW_BUBBLE)
        return cls((width - column) // 2, column, min(bubble, column))
