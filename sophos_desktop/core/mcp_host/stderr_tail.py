"""Keeps the last lines that a server wrote to stderr.

Invariant: bounded in lines and in characters a line, whatever is written; taking text in never waits.
"""

import codecs
from collections import deque

LINES = 200
LINE_LENGTH = 2000


class StderrTail:
    """A ring of lines. Lives as long as its server's task, over all its processes."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)
        self._open_line = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, data: bytes) -> None:
        """Take in what the process wrote, cut anywhere."""
        *ended, rest = (self._open_line + self._decoder.decode(data)).split("\n")
        for line in ended:
            self._lines.append(_cut(line))
        self._open_line = rest[:LINE_LENGTH]

    def note(self, text: str) -> None:
        """Add a line of our own, in brackets."""
        self._lines.append(_cut(f"[{text}]"))

    def end(self) -> None:
        """The process is gone: what it wrote without a line break is a line too."""
        if self._open_line:
            self._lines.append(_cut(self._open_line))
        self._open_line = ""
        self._decoder.reset()

    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first, each at most `LINE_LENGTH` characters."""
        open_line = (_cut(self._open_line),) if self._open_line else ()
        return (*self._lines, *open_line)

    def last_words(self) -> str:
        """The last line that says something, at most 200 characters; empty if there is none."""
        spoken = (line.strip() for line in reversed(self.lines()) if line.strip())
        return next((line for line in spoken if not line.startswith("[")), "")[:200]


def _cut(line: str) -> str:
    return line.rstrip("\r")[:LINE_LENGTH]
