"""Sets up the program's log: one rotating file, at most 5 × 1 MB, times in UTC.

Invariant: the log never makes the program fail or speak: a folder that cannot be written, a full disk and a
missing standard error are all silent. Chats are private: no caller logs the text of messages, tool arguments
or results, nor keys; ids, sizes, codes and paths are what a line may hold.
"""

import logging
import os
import time
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from sophos_desktop.foundation.small_file import refuse_special

FILE_NAME = "sophos.log"
MAX_BYTES = 1_000_000
FILES = 5

# They report each request, or each file they lock, at INFO or DEBUG.
NOISY_LOGGERS = ("aiosqlite", "filelock", "httpcore", "httpx", "markdown_it", "mcp", "openai", "urllib3")

_FORMAT = "%(asctime)s.%(msecs)03dZ %(levelname)s %(process)d %(name)s: %(message)s"


class _SharedRotatingFile(RotatingFileHandler):
    """Writes to one file that several processes may share and rotate. Lives from set-up to close."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        if path.exists():
            refuse_special(path)  # a pipe would block
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        self._follow_rotation()
        super().emit(record)

    def _follow_rotation(self) -> None:
        """Go on in the new file if another process rotated this one away."""
        if self.stream is None:
            return
        try:
            same = os.path.samestat(os.fstat(self.stream.fileno()), Path(self.baseFilename).stat())
        except FileNotFoundError:
            same = False
        except (OSError, ValueError):
            return
        if not same:
            self.stream.close()
            self.stream = None  # the base class opens it again when it is None

    def doRollover(self) -> None:
        try:
            super().doRollover()
        except OSError:
            # Windows refuses to rename a file that another process has open: go on in this one.
            if self.stream is None:
                self.stream = self._open()

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk must not spill onto a command line's standard error, which is a contract."""


def set_up_logging(log_dir: Path, *, level: int | str = logging.INFO) -> Callable[[], None]:
    """Log everything from `level` on into `log_dir`; warnings of Python go there too.

    Returns what puts everything back as it was. Never raises OSError: where nothing can be written, nothing
    is logged.
    """
    handler = _make_handler(log_dir)
    handler.setLevel(level)
    formatter = logging.Formatter(_FORMAT, datefmt="%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)

    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in NOISY_LOGGERS}
    root_level = root.level
    root.setLevel(level)
    root.addHandler(handler)
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)

    def close() -> None:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.setLevel(root_level)
        for name, previous in levels.items():
            logging.getLogger(name).setLevel(previous)
        try:
            handler.close()
        except OSError:
            pass  # a full disk: what was not written yet is lost, and nobody else's work

    return close


def _make_handler(log_dir: Path) -> logging.Handler:
    try:
        log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _SharedRotatingFile(
            log_dir / FILE_NAME, maxBytes=MAX_BYTES, backupCount=FILES - 1, encoding="utf-8"
        )
    except OSError:
        # With no handler at all, Python would print warnings on standard error.
        return logging.NullHandler()
