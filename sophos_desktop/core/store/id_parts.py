"""Finds ids by a part of them (CLI.md, "Ids").

Invariant: a part is a beginning or an ending; dashes and case do not count; `%` and `_` are characters.
"""

from typing import Any

from sqlalchemy import ColumnElement, func, or_

ESCAPE = "\\"


def has_part(column: ColumnElement[Any], part: str) -> ColumnElement[bool]:
    """True for rows whose id begins or ends with `part`."""
    plain = literal(part.replace("-", "").lower())
    compact = func.replace(column, "-", "")
    return or_(compact.like(f"{plain}%", escape=ESCAPE), compact.like(f"%{plain}", escape=ESCAPE))


def literal(text: str) -> str:
    """`text` for LIKE, with nothing in it that is a pattern."""
    for special in (ESCAPE, "%", "_"):
        text = text.replace(special, ESCAPE + special)
    return text
