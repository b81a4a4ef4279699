"""The silence guards: what a test said on the way that it had not announced.

Invariant: a log record of WARNING or above, or a message of Qt's, fails the test that caused it, unless the
test announced it with the fixture `expected_logs`; an announcement that does not come true fails it too.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# What Qt's offscreen platform says of each window: it has no window manager.
_QT_NOISE = re.compile(
    r"This plugin does not support"
    r"|QFontDatabase: Cannot find font directory"
    r"|Note that Qt no longer ships fonts"
)


class ExpectedLogs:
    """What one test announces, and what was said. Lives as long as the test."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._patterns: list[tuple[re.Pattern[str], int]] = []

    def __call__(self, pattern: str, *, at_least: int = 1) -> None:
        """Announce records that `pattern` (a regular expression) is found in, `at_least` so many.

        A record reads `WARNING logger.name: message`, a message of Qt's `QT category: message`.
        """
        self._patterns.append((re.compile(pattern), at_least))

    def problems(self) -> list[str]:
        """What was said unannounced, and what was announced and not said."""
        unannounced = [
            f"said, and not announced with expected_logs: {line}"
            for line in self.said
            if not any(pattern.search(line) for pattern, _ in self._patterns)
        ]
        unsaid = [
            f"announced with expected_logs, and not said (at least {at_least} times): {pattern.pattern}"
            for pattern, at_least in self._patterns
            if sum(1 for line in self.said if pattern.search(line)) < at_least
        ]
        return unannounced + unsaid


class _Collector(logging.Handler):
    """Collects while a test runs. Threads may log: appending to a list is atomic."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            line += f" ({record.exc_info[1]!r})"
        self._lines.append(line)


@contextmanager
def log_records_collected(lines: list[str]) -> Iterator[None]:
    """Add every log record of WARNING or above to `lines`."""
    collector = _Collector(lines)
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield
    finally:
        root.removeHandler(collector)


@contextmanager
def qt_messages_collected(lines: list[str]) -> Iterator[None]:
    """Add every message of Qt's to `lines`, if Qt is loaded at all."""
    core: Any = sys.modules.get("PySide6.QtCore")
    if core is None:
        yield
        return

    def collect(kind: object, context: Any, message: str) -> None:
        if not _QT_NOISE.search(message):
            category = context.category if context is not None else "default"
            lines.append(f"QT {category}: {message}")

    # pytest-qt has a handler of its own, per phase of a test; the plugin switches that one off.
    previous: Callable[..., None] | None = core.qInstallMessageHandler(collect)
    try:
        yield
    finally:
        core.qInstallMessageHandler(previous)
