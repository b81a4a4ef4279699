"""Finds the program of a tool server and makes the environment it gets.

Invariant: a child sees the allow-listed variables, what its entry names and its token, nothing else of
ours; "not found" and "found but cannot be started" are different sentences.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

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


class ChildNotStarted(Exception):
    """The program cannot be started. The message is a sentence that says why."""


def child_environment(environ: Mapping[str, str], entry: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child: what is allowed of ours, then what its entry names."""
    return {name: value for name, value in environ.items() if _is_passed_on(name)} | dict(entry)


def _is_passed_on(name: str) -> bool:
    if sys.platform == "win32":
        return name.upper() in _PASSED_ON_WINDOWS
    return name in _PASSED_ON or name.startswith("LC_")


def resolve_command(command: str, environment: Mapping[str, str], working_directory: str | None) -> str:
    """The full path of a command, looked for on the child's own PATH.

    Raises ChildNotStarted with the sentence to show.
    """
    if working_directory is not None and not Path(working_directory).is_dir():
        raise ChildNotStarted(f"its working folder {working_directory} does not exist")
    search_path = environment.get("PATH", os.defpath)
    if (found := shutil.which(command, path=search_path)) is not None:
        return found
    if Path(command).name == command:
        folders = len([folder for folder in search_path.split(os.pathsep) if folder])
        raise ChildNotStarted(f"the command {command} was not found in the {folders} folders of PATH")
    if not Path(command).exists():
        raise ChildNotStarted(f"the command {command} does not exist")
    raise ChildNotStarted(f"the command {command} was found but cannot be started: it is not a program")
