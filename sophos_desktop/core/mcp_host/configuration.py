"""The configured tool servers, read and changed: the shipped file and the user's as one.

Invariant: only the user's file is ever written; what is shipped is switched off there, not removed.
"""

import shutil
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.mcp_host.command_lines import right_form
from sophos_desktop.core.mcp_host.config import LoadedConfig, McpConfigSource
from sophos_desktop.core.mcp_host.config_writer import McpConfigWriter
from sophos_desktop.core.mcp_host.pasting import Pasted, pasted_servers


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
        for name, entry in entries.items():
            _refuse_command_line(name, entry.get("command"))
        self._writer.put(entries, replace=replace, shipped=self._source.shipped_names())

    def add_pasted(self, text: str, *, replace: bool, name: str | None = None) -> Pasted:
        """Add the servers of a document as another program's documentation shows it; gives what was written.
        `name`: what to call the one server that is in it.

        Raises SophosError BAD_REQUEST, CONFIG_INVALID."""
        pasted = pasted_servers(text, name)
        self.add(pasted.servers, replace=replace)
        return pasted

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


def _refuse_command_line(name: str, command: object) -> None:
    """Raises SophosError BAD_REQUEST for a program and its arguments in one text."""
    if (
        not isinstance(command, str)
        or "${" in command
        or shutil.which(Path(command).expanduser()) is not None
    ):
        return
    form = right_form(command, lambda path: shutil.which(path) is not None)
    if form is not None:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"The server “{name}” cannot be added: its command holds its arguments too",
            f"{form[:1].upper()}{form[1:]}; nothing was written",
        )
