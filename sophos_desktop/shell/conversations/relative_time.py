"""Says when something was, as a person would.

Invariant: pure; the result depends on the two moments and the local time zone alone.
"""

from datetime import datetime

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def relative_time(moment: datetime, now: datetime) -> str:
    """`10:42` today, `Yesterday`, `Fri` within a week, `26 Nov` this year, else with the year.

    Both moments are aware; days are those of `now`'s time zone."""
    local = moment.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    if days <= 0:
        return f"{local:%H:%M}"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return _DAYS[local.weekday()]
    day = f"{local.day} {_MONTHS[local.month - 1]}"
    return day if local.year == now.year else f"{day} {local.year}"
