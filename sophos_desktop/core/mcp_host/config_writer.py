"""Changes the user's `mcp.json`: servers added, taken out, switched off, trusted.

Invariant: whoever reads the file sees it before or after a change; two writers take turns by a lock file
beside it; what is not concerned stays as it is, to the character; a file that cannot be read is never
written; and a change that would come out as anything else than what was meant is not written either.
"""

import copy
import json
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sophos_desktop.core.domain.errors import ErrorCode, SophosError, full_disk
from sophos_desktop.core.mcp_host import commented_json
from sophos_desktop.core.mcp_host.config import CONNECTION_FIELDS, URL_FIELDS, parse_entry, problem_of_name
from sophos_desktop.core.mcp_host.config_file import OWN_PLACE, servers_of
from sophos_desktop.foundation.atomic_file import write_atomically
from sophos_desktop.foundation.small_file import LARGEST_BYTES, refuse_special

LOCK_SECONDS = 10.0
_USER_ONLY = 0o600
# What an entry that takes another's place does not inherit: how that one was reached, and the user's word.
_NOT_INHERITED = CONNECTION_FIELDS | {"type", "transport", "trusted", "disabled"}
_WEB_ADDRESS = re.compile(r"\s*(?:https?://|\$\{)", re.IGNORECASE)
_FORBIDDEN_IN_NAMES = frozenset('/\\"')


class McpConfigWriter:
    """The user's file of one installation. Blocking; each method is one change."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(
        self,
        entries: Mapping[str, Mapping[str, Any]],
        *,
        replace: bool,
        shipped: Collection[str] = (),
    ) -> None:
        """Add servers by name; with `replace` also in place of others, whose further fields are kept.
        `shipped`: names that are taken unless the file has switched them off.

        Raises SophosError BAD_REQUEST (a name, an entry, or a name that is taken), CONFIG_INVALID."""
        for name, entry in entries.items():
            _refuse(name, entry)
        with self._changing() as change:
            taken = [name for name in entries if _is_taken(name, change.servers(), shipped)]
            if taken and not replace:
                raise SophosError(
                    ErrorCode.BAD_REQUEST,
                    f"There is a server “{taken[0]}” already",
                    "Choose another name, or say --replace",
                )
            for name, entry in entries.items():
                old = change.servers().get(name)
                kept = old if isinstance(old, dict) else {}
                kept = {key: value for key, value in kept.items() if key not in _NOT_INHERITED}
                change.set((name,), {**entry, **kept})

    def remove(self, name: str) -> None:
        """Take a server out. Raises SophosError NOT_FOUND, CONFIG_INVALID."""
        with self._changing() as change:
            if name not in change.servers():
                known = ", ".join(change.servers()) or "none"
                title = f"{self._path} has no tool server “{name}”"
                raise SophosError(ErrorCode.NOT_FOUND, title, f"Servers in it: {known}")
            change.remove((name,))

    def set_field(self, name: str, field: str, value: object) -> None:
        """Set one field of an entry, which is made if it is not there. Raises SophosError CONFIG_INVALID."""
        with self._changing() as change:
            if isinstance(change.servers().get(name), dict):
                change.set((name, field), value)
            else:
                change.set((name,), {field: value})

    def remove_field(self, name: str, field: str) -> None:
        """Take one field out of an entry, if it is there. Raises SophosError CONFIG_INVALID."""
        with self._changing() as change:
            entry = change.servers().get(name)
            if isinstance(entry, dict) and field in entry:
                change.remove((name, field))

    @contextmanager
    def _changing(self) -> "Iterator[_Document]":
        lock = FileLock(self._path.with_name(f".{self._path.name}.lock"), mode=_USER_ONLY)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with lock.acquire(timeout=LOCK_SECONDS):
                change = _Document(self._path)
                yield change
                change.write()
        except Timeout as error:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"Another process has been changing {self._path} for {LOCK_SECONDS:g} seconds",
                "Try again when it is done",
            ) from error
        except OSError as error:
            raise full_disk(error, self._path) or SophosError(
                ErrorCode.BAD_REQUEST,
                f"{self._path} cannot be changed: {error.strerror or error}",
                "Give your user the right to write the file and its folder",
            ) from error


class _Document:
    """The file while it is being changed: its text, and what the text is meant to say."""

    def __init__(self, path: Path) -> None:
        """Raises SophosError CONFIG_INVALID, OSError."""
        self._path = path
        self._mark = ""
        self._mode = _USER_ONLY
        self._original = self._text = self._read()
        self._meant = self._parsed(self._text)
        self._place, _ = self._servers_of(self._meant)
        if not self._place and not any(not name.startswith("$") for name in self._meant):
            self._text = commented_json.set_member(self._text, OWN_PLACE, {})
            self._meant[OWN_PLACE[0]] = {}
            self._place = OWN_PLACE

    def servers(self) -> dict[str, Any]:
        """The entries by name, as they are meant."""
        found: dict[str, Any] = self._meant
        for name in self._place:
            found = found[name]
        return found

    def set(self, path: Sequence[str], value: object) -> None:
        """Put a value at a path below the servers."""
        self._text = commented_json.set_member(self._text, (*self._place, *path), value)
        self._holder(path)[path[-1]] = copy.deepcopy(value)

    def remove(self, path: Sequence[str]) -> None:
        """Take out what is at a path below the servers."""
        self._text = commented_json.remove_member(self._text, (*self._place, *path))
        del self._holder(path)[path[-1]]

    def write(self) -> None:
        """Write it, if anything changed. Raises OSError."""
        if self._text == self._original:
            return
        if commented_json.parse(self._text) != self._meant:
            raise RuntimeError(f"a change of {self._path} came out as something else, and was not written")
        data = (self._mark + self._text).encode("utf-8", "replace")
        write_atomically(self._path, data, mode=self._mode)

    def _holder(self, path: Sequence[str]) -> dict[str, Any]:
        found = self.servers()
        for name in path[:-1]:
            found = found[name]
        return found

    def _read(self) -> str:
        try:
            refuse_special(self._path)
            if self._path.stat().st_size > LARGEST_BYTES:
                raise self._invalid("it is larger than 4 MB")
            data = self._path.read_bytes()  # not as text: line ends must stay what they are
        except FileNotFoundError:
            return "{\n}\n"
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise self._invalid("it is not UTF-8 text") from None
        self._mode = stat.S_IMODE(self._path.stat().st_mode)
        if text.startswith("\ufeff"):
            self._mark, text = text[0], text[1:]
        return text if text.strip() else "{\n}\n"

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            document = commented_json.parse(text)
        except json.JSONDecodeError as error:
            raise self._invalid(f"it is not JSON: {error.msg}", f", line {error.lineno}") from None
        except (ValueError, RecursionError):
            raise self._invalid("it is not JSON that can be read") from None
        if not isinstance(document, dict):
            raise self._invalid("it must be an object that holds servers by name")
        return document

    def _servers_of(self, document: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
        try:
            return servers_of(document)
        except ValueError as error:
            raise self._invalid(str(error)) from None

    def _invalid(self, why: str, place: str = "") -> SophosError:
        return SophosError(
            ErrorCode.CONFIG_INVALID,
            f"{self._path}{place}: {why}",
            "Nothing was written; correct the file, or move it away, and try again",
        )


def _is_taken(name: str, servers: Mapping[str, Any], shipped: Collection[str]) -> bool:
    entry = servers.get(name)
    if isinstance(entry, dict) and set(entry) == {"disabled"}:
        return entry["disabled"] is not True
    return name in servers or name in shipped


def _refuse(name: str, entry: Mapping[str, Any]) -> None:
    """Raises SophosError BAD_REQUEST for a name or an entry that could not be used."""
    wrong = problem_of_name(name)
    if wrong is None and (_FORBIDDEN_IN_NAMES & set(name) or name.startswith((".", "-", "$"))):
        wrong = "its name must not begin with . - or $, nor have a slash, a backslash or a quotation mark"
    wrong = wrong or parse_entry(name, entry).problem or _connection_problem(entry)
    if wrong is not None:
        shown = json.dumps(name if len(name) <= 40 else name[:39] + "…")
        raise SophosError(
            ErrorCode.BAD_REQUEST, f"The server {shown} cannot be added: {wrong}", "Nothing was written"
        )


def _connection_problem(entry: Mapping[str, Any]) -> str | None:
    """What is known to be no way to a server when it is added, and is found at its start in a file."""
    addresses = [key for key in URL_FIELDS if key in entry]
    if addresses and "command" in entry:
        return f'it has a "command" and a "{addresses[0]}"; leave one of them out'
    for key in addresses:
        if not _WEB_ADDRESS.match(entry[key]):
            return f'its "{key}" must begin with http:// or https://'
    return None
