"""The shape of what the details pane tells of an item.

Invariant: frozen and pure; times are shown as the clock of this machine has them.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from sophos_desktop.core.domain.projection import JsonObject


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and its value; `is_warning`: it is what somebody has to look at."""

    label: str
    value: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in the transcript: a message, or a call (`<message id>:<index>`)."""

    message_id: str
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Telling:
    """All that is told. `is_code`: the title is a tool's name; `texts` are arguments and messages; `result`
    is what a call gave; `events` are what it comes from; `place` is None for what no transcript shows."""

    title: str
    facts: tuple[Fact, ...] = ()
    sentence: str = ""
    texts: tuple[str, ...] = ()
    result: str = ""
    events: tuple[JsonObject, ...] = ()
    place: Place | None = None
    is_code: bool = False


def plain(text: str) -> str:
    """A sentence of the app's without the marks of code: the pane shows plain text."""
    return re.sub(r"`([^`\n]+)`", "“\\1”", text)


def clock_time(at: str | None) -> str:
    """A stored time as hour, minute, second and millisecond; empty if there is none."""
    if not at:
        return ""
    return datetime.fromisoformat(at).astimezone().isoformat(timespec="milliseconds")[11:23]


def date_and_time(at: str) -> str:
    """The same after its day."""
    return f"{datetime.fromisoformat(at).astimezone().date().isoformat()} {clock_time(at)}"
