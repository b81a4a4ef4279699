"""The system prompt: the user's `system.md` if there is one, else the shipped one.

Invariant: read anew at each call, so that an edit counts from the next answer on; a file that cannot be read
never fails an answer: it counts as it was when it was last good. An empty file means no system prompt.
"""

import hashlib
from pathlib import Path

from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.settings.layers import read_text
from sophos_desktop.foundation import resources
from sophos_desktop.foundation.paths import AppPaths


class SystemPrompt:
    """Lives as long as the core. Each read blocks for a small file."""

    def __init__(self, paths: AppPaths, shipped: Path | None = None) -> None:
        """`shipped` is the program's own if None."""
        self._path = paths.system_file
        self._shipped = shipped or resources.shipped_config("system.md")
        self._last_good: str | None = None
        self.notice: Notice | None = None

    def read(self) -> tuple[str, str | None]:
        """The prompt and its SHA-256 in hexadecimal; an empty text and None if there is to be none.

        Afterwards `notice` says what is wrong with the user's file, or is None.
        """
        self.notice = None
        try:
            text = read_text(self._path)
            self._last_good = text
        except UnicodeDecodeError as error:
            text = self._excuse(f"line {_line(error)}: it is not UTF-8 text")
        except OSError as error:
            text = self._excuse(f"it cannot be read ({error.strerror or error})")
        if text is None:
            text = self._shipped.read_text(encoding="utf-8")
        text = text.strip()
        return text, hashlib.sha256(text.encode()).hexdigest() if text else None

    def _excuse(self, what: str) -> str | None:
        instead = "the shipped one" if self._last_good is None else "what it was before"
        self.notice = Notice(NoticeCode.CONFIG_INVALID.value, f"{self._path}: {what}; {instead} is used")
        return self._last_good


def _line(error: UnicodeDecodeError) -> int:
    return error.object[: error.start].count(b"\n") + 1
