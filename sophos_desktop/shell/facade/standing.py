"""What the window asks of the core about the installation: engines, tool servers, settings, checks.

Invariant: as in the package: protocols over domain types alone.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.specs import EngineKind, EngineStatus, ServerStatus
from sophos_desktop.core.domain.trust import Trust


class Engines(Protocol):
    """The engines, for the status bar."""

    async def status(self, engine: EngineKind | None = None) -> EngineStatus:
        """How an engine stands; None: the one that the settings lead to."""


class Servers(Protocol):
    """The tool servers, for the status bar."""

    def statuses(self) -> Sequence[ServerStatus]:
        """All configured servers."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever a status changes."""


class ToolHost(Protocol):
    """Restarts tool servers."""

    async def restart(self, name: str) -> ServerStatus:
        """Start one anew; returns when that succeeded or failed. Raises SophosError NOT_FOUND."""


class ServerTrust(Protocol):
    """Whose hints count."""

    def of(self, name: str) -> Trust:
        """Where a server stands."""

    async def trust(self, name: str) -> Trust:
        """Trust it as it is now. Raises SophosError BAD_REQUEST, STORE_*."""

    async def revoke(self, name: str) -> Trust:
        """Take the user's word back. Raises SophosError BAD_REQUEST, STORE_*."""


class ToolDefinitions(Protocol):
    """Tools that changed since they were last seen."""

    def changes(self) -> Sequence[Notice]:
        """What was different since the start."""

    def subscribe(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Call `listener` with each change."""


class SettingItem(Protocol):
    """One setting in force."""

    @property
    def key(self) -> str:
        """`section.name`."""

    @property
    def value(self) -> Any:
        """What holds."""

    @property
    def source(self) -> str:
        """`default`, the path of the user's file, or the name of a variable of the environment."""


class Settings(Protocol):
    """The settings in force."""

    @property
    def current(self) -> Any:
        """All of them; the window reads what is in `ui`."""

    @property
    def path(self) -> Path:
        """The user's file."""

    def items(self) -> Sequence[SettingItem]:
        """All settings, by section."""

    def set(self, key: str, text: str) -> None:
        """Write one; an empty text takes it out of the user's file. Raises SophosError BAD_REQUEST."""


class Check(Protocol):
    """What the doctor found out."""

    @property
    def id(self) -> str:
        """Which check."""

    @property
    def ok(self) -> bool:
        """Whether all is well."""

    @property
    def text(self) -> str:
        """What was found."""

    @property
    def remedy(self) -> str:
        """What to do; empty where all is well."""


class Doctor(Protocol):
    """Checks the installation."""

    async def examine(self) -> Sequence[Check]:
        """All checks; changes nothing."""
