"""Reads the servers out of what a person pastes: what other programs' documentation shows.

Invariant: pure; what comes out are entries of our own shape, or a SophosError BAD_REQUEST that says what is
wrong and what to paste. Whom to trust and what to allow is not for a page on the web to say: it is left out.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.mcp_host import commented_json
from sophos_desktop.core.mcp_host.config import CONNECTION_FIELDS
from sophos_desktop.core.mcp_host.config_file import servers_of
from sophos_desktop.core.mcp_host.foreign_entries import question_in, translated

_REMEDY = 'Paste an object such as {"mcpServers": {"name": {"command": "npx", "args": ["-y", "package"]}}}'
# Ours, and what Claude, Cline, Roo, Gemini and others have for it; without case, dashes and underscores.
_FOR_THE_USER_TO_SAY = frozenset(
    {
        "trusted",
        "trust",
        "approval",
        "alwaysallow",
        "allowedtools",
        "autoallow",
        "autoapprove",
        "autoapproved",
        "autoapprovedtools",
        "autoapprovetools",
        "autorun",
        "autoexecute",
        "defaulttoolsapprovalmode",
        "requireapproval",
        "skipapproval",
    }
)
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_TOML_TABLE = re.compile(r"^[ \t]*\[\[?[ \t]*[A-Za-z_][^\n]*\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_YAML = re.compile(r"^\s*(?:#[^\n]*\n\s*)*(?:- )?[A-Za-z_][\w-]*:(?:\s|$)")
_DESCRIBING_FIELDS = CONNECTION_FIELDS | {"type", "environment", "source"}


@dataclass(frozen=True, slots=True)
class Pasted:
    """The servers by name, and sentences about what was left out or is for the user to do."""

    servers: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()


def pasted_servers(text: str, name: str | None = None) -> Pasted:
    """The servers of a document. `name` is what the user calls the one server that is in it.

    Raises SophosError BAD_REQUEST with what is wrong with it."""
    twice: set[str] = set()
    servers = _named(_servers(_document(_unfenced(text.removeprefix("\ufeff").strip()), twice)), name)
    found: dict[str, Mapping[str, Any]] = {}
    notes = [
        f'"{server}" stands twice in what was pasted; the last one counts'
        for server in servers
        if server in twice
    ]
    for server, entry in servers.items():
        try:
            understood = translated(entry)
        except ValueError as error:
            title = f"The server {json.dumps(server[:100])} cannot be added: {error}"
            raise SophosError(ErrorCode.BAD_REQUEST, title, "Nothing was written") from None
        for field in [field for field in understood if _is_for_the_user_to_say(field)]:
            notes.append(f'"{field}" was left out of {server}; see `mcp trust` and `mcp allow`')
            del understood[field]
        if (question := question_in(understood)) is not None and understood.get("disabled") is not True:
            understood["disabled"] = True
            notes.append(
                f"{server} was added switched off: ${{input:{question}}} is a question that VS Code asks; "
                "put the value into a variable of your environment, write ${ITS_NAME} in mcp.json instead, "
                'and take "disabled" out there'
            )
        found[server] = understood
    return Pasted(found, tuple(notes))


def _is_for_the_user_to_say(field: str) -> bool:
    return field.lower().replace("_", "").replace("-", "") in _FOR_THE_USER_TO_SAY


def _unfenced(text: str) -> str:
    """Without the Markdown around it."""
    blocks = [found[2].strip() for found in _FENCE.finditer(text)]
    if len(blocks) > 1:
        title = f"What was pasted holds {len(blocks)} blocks of code"
        raise SophosError(ErrorCode.BAD_REQUEST, title, "Paste one of them")
    return blocks[0] if blocks else text.strip("`").strip()


def _document(text: str, twice: set[str]) -> Mapping[str, Any]:
    """`twice` gets the names that stand more than once in one object."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = Counter(key for key, _ in pairs)
        twice.update(key for key, count in names.items() if count > 1)
        return dict(pairs)

    if not text.startswith(("{", '"')) and _TOML_TABLE.search(text):
        try:
            # By way of JSON, which knows no dates: they become texts.
            document = json.loads(json.dumps(tomllib.loads(text), default=str))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            title = f"What was pasted looks like TOML and is not: {error}"
            raise SophosError(ErrorCode.BAD_REQUEST, title, _REMEDY) from None
        assert isinstance(document, dict)
        return document
    if text.startswith('"'):  # documentation often shows what goes between the braces
        text = f"{{{text}}}"
    try:
        document = commented_json.parse(text, members)
    except json.JSONDecodeError as error:
        if _YAML.match(text):
            title = "What was pasted looks like YAML, which is not read here"
            remedy = "Paste the JSON of another program, or name the command: `mcp add NAME -- COMMAND`"
            raise SophosError(ErrorCode.BAD_REQUEST, title, remedy) from None
        title = f"What was pasted is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise SophosError(ErrorCode.BAD_REQUEST, title, _REMEDY) from None
    except (ValueError, RecursionError):
        raise SophosError(ErrorCode.BAD_REQUEST, "What was pasted cannot be read as JSON", _REMEDY) from None
    if not isinstance(document, dict):
        title = "What was pasted is not an object that holds servers by name"
        raise SophosError(ErrorCode.BAD_REQUEST, title, _REMEDY)
    return document


def _servers(document: Mapping[str, Any]) -> Mapping[str | None, Any]:
    """The servers by name; one without a name has None."""
    if any(key in _DESCRIBING_FIELDS for key, value in document.items() if not isinstance(value, dict)) or (
        isinstance(document.get("command"), dict) and "path" in document["command"]
    ):
        own = document.get("name")
        entry = {key: value for key, value in document.items() if key != "name"}
        return {own if isinstance(own, str) else None: entry}
    # Codex, then opencode; the others are understood in mcp.json itself, too.
    for place in ("mcp_servers", "mcp"):
        inner = document.get(place)
        if isinstance(inner, dict) and "servers" not in inner and not _describes(inner):
            return dict(inner)
    try:
        _, servers = servers_of(document)
    except ValueError as error:
        title = str(error)
        raise SophosError(ErrorCode.BAD_REQUEST, title[:1].upper() + title[1:], _REMEDY) from None
    return {key: entry for key, entry in servers.items() if not key.startswith("$")}


def _describes(entry: Mapping[str, Any]) -> bool:
    """True for one server, and not servers by name."""
    return any(key in _DESCRIBING_FIELDS for key, value in entry.items() if not isinstance(value, dict))


def _named(servers: Mapping[str | None, Any], name: str | None) -> Mapping[str, Any]:
    if not servers:
        raise SophosError(ErrorCode.BAD_REQUEST, "What was pasted holds no server", _REMEDY)
    if name is None and None in servers:
        title = "What was pasted is one server without its name"
        raise SophosError(ErrorCode.BAD_REQUEST, title, "Give it a name: `mcp add NAME --paste -`")
    if name is not None and len(servers) > 1:
        shown = ", ".join(str(server) for server in servers)
        title = f"What was pasted holds {len(servers)} servers, each with a name of its own: {shown[:200]}"
        raise SophosError(ErrorCode.BAD_REQUEST, title, "Leave the name out, or paste one of them")
    return {server if name is None else name: entry for server, entry in servers.items()}  # type: ignore[misc]
