"""What the cards are told, and the words and marks for it.

Invariant: plain frozen data; each state has a mark and a word of its own. No widget.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final
from urllib.parse import urlsplit

from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.transcript.text.drawable_text import escaped

_LONGEST_ARGUMENT = 200


class CallState(Enum):
    """Where a call stands."""

    WAITING = "waiting"  # its turn has not come
    ASKED = "asked"  # the user is asked whether it may run
    ALLOWED = "allowed"  # the user was asked, and it runs once all are decided
    AGAIN = "again"  # the same, of a call that may have run before
    ENTERED = "entered"  # the user knows its result
    RUNNING = "running"
    DONE = "ok"
    FAILED = "error"
    DENIED = "denied"
    UNCERTAIN = "uncertain"  # it may have run, and the user is asked what to do
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"  # its turn never came, and nothing goes on


@dataclass(frozen=True, slots=True)
class StateLook:
    """A state as it is drawn; `colour` and `frame` are names of tokens."""

    mark: Mark
    word: str
    colour: str
    frame: str = "border_strong"


LOOKS: Final[Mapping[CallState, StateLook]] = {
    CallState.WAITING: StateLook(Mark.QUEUED, "Waiting", "text_2"),
    CallState.ASKED: StateLook(Mark.WAITING, "Waiting for you", "warning", "warning_line"),
    CallState.ALLOWED: StateLook(Mark.RESUME, "Allowed by you", "text_2"),
    CallState.AGAIN: StateLook(Mark.AGAIN, "Runs again", "text_2"),
    CallState.ENTERED: StateLook(Mark.WRITING, "Result entered", "text_2"),
    CallState.RUNNING: StateLook(Mark.RUNNING, "Running", "accent"),
    CallState.DONE: StateLook(Mark.DONE, "Done", "success"),
    CallState.FAILED: StateLook(Mark.FAILED, "Failed", "danger"),
    CallState.DENIED: StateLook(Mark.DENIED, "Denied by you", "text_2"),
    CallState.UNCERTAIN: StateLook(Mark.UNCERTAIN, "Uncertain", "warning", "warning_line"),
    CallState.INTERRUPTED: StateLook(Mark.INTERRUPTED, "Interrupted", "plum"),
    CallState.SKIPPED: StateLook(Mark.SKIPPED, "Skipped", "text_2"),
    CallState.NOT_RUN: StateLook(Mark.STOPPED, "Not run", "text_2"),
}


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One call of a tool. `arguments` is JSON text; `running_since` counts as time.monotonic does, in
    seconds; `duration_ms` is known once it ended; `is_edited`: the user changed the arguments."""

    key: str
    server: str
    tool: str
    arguments: str = "{}"
    state: CallState = CallState.WAITING
    duration_ms: int | None = None
    running_since: float | None = None
    result: str = ""
    is_edited: bool = False

    @property
    def needs_user(self) -> bool:
        """True for a call that has a card of its own because somebody is asked."""
        return self.state in (CallState.ASKED, CallState.UNCERTAIN)

    @property
    def opens_by_itself(self) -> bool:
        """A failed call is open until the reader closes it; every other is closed until it is opened."""
        return self.state is CallState.FAILED

    def duration_at(self, now: float) -> str:
        """The duration in words at the moment `now` (of time.monotonic, in seconds); empty if not known."""
        if self.state is CallState.RUNNING:
            return "" if self.running_since is None else running_words(now - self.running_since)
        return "" if self.duration_ms is None else duration_words(self.duration_ms)


@dataclass(frozen=True, slots=True)
class MetaFacts:
    """What is known of an answer, in words already: empty parts are left out. `state`: why it ended
    early, with its mark."""

    model: str = ""
    time: str = ""
    tokens: int | None = None
    speed: float | None = None
    state: str = ""
    mark: Mark | None = None
    colour: str = "text_3"

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts in the order they are shown; `speed` counts tokens a second."""
        tokens = "" if self.tokens is None else f"{self.tokens:,} {'token' if self.tokens == 1 else 'tokens'}"
        speed = "" if self.speed is None else f"{self.speed:.1f} tok/s"
        return tuple(part for part in (self.state, self.model, self.time, tokens, speed) if part)


def duration_words(milliseconds: int) -> str:
    """`9 ms`, `2.6 s`, `3 min 20 s`."""
    if milliseconds < 1_000:
        return f"{max(0, milliseconds)} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def running_words(seconds: float) -> str:
    """The duration of what goes on: tenths, so that its width stays."""
    return duration_words(round(seconds * 10) * 100) if seconds >= 0.95 else f"{max(0.0, seconds):.1f} s"


def size_words(size_bytes: int) -> str:
    """`18 bytes`, `4.2 MB`."""
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= power:
            return f"{size_bytes / power:.1f} {unit}"
    return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"


def short_argument(arguments: str) -> str:
    """The argument that tells most in a few words: the first that is a word or a number; of an address its
    host. Empty for none, and for what is not JSON."""
    try:
        value = json.loads(arguments) if len(arguments) < 100_000 else None
    except (ValueError, RecursionError):
        return ""
    found = _first_scalar(value, 4)
    if found is None:
        return ""
    text = escaped(" ".join(str(found)[:_LONGEST_ARGUMENT].split()))
    if "://" in text:
        host = _host(text)
        if host:
            return host
    return f'"{text}"' if " " in text else text


def _first_scalar(value: Any, depth: int) -> str | int | float | None:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value if value != "" else None
    if depth == 0 or not isinstance(value, dict | list):
        return None
    for inner in value.values() if isinstance(value, dict) else value:
        found = _first_scalar(inner, depth - 1)
        if found is not None:
            return found
    return None


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
