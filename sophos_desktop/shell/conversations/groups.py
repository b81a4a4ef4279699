"""Puts a list of conversations, pinned first and then newest first, into groups by their day.

Invariant: pure; each row is in exactly one group, groups are in the order of the rows, none is empty.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.foundation.clock import from_text, to_text

PINNED = "Pinned"
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class Group:
    """A run of rows from `first` on."""

    name: str
    first: int


def grouped(rows: Sequence[Conversation], now: datetime) -> list[Group]:
    """The groups of `rows`; `now` is aware, its time zone says where a day begins.

    Costs a few looks a group, not one a row."""
    groups: list[Group] = []
    row = bisect_left(rows, True, key=lambda conversation: not conversation.pinned)
    if row:
        groups.append(Group(PINNED, 0))
    while row < len(rows):
        name, begin = _group_of(from_text(rows[row].updated_at), now)
        groups.append(Group(name, row))
        after = to_text(begin)
        row = max(
            row + 1,
            bisect_left(rows, True, lo=row, key=lambda conversation: conversation.updated_at < after),
        )
    return groups


def _group_of(moment: datetime, now: datetime) -> tuple[str, datetime]:
    """A group's name and when it begins."""
    today = now.date()
    day = moment.astimezone(now.tzinfo).date()
    days = (today - day).days
    if days <= 0:
        name, begin = "Today", today
    elif days == 1:
        name, begin = "Yesterday", day
    elif days < 7:
        name, begin = "Last 7 days", today - timedelta(days=6)
    else:
        name, begin = _MONTHS[day.month - 1], day.replace(day=1)
        if day.year != today.year:
            name = f"{name} {day.year}"
    return name, datetime.combine(begin, time(), tzinfo=now.tzinfo)
