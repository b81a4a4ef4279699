"""The roles that type plays in the window.

Invariant: every text of the window is set in one of these; sizes and lines are pixels at 100 %.
"""

from dataclasses import dataclass
from typing import Final

REGULAR: Final = 400
MEDIUM: Final = 500
SEMIBOLD: Final = 600


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


TYPE: Final = TypeScale()
