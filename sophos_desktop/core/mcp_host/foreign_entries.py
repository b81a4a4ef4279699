"""Turns one entry as another program writes it into one of our own shape.

Invariant: pure; a field that is not understood is kept as it is, and so is an entry of our own shape.
"""

import re
from collections.abc import Mapping
from typing import Any

_QUESTION = re.compile(r"\$\{input:([^}]*)\}")
_BRACED_VARIABLE = re.compile(r"(?<!\$)\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_COMMAND_PARTS = ("args", "env", "cwd")
_FILLED_IN = ("command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers")


def question_in(entry: Mapping[str, Any]) -> str | None:
    """The name of a question that VS Code would ask to fill an entry in, if there is one."""
    for text in _texts(entry):
        if (found := _QUESTION.search(text)) is not None:
            return found[1]
    return None


def translated(entry: object) -> dict[str, Any]:
    """The entry in our own shape. Raises ValueError with a sentence where it cannot be."""
    if not isinstance(entry, dict):
        raise ValueError("the entry must be an object with a command or a url")
    made = {key: value for key, value in entry.items() if value is not None}
    if made.get("source") == "extension" or (set(made) <= {"settings", "enabled"} and "settings" in made):
        raise ValueError(
            "it is started by an extension of Zed, which does not say how; name its command instead"
        )
    _command(made)
    _opencode(made)
    _codex(made)
    enabled = made.pop("enabled", None)
    if enabled is False:
        made["disabled"] = True
    elif enabled not in (None, True):
        made["enabled"] = enabled
    return made


def _command(made: dict[str, Any]) -> None:
    """A command as an object (Zed), or as a list (opencode)."""
    command = made.get("command")
    if isinstance(command, dict):
        path = command.get("path", command.get("command"))
        if path is None:
            raise ValueError('its "command" is an object without a "path"')
        made["command"] = path
        for key in _COMMAND_PARTS:
            if command.get(key) is not None and key not in made:
                made[key] = command[key]
    elif isinstance(command, list) and command and all(isinstance(part, str) for part in command):
        made["command"], args = command[0], command[1:]
        made["args"] = [*args, *made["args"]] if isinstance(made.get("args"), list) else args


def _opencode(made: dict[str, Any]) -> None:
    """`type` local or remote, `environment`, and variables as `{env:NAME}`."""
    kind = made.get("type")
    if kind not in ("local", "remote"):
        return
    made["type"] = "stdio" if kind == "local" else "http"
    if "environment" in made and "env" not in made:
        made["env"] = made.pop("environment")
    for key in _FILLED_IN:
        if key in made:
            made[key] = _with_our_variables(made[key])


def _codex(made: dict[str, Any]) -> None:
    """The names that Codex has for headers, variables that are passed on, and patience."""
    headers = _taken(made, "http_headers")
    headers |= {key: f"${{{name}}}" for key, name in _taken(made, "env_http_headers").items()}
    if (variable := made.pop("bearer_token_env_var", None)) is not None:
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    if headers:
        made["headers"] = {**headers, **_taken(made, "headers")}
    passed = made.get("env_vars")
    if isinstance(passed, list) and all(isinstance(name, str) for name in passed):
        del made["env_vars"]
        made["env"] = {**{name: f"${{{name}}}" for name in passed}, **_taken(made, "env")}
    for theirs, ours in (
        ("startup_timeout_sec", "initialize_timeout_seconds"),
        ("tool_timeout_sec", "timeout_seconds"),
    ):
        if theirs in made and ours not in made:
            made[ours] = made.pop(theirs)


def _taken(made: dict[str, Any], key: str) -> dict[str, Any]:
    """An object out of the entry; one that is none stays there, to be refused in its own words."""
    return dict(made.pop(key)) if isinstance(made.get(key), dict) else {}


def _with_our_variables(value: Any) -> Any:
    if isinstance(value, str):
        return _BRACED_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, list):
        return [_with_our_variables(item) if isinstance(item, str) else item for item in value]
    if isinstance(value, dict):
        return {
            key: _with_our_variables(item) if isinstance(item, str) else item for key, item in value.items()
        }
    return value


def _texts(entry: Mapping[str, Any]) -> list[str]:
    """The texts that variables are filled into."""
    found: list[object] = []
    for key in _FILLED_IN:
        value = entry.get(key)
        found += value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [text for text in found if isinstance(text, str)]
