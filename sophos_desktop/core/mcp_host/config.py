"""Reads `mcp.json`: the shipped file and, over it by name, the user's.

Invariant: nothing in either file raises. A file that cannot be used leaves the last good one (or the
shipped one) in force and is a notice; an entry that cannot be used is a server with a `problem`.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.mcp_host.config_file import ConfigLayer, read_layer

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_APPROVALS = ("allow", "ask", "deny")
_KNOWN_FIELDS = frozenset(
    {"command", "args", "env", "cwd", "url", "headers", "disabled", "approval", "trusted"}
    | {"timeout_seconds", "initialize_timeout_seconds"}
)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One tool server as configured, variables filled in. `problem` is a sentence that says why it
    cannot be started; `unknown` holds the fields that other programs understand."""

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


class McpConfigSource:
    """The two files of one installation. Remembers the user's last good entries while it lives."""

    def __init__(self, shipped: Path, user: Path, variables: Mapping[str, str], memory_file: Path) -> None:
        """`variables` is the environment; `${PYTHON}` and `${MEMORY_FILE_PATH}` are added to it."""
        self._shipped = shipped
        self._user = user
        own = {"PYTHON": sys.executable, "MEMORY_FILE_PATH": str(memory_file.absolute())}
        self._variables = {**variables, **own}
        self._last_good = ConfigLayer(self._user)

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
            config = self._filled_in(parse_entry(name, layer.entries[name], built_in=built_in))
            servers.append(config)
            if config.problem is not None and layer is not user and not built_in:
                continue  # the file that holds it now could not be read: that is the notice
            if config.problem is not None:
                notices.append(layer.notice(f'server "{name}": {config.problem}', layer.line_of(name)))
        return LoadedConfig(tuple(servers), tuple(notices))

    def _filled_in(self, config: ServerConfig) -> ServerConfig:
        if config.problem is not None or config.disabled:
            return config
        unset: list[str] = []

        def expand(text: str) -> str:
            def value(match: re.Match[str]) -> str:
                if (found := self._variables.get(match[1])) is not None:
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
    return ServerConfig(
        name,
        command=entry.get("command"),
        args=tuple(entry.get("args", ())),
        env=dict(entry.get("env", {})),
        cwd=entry.get("cwd"),
        url=entry.get("url"),
        headers=dict(entry.get("headers", {})),
        disabled=entry.get("disabled", False),
        approval=entry.get("approval"),
        timeout_seconds=_seconds(entry, "timeout_seconds"),
        initialize_timeout_seconds=_seconds(entry, "initialize_timeout_seconds"),
        trusted=entry.get("trusted", False),
        built_in=built_in,
        unknown={key: value for key, value in entry.items() if key not in _KNOWN_FIELDS},
    )


def _problem_of(name: str, entry: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with an entry, as a sentence without a full stop."""
    if not name.strip():
        return "a server needs a name"
    for key in ("command", "cwd", "url"):
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
    if entry.get("approval", "allow") != "allow":
        # Not started is the safe side: this version cannot ask, and would call its tools all the same.
        return 'this version cannot ask before a call, so only "approval": "allow" can be used'
    for key in ("timeout_seconds", "initialize_timeout_seconds"):
        value = entry.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            return f'"{key}" must be a number above 0'
    if entry.get("disabled") is not True and "command" not in entry and "url" not in entry:
        return 'it needs a "command" or a "url"'
    return None


def _seconds(entry: Mapping[str, Any], key: str) -> float | None:
    return float(entry[key]) if key in entry else None


def _home_expanded(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~") else path
