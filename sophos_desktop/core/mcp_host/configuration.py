"""The configured tool servers, read and changed: the shipped file and the user's as one.

Invariant: only the user's file is ever written; what is shipped is switched off there, not removed.
"""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from sophos_desktop.core.mcp_host.config import LoadedConfig, McpConfigSource
from sophos_desktop.core.mcp_host.config_writer import McpConfigWriter, pasted_servers

_FOR_THE_USER_TO_SAY = ("trusted", "approval")


class Removal(Enum):
    """What taking out a server came to."""

    REMOVED = "removed"
    SWITCHED_OFF = "switched off"


class McpConfiguration:
    """Lives as long as the core. Its methods block: call them in a thread."""

    def __init__(self, source: McpConfigSource) -> None:
        self._source = source
        self._writer = McpConfigWriter(source.user_file)

    @property
    def path(self) -> Path:
        """The user's file."""
        return self._source.user_file

    def load(self) -> LoadedConfig:
        """Read both files now."""
        return self._source.load()

    def add(self, entries: Mapping[str, Mapping[str, Any]], *, replace: bool) -> None:
        """Add servers by name. A shipped one that is switched off may be replaced without saying so.

        Raises SophosError BAD_REQUEST, CONFIG_INVALID."""
        self._writer.put(entries, replace=replace, shipped=self._source.shipped_names())

    def add_pasted(self, text: str, *, replace: bool) -> tuple[str, ...]:
        """Add the servers of a document as another program's documentation shows it; gives their names.

        Whom to trust and what to allow is not for a page on the web to say: both are left out.

        Raises SophosError BAD_REQUEST, CONFIG_INVALID."""
        entries = {
            name: {key: value for key, value in entry.items() if key not in _FOR_THE_USER_TO_SAY}
            for name, entry in pasted_servers(text).items()
        }
        self.add(entries, replace=replace)
        return tuple(entries)

    def remove(self, name: str) -> Removal:
        """Take a server out of the user's file; switch a shipped one off there.

        Raises SophosError NOT_FOUND, CONFIG_INVALID."""
        if name in self._source.shipped_names():
            self._writer.set_field(name, "disabled", True)
            return Removal.SWITCHED_OFF
        self._writer.remove(name)
        return Removal.REMOVED

    def withdraw_trust(self, name: str) -> None:
        """Take `"trusted"` out of the user's entry, if it is there. Raises SophosError CONFIG_INVALID."""
        self._writer.remove_field(name, "trusted")
