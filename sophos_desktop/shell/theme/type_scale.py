"""The roles that type plays in the window.

Invariant: every text of the window is set in one of these; sizes and lines of `TYPE` are pixels at 100 %.
"""

from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Final

REGULAR: Final = 400
MEDIUM: Final = 500
SEMIBOLD: Final = 600
_NATURAL_LINE: Final = 1.21  # Inter's own line height, of its size
_ROOM: Final = 12  # around the line in a row
_OF_READING: Final = frozenset({"reading", "inline_code", "table", "table_head"})


@dataclass(frozen=True, slots=True)
class TypeRole:
    """`size` and `line` in pixels; `is_tabular`: figures are of one width, for what changes or stands in
    columns; `spacing` is added between letters, in pixels."""

    size: int
    line: int
    weight: int = REGULAR
    is_code: bool = False
    is_tabular: bool = False
    spacing: float = 0.0

    def scaled(self, scale: float) -> "TypeRole":
        """The same role, larger or smaller."""
        size, line = max(1, round(self.size * scale)), max(1, ceil(self.line * scale))
        return replace(self, size=size, line=line)


@dataclass(frozen=True, slots=True)
class TypeScale:
    """All roles; the same in both themes."""

    reading: TypeRole = TypeRole(15, 24)
    heading_1: TypeRole = TypeRole(20, 28, SEMIBOLD, spacing=-0.1)
    heading_2: TypeRole = TypeRole(17, 24, SEMIBOLD, spacing=-0.1)
    heading_3: TypeRole = TypeRole(15, 24, SEMIBOLD)
    interface: TypeRole = TypeRole(13, 20, is_tabular=True)
    name: TypeRole = TypeRole(13, 20, MEDIUM, is_tabular=True)
    title: TypeRole = TypeRole(13, 20, SEMIBOLD, is_tabular=True)
    small: TypeRole = TypeRole(12, 16, is_tabular=True)
    small_name: TypeRole = TypeRole(12, 16, MEDIUM, is_tabular=True)
    badge: TypeRole = TypeRole(11, 16, MEDIUM, is_tabular=True)
    group_head: TypeRole = TypeRole(11, 16, SEMIBOLD)
    figure_label: TypeRole = TypeRole(11, 16, is_tabular=True)
    code: TypeRole = TypeRole(12, 18, is_code=True)
    tool_name: TypeRole = TypeRole(12, 18, MEDIUM, is_code=True)
    inline_code: TypeRole = TypeRole(13, 24, is_code=True)
    table: TypeRole = TypeRole(14, 20, is_tabular=True)
    table_head: TypeRole = TypeRole(12, 16, SEMIBOLD)

    def scaled(self, interface: float, reading: float) -> "TypeScale":
        """All roles, each larger by the factor of what it is used for."""
        made: dict[str, TypeRole] = {
            field.name: getattr(self, field.name).scaled(reading if field.name in _OF_READING else interface)
            for field in fields(self)
        }
        return replace(self, **made)


TYPE: Final = TypeScale()


def grown(measure: int, size: int, scale: float) -> int:
    """The height of a row that is `measure` high at 100 % and holds a line of type of `size`: never lower
    than that, and as much higher as the line needs, with the room that it has at 100 % (12 at most)."""
    room = min(_ROOM, measure - ceil(size * _NATURAL_LINE))
    return max(measure, ceil(size * scale * _NATURAL_LINE) + room)
