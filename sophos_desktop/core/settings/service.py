"""The settings in force: shipped defaults, below the user's file, below the environment.

Invariant: there is always a valid `current`; a file that went bad counts as it was when it was last good.
The user's file is only ever written whole, with its comments and its unknown keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError, full_disk
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.settings.layers import Layer, parse_value, read_environment, read_file, read_text
from sophos_desktop.core.settings.models import ADAPTERS, DEFAULT_STEP_LIMIT, Settings, assemble
from sophos_desktop.foundation import resources
from sophos_desktop.foundation.atomic_file import write_atomically
from sophos_desktop.foundation.paths import AppPaths

SHIPPED = "default"
OLLAMA_HOST = "OLLAMA_HOST"
_HOST, _STEP_LIMIT = "engine.host", "answer.step_limit"


@dataclass(frozen=True, slots=True)
class SettingItem:
    """One setting as `config` shows it. `source`: `default`, the user's file, or a variable's name."""

    key: str
    value: Any
    source: str


class SettingsService:
    """Lives as long as the core. Reads small files and blocks for that long."""

    def __init__(self, paths: AppPaths, environ: Mapping[str, str], shipped: Path | None = None) -> None:
        """Reads all layers. `shipped` is the defaults' file, the program's own if None."""
        self._path = paths.settings_file
        self._environ = dict(environ)
        self._shipped = shipped or resources.shipped_config("defaults.toml")
        self._last_good = Layer({})
        self._sources: dict[str, str] = {}
        self._stamp: object = None
        self.current = Settings()
        self.notices: Sequence[Notice] = ()
        self.reload()

    @property
    def path(self) -> Path:
        """The user's file."""
        return self._path

    def reload(self) -> Settings:
        """Read the layers again; `notices` says what is wrong with them now."""
        self._stamp = self._stamp_of_file()  # first: what is written meanwhile is another stamp
        shipped, user = read_file(self._shipped), read_file(self._path)
        environment = read_environment(self._environ)
        problems = (*shipped.problems, *user.problems, *environment.problems)
        notices = [Notice(NoticeCode.CONFIG_INVALID.value, text) for text in problems]
        if user.readable:
            self._last_good = user
        values = {**shipped.values, **self._last_good.values, **environment.values}
        sources = dict.fromkeys(ADAPTERS, SHIPPED)
        sources.update(dict.fromkeys(self._last_good.values, str(self._path)))
        sources.update(environment.places)
        if not values.get(_HOST) and (host := self._environ.get(OLLAMA_HOST, "").strip()):
            values[_HOST], sources[_HOST] = host, OLLAMA_HOST
        if (limit := values.get(_STEP_LIMIT, DEFAULT_STEP_LIMIT)) <= 0:
            places = {**shipped.places, **self._last_good.places, **environment.places}
            text = f"{places[_STEP_LIMIT]}: {_no_steps(limit)}, and counts as {DEFAULT_STEP_LIMIT}"
            notices.append(Notice(NoticeCode.STEP_LIMIT_INVALID.value, text))
            values[_STEP_LIMIT] = DEFAULT_STEP_LIMIT
        self._sources, self.notices = sources, tuple(notices)
        self.current = assemble(values)
        return self.current

    def take_up(self) -> bool:
        """Read the user's file again if somebody wrote it: another process, or a person's editor. True if
        other settings are in force now. Costs one look at the folder while nothing changes."""
        if self._stamp_of_file() == self._stamp:
            return False
        before = self.current
        return self.reload() != before

    def _stamp_of_file(self) -> object:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def source_of(self, key: str) -> str:
        """Where the value in force comes from. Raises SophosError BAD_REQUEST for a key that is none."""
        _known(key)
        return self._sources[key]

    def items(self) -> Sequence[SettingItem]:
        """All settings in force, by section."""
        return [SettingItem(key, self.value_of(key), self._sources[key]) for key in ADAPTERS]

    def value_of(self, key: str) -> Any:
        """The value in force. Raises SophosError BAD_REQUEST for a key that is none."""
        _known(key)
        section, _, name = key.partition(".")
        return getattr(getattr(self.current, section), name)

    def set(self, key: str, text: str) -> None:
        """Write one setting into the user's file; an empty text takes it out again.

        Raises SophosError BAD_REQUEST: no such key, no such value, or the file cannot be read or written.
        """
        _known(key)
        try:
            value = parse_value(key, text) if text.strip() else None
            if key == _STEP_LIMIT and value is not None and value <= 0:
                raise ValueError(_no_steps(value))
        except ValueError as error:
            raise SophosError(
                ErrorCode.BAD_REQUEST, str(error).rstrip("."), "Nothing was changed; give a value that fits"
            ) from None
        try:
            document = tomlkit.parse(read_text(self._path) or "")
            _put(document, key, value)
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self._path, tomlkit.dumps(document).encode())
        except (TOMLKitError, UnicodeDecodeError) as error:
            raise self._not_written(f"it is not as it must be: {error}") from error
        except OSError as error:
            known = full_disk(error, self._path)
            raise known or self._not_written(str(error.strerror or error)) from error
        self.reload()

    def _not_written(self, why: str) -> SophosError:
        return SophosError(
            ErrorCode.BAD_REQUEST,
            f"{self._path} cannot be changed",
            "Correct the file, or move it away, and try again",
            details=why,
        )


def _no_steps(limit: int) -> str:
    return f"{_STEP_LIMIT} cannot be {limit}, since no run could begin; it must be at least 1"


def _known(key: str) -> None:
    if key not in ADAPTERS:
        raise SophosError(
            ErrorCode.BAD_REQUEST, f"There is no setting {key}", f"The settings are {', '.join(ADAPTERS)}"
        )


def _put(document: tomlkit.TOMLDocument, key: str, value: Any) -> None:
    """Change one key of the document, or take it out for None."""
    section, _, name = key.partition(".")
    if section not in document and value is not None:
        document[section] = tomlkit.table()
    table = document.get(section, {})
    if not isinstance(table, dict):
        raise TOMLKitError(f"{section} is not a section")
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
