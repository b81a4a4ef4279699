"""Which variables a child of ours gets, and where else to look for them.

Invariant: a child sees the allow-listed variables, what its entry names and its token, nothing else of ours.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sophos_desktop.core.domain.ports import ChildRecords

TOKEN_VARIABLE = "SOPHOS_CHILD_TOKEN"

_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM", "TZ"}
    | {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}
)
_PASSED_ON_WINDOWS = frozenset(
    {"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "APPDATA", "LOCALAPPDATA"}
    | {"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "TEMP", "TMP"}
    | {"HOMEDRIVE", "HOMEPATH", "USERNAME", "USERPROFILE"}
)
_OF_LOGIN = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR"})


@dataclass(frozen=True, slots=True)
class LoginAnswer:
    """What the user's login shell said. `variables`: PATH, locale, home and temporary folder; without them
    `problem` says why, as a sentence about the shell without its subject."""

    variables: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


class Login(Protocol):
    """Knows the environment of the user's login shell."""

    async def ask(self, records: ChildRecords, *, fresh: bool = False) -> LoginAnswer:
        """Its variables. `fresh`: not an answer of long ago."""


class _Variables(Mapping[str, str]):
    """Variables that do not change."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> str:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class UserEnvironment(_Variables):
    """This process's variables, and the login shell behind them. Lives as long as the program."""

    def __init__(self, variables: Mapping[str, str], login: Login | None) -> None:
        super().__init__(variables)
        self.login = login


class ChildEnvironment(_Variables):
    """What a child gets. Knows whom to ask when that is not enough."""

    def __init__(
        self, inherited: Mapping[str, str], entry: Mapping[str, str], login: Login | None = None
    ) -> None:
        """`inherited`: allow-listed variables of ours; `entry`: what `mcp.json` sets."""
        super().__init__({**inherited, **entry})
        self.login = login
        self._inherited = inherited
        self._entry = entry

    def with_login(self, of_login: Mapping[str, str]) -> "ChildEnvironment":
        """The same with the login shell's PATH: before our own, after one that the entry sets."""
        login_path = of_login.get("PATH", "")
        if "PATH" in self._entry:
            entry = {**self._entry, "PATH": _joined(self._entry["PATH"], login_path)}
            return ChildEnvironment({**of_login, **self._inherited}, entry)
        path = {"PATH": _joined(login_path, self._inherited.get("PATH", ""))}
        return ChildEnvironment({**of_login, **self._inherited, **path}, self._entry)


def child_environment(environ: Mapping[str, str], entry: Mapping[str, str]) -> ChildEnvironment:
    """The environment of a child: what is allowed of ours, then what its entry names."""
    login = environ.login if isinstance(environ, UserEnvironment) else None
    return ChildEnvironment(passed_on(environ), dict(entry), login)


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that every child inherits."""
    if sys.platform == "win32":
        return {name: value for name, value in environ.items() if name.upper() in _PASSED_ON_WINDOWS}
    return {name: value for name, value in environ.items() if name in _PASSED_ON or _is_locale(name)}


def of_login(environ: Mapping[str, str]) -> dict[str, str]:
    """What is taken from the user's login shell."""
    return {name: value for name, value in environ.items() if name in _OF_LOGIN or _is_locale(name)}


def _is_locale(name: str) -> bool:
    return name.startswith("LC_")


def _joined(*search_paths: str) -> str:
    """One search path; each folder once, at its first place."""
    folders = (folder for path in search_paths for folder in path.split(os.pathsep))
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if folder))
