"""Reads one `mcp.json` as text and JSON, in both shapes that people have.

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
from sophos_desktop.foundation.small_file import read_small_text


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
        document = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        return _unusable(path, f"it is not JSON: {error.msg} (column {error.colno})", error.lineno)
    except (ValueError, RecursionError):
        return _unusable(path, "it is not JSON that can be read")
    if not isinstance(document, _Object):
        return _unusable(path, "it must be an object that holds servers by name", 1)
    return _from_document(path, text, document)


def _from_document(path: Path, text: str, document: _Object) -> ConfigLayer:
    servers = document.get("mcpServers", document)
    if not isinstance(servers, _Object):
        line = ConfigLayer(path, text=text).line_of("mcpServers")
        return _unusable(path, '"mcpServers" must be an object that holds servers by name', line)
    entries = {name: entry for name, entry in servers.items() if not name.startswith("$")}
    layer = ConfigLayer(path, entries, text=text)
    notices = tuple(
        layer.notice(f'server "{name}" is there twice; the last one counts', layer.line_of(name))
        for name in servers.repeated
    )
    return ConfigLayer(path, entries, notices, text=text)


def _unusable(path: Path, what: str, line: int | None = None) -> ConfigLayer:
    return ConfigLayer(path, notices=(_notice(path, what, line),), usable=False)


def _notice(path: Path, what: str, line: int | None) -> Notice:
    place = f"{path}, line {line}" if line is not None else str(path)
    return Notice(NoticeCode.CONFIG_INVALID.value, f"{place}: {what}")
