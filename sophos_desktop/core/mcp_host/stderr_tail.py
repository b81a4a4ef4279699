"""Keeps the last lines that a server wrote to stderr, and our own notes about what it did.

Invariant: bounded in lines and in characters a line, whatever is written; what comes out can be shown (no
terminal sequences, no hidden characters); taking text in never waits; a note that repeats is counted.
"""

import codecs
from collections import deque

from sophos_desktop.core.mcp_host.known_endings import tells_nothing
from sophos_desktop.core.mcp_host.shown_text import shown

LINES = 200
LINE_LENGTH = 2000


class StderrTail:
    """A ring of lines. Lives as long as its server's task, over all its processes."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)
        self._open_line = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._last_note = ""
        self._repeated = 0

    def feed(self, data: bytes) -> None:
        """Take in what the process wrote, cut anywhere."""
        *ended, rest = (self._open_line + self._decoder.decode(data)).split("\n")
        for line in ended:
            self._add(line)
        self._open_line = rest[:LINE_LENGTH]

    def note(self, text: str) -> None:
        """Add a line of our own, in brackets; the same as the line before is counted there."""
        is_repeated = text == self._last_note and bool(self._lines)
        times = self._repeated + 1 if is_repeated else 1
        if is_repeated:
            self._lines.pop()
        self._add(f"[{text}]" if times == 1 else f"[{text}] ({times} times)")
        self._last_note, self._repeated = text, times

    def end(self) -> None:
        """The process is gone: what it wrote without a line break is a line too."""
        if self._open_line:
            self._add(self._open_line)
        self._open_line = ""
        self._decoder.reset()

    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first, each at most `LINE_LENGTH` characters."""
        open_line = (_cut(self._open_line),) if self._open_line else ()
        return (*self._lines, *open_line)

    def last_words(self) -> str:
        """The last line that says something, at most 200 characters; empty if there is none."""
        spoken = (line.strip() for line in reversed(self.lines()) if line.strip())
        telling = (line for line in spoken if not line.startswith("[") and not tells_nothing(line))
        return next(telling, "")[:200]

    def _add(self, line: str) -> None:
        self._lines.append(_cut(line))
        self._last_note = ""


def _cut(line: str) -> str:
    return shown(line[: LINE_LENGTH + 1].rstrip("\r"), LINE_LENGTH)
