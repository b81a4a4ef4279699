"""Reads one `mcp.json` as text and JSON, in the shapes that people have: a flat map of servers, or one under
the name that another program gives it. Comments and trailing commas are tolerated, as in those programs.

Invariant: whatever lies at the path, the answer is a layer: its entries, and notices with path and line.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.mcp_host import commented_json
from sophos_desktop.foundation.small_file import read_small_text

OWN_PLACE = ("mcpServers",)
# Where other programs keep theirs: VS Code's own file, its settings, Zed.
_OTHER_PLACES = (("servers",), ("mcp", "servers"), ("context_servers",))


@dataclass(frozen=True, slots=True)
class ConfigLayer:
    """The entries of one file. `usable` is False if the file is there but says nothing that can be used."""

    path: Path
    entries: Mapping[str, object] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    usable: bool = True
    text: str = field(default="", repr=False)

    def notice(self, what: str, line: int | None = None) -> Notice:
        """A notice about this file."""
        return _notice(self.path, what, line)

    def line_of(self, key: str) -> int | None:
        """The line where a key first stands, counted from 1."""
        found = re.search(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", self.text)
        return self.text.count("\n", 0, found.start()) + 1 if found else None


class _Object(dict[str, Any]):
    """A JSON object that remembers which keys came twice."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    result = _Object(pairs)
    keys = [key for key, _ in pairs]
    result.repeated = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1))
    return result


def read_layer(path: Path) -> ConfigLayer:
    """Read a file. One that is not there is a layer without entries and without a notice."""
    try:
        text = read_small_text(path)
    except FileNotFoundError:
        return ConfigLayer(path)
    except UnicodeDecodeError:
        return _unusable(path, "it is not UTF-8 text")
    except OSError as error:
        return _unusable(path, f"it cannot be read ({error.strerror or error})")
    if not text.strip():
        return _unusable(path, "it is empty", 1)
    try:
        document = commented_json.parse(text, _object)
    except json.JSONDecodeError as error:
        return _unusable(path, f"it is not JSON: {error.msg} (column {error.colno})", error.lineno)
    except (ValueError, RecursionError):
        return _unusable(path, "it is not JSON that can be read")
    if not isinstance(document, _Object):
        return _unusable(path, "it must be an object that holds servers by name", 1)
    return _from_document(path, text, document)


def servers_of(document: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The names that lead to the servers of a document, none in a flat map; and the servers.

    Raises ValueError with a sentence if `mcpServers` is no object."""
    if "mcpServers" in document:
        if not isinstance(document["mcpServers"], dict):
            raise ValueError('"mcpServers" must be an object that holds servers by name')
        return OWN_PLACE, document["mcpServers"]
    for place in _OTHER_PLACES:
        found: Any = document
        for name in place:
            found = found.get(name) if isinstance(found, dict) else None
        # In a flat map "servers" may be the name of a server, whose members are not all objects.
        if isinstance(found, dict) and all(isinstance(entry, dict) for entry in found.values()):
            return place, found
    return (), document


def _from_document(path: Path, text: str, document: _Object) -> ConfigLayer:
    try:
        _, servers = servers_of(document)
    except ValueError as error:
        return _unusable(path, str(error), ConfigLayer(path, text=text).line_of("mcpServers"))
    entries = {name: entry for name, entry in servers.items() if not name.startswith("$")}
    layer = ConfigLayer(path, entries, text=text)
    repeated = servers.repeated if isinstance(servers, _Object) else ()
    notices = tuple(
        layer.notice(f'server "{name}" is there twice; the last one counts', layer.line_of(name))
        for name in repeated
    )
    return ConfigLayer(path, entries, notices, text=text)


def _unusable(path: Path, what: str, line: int | None = None) -> ConfigLayer:
    return ConfigLayer(path, notices=(_notice(path, what, line),), usable=False)


def _notice(path: Path, what: str, line: int | None) -> Notice:
    place = f"{path}, line {line}" if line is not None else str(path)
    return Notice(NoticeCode.CONFIG_INVALID.value, f"{place}: {what}")
