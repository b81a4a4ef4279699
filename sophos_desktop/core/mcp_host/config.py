"""Reads `mcp.json`: the shipped file and, over it by name, the user's.

Invariant: nothing in either file raises. A file that cannot be used leaves the last good one (or the
shipped one) in force and is a notice; an entry that cannot be used is a server with a `problem`.
"""

import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.fingerprints import server_fingerprint
from sophos_desktop.core.mcp_host.config_file import ConfigLayer, read_layer
from sophos_desktop.core.mcp_host.foreign_entries import question_in

# `${NAME}`; `${env:NAME}` as VS Code and Cursor write it; `${NAME:-default}` as Claude Code does.
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_APPROVALS = ("allow", "ask", "deny")
# What says how a server is reached, under the names that programs have for it.
URL_FIELDS = ("url", "serverUrl", "httpUrl")
CONNECTION_FIELDS = frozenset({"command", "args", "env", "cwd", "headers", *URL_FIELDS})
_KNOWN_FIELDS = CONNECTION_FIELDS | {
    "disabled",
    "approval",
    "trusted",
    "timeout_seconds",
    "initialize_timeout_seconds",
}
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One tool server as configured, variables filled in. `problem` is a sentence that says why it
    cannot be started; `fingerprint` is that of the entry as it was written, empty where it cannot be used;
    `unknown` holds the fields that other programs understand."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    disabled: bool = False
    approval: str | None = None
    timeout_seconds: float | None = None
    initialize_timeout_seconds: float | None = None
    trusted: bool = False
    built_in: bool = False
    problem: str | None = None
    fingerprint: str = ""
    unknown: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def transport(self) -> str:
        """`stdio` or `http`."""
        return "http" if self.url is not None and self.command is None else "stdio"


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """All servers by name, and what was wrong with the files."""

    servers: tuple[ServerConfig, ...]
    notices: tuple[Notice, ...] = ()

    def only(self, name: str) -> "LoadedConfig":
        """With that server alone, and without the notices."""
        return LoadedConfig(tuple(server for server in self.servers if server.name == name))

    def trusting(self, names: Collection[str]) -> "LoadedConfig":
        """With `trusted` true for exactly these servers."""
        servers = tuple(replace(server, trusted=server.name in names) for server in self.servers)
        return LoadedConfig(servers, self.notices)


class McpConfigSource:
    """The two files of one installation. Remembers the user's last good entries while it lives."""

    def __init__(self, shipped: Path, user: Path, variables: Mapping[str, str], memory_file: Path) -> None:
        """`variables` is the environment; `${PYTHON}`, `${MEMORY_FILE_PATH}` and VS Code's `${userHome}`
        are added to it."""
        self._shipped = shipped
        self._user = user
        own = {
            "PYTHON": sys.executable,
            "MEMORY_FILE_PATH": str(memory_file.absolute()),
            "userHome": str(Path.home()),
        }
        self._variables = {**variables, **own}
        self._last_good = ConfigLayer(self._user)

    @property
    def user_file(self) -> Path:
        """The user's file."""
        return self._user

    def shipped_names(self) -> frozenset[str]:
        """The servers that the program brings along."""
        return frozenset(read_layer(self._shipped).entries)

    def load(self) -> LoadedConfig:
        """Read both files now."""
        shipped, user = read_layer(self._shipped), read_layer(self._user)
        if user.usable:
            self._last_good = user
        entries = dict.fromkeys(shipped.entries, True) | dict.fromkeys(self._last_good.entries, False)
        notices = [*shipped.notices, *user.notices]
        servers = []
        for name, built_in in sorted(entries.items()):
            layer = shipped if built_in else self._last_good
            entry = layer.entries[name]
            own = shipped.entries.get(name)
            if isinstance(own, dict) and isinstance(entry, dict) and not {"command", "url"} & entry.keys():
                entry, built_in = (
                    {**own, **entry},
                    True,
                )  # it changes the built-in one and does not replace it
            config = self._filled_in(parse_entry(name, entry, built_in=built_in))
            servers.append(config)
            if config.problem is not None and layer is not user and not built_in:
                continue  # the file that holds it now could not be read: that is the notice
            if config.problem is not None:
                what = f'server "{_shown(name)}": {config.problem}'
                notices.append(layer.notice(what, layer.line_of(name)))
        return LoadedConfig(tuple(servers), tuple(notices))

    def _filled_in(self, config: ServerConfig) -> ServerConfig:
        if config.problem is not None or config.disabled:
            return config
        unset: list[str] = []

        def expand(text: str) -> str:
            def value(match: re.Match[str]) -> str:
                # An empty default is one too.
                found: str | None = self._variables.get(match[1], match[2])
                if found is not None:
                    return found
                unset.append(match[1])
                return match[0]

            return _VARIABLE.sub(value, text)

        filled = replace(
            config,
            command=_home_expanded(expand(config.command)) if config.command is not None else None,
            args=tuple(expand(argument) for argument in config.args),
            env={name: expand(value) for name, value in config.env.items()},
            cwd=_home_expanded(expand(config.cwd)) if config.cwd is not None else None,
            url=expand(config.url) if config.url is not None else None,
            headers={name: expand(value) for name, value in config.headers.items()},
        )
        if not unset:
            return filled
        return replace(filled, problem=f"the variable ${{{unset[0]}}} is not set")


def parse_entry(name: str, entry: object, *, built_in: bool = False) -> ServerConfig:
    """One entry as it stands in the file, variables not yet filled in."""
    if not isinstance(entry, dict):
        return ServerConfig(name, problem="the entry must be an object with a command or a url")
    problem = _problem_of(name, entry)
    if problem is not None:
        disabled = entry.get("disabled") is True
        return ServerConfig(name, disabled=disabled, built_in=built_in, problem=None if disabled else problem)
    command, args = entry.get("command"), tuple(entry.get("args", ()))
    url = next((entry[key] for key in URL_FIELDS if key in entry), None)
    return ServerConfig(
        name,
        command=command,
        args=args,
        env=dict(entry.get("env", {})),
        cwd=entry.get("cwd"),
        url=url,
        headers=dict(entry.get("headers", {})),
        disabled=entry.get("disabled", False),
        approval=entry.get("approval"),
        timeout_seconds=_seconds(entry, "timeout_seconds"),
        initialize_timeout_seconds=_seconds(entry, "initialize_timeout_seconds"),
        trusted=entry.get("trusted", False),
        built_in=built_in,
        fingerprint=server_fingerprint(command, args, url, entry.get("cwd"), entry.get("env")),
        unknown={key: value for key, value in entry.items() if key not in _KNOWN_FIELDS},
    )


def _problem_of(name: str, entry: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with an entry, as a sentence without a full stop."""
    if (wrong := problem_of_name(name)) is not None:
        return wrong
    if isinstance(entry.get("command"), list):
        return '"command" must be one text: write its first part there and the others into "args"'
    if isinstance(entry.get("command"), dict):
        return '"command" must be one text: write its "path" there, and "args" and "env" beside it'
    for key in ("command", "cwd", *URL_FIELDS):
        if key in entry and (not isinstance(entry[key], str) or not entry[key].strip()):
            return f'"{key}" must be a text that is not empty'
    arguments = entry.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
        return '"args" must be a list of texts'
    for key in ("env", "headers"):
        values = entry.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            return f'"{key}" must be an object whose values are texts'
    for key in ("disabled", "trusted"):
        if not isinstance(entry.get(key, False), bool):
            return f'"{key}" must be true or false'
    if "approval" in entry and entry["approval"] not in _APPROVALS:
        return '"approval" must be "allow", "ask" or "deny"'
    for key in ("timeout_seconds", "initialize_timeout_seconds"):
        value = entry.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            return f'"{key}" must be a number above 0'
    for key in ("command", "args", "cwd", "env", "headers", *URL_FIELDS):
        if any(_is_no_text(text) for text in _texts_in(entry.get(key))):
            return f'"{key}" has a NUL or half a character in it, which no program can be given'
    if entry.get("disabled") is True:
        return None
    if "command" not in entry and not any(key in entry for key in URL_FIELDS):
        return 'it needs a "command" or a "url"'
    return _problem_of_other_programs(entry)


def _texts_in(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _is_no_text(text: str) -> bool:
    return "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)


def problem_of_name(name: str) -> str | None:
    """Why a server cannot have this name."""
    if not name.strip():
        return "a server needs a name"
    if len(name) > LONGEST_NAME:
        return f"its name is longer than {LONGEST_NAME} characters"
    if not name.isprintable():
        return "its name has characters that cannot be printed"
    return None


def _problem_of_other_programs(entry: Mapping[str, Any]) -> str | None:
    """What another program's entry asks for that cannot be done here, with what to do instead."""
    kind = entry.get("type", entry.get("transport"))
    if kind == "sse":
        return (
            'the old transport "sse" is not spoken here; take the address for streamable HTTP '
            'from the server\'s documentation, and "type": "http"'
        )
    if (asked := question_in(entry)) is not None:
        return (
            f"${{input:{asked}}} is a question that VS Code asks; put the value into a variable of your "
            "environment and write ${ITS_NAME} here"
        )
    return None


def _shown(name: str) -> str:
    shown = name if name.isprintable() else json.dumps(name)[1:-1]
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…"


def _seconds(entry: Mapping[str, Any], key: str) -> float | None:
    return float(entry[key]) if key in entry else None


def _home_expanded(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~") else path
