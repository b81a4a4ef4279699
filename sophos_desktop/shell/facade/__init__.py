"""What the window asks of the core, as protocols.

Invariant: nothing here is imported from below but `core.domain` and `foundation.paths`, so that the window
can be painted before the core is loaded. The core of `core.assembly` fits these protocols without knowing
them.
"""

from collections.abc import Sequence
from typing import Protocol

from sophos_desktop.core.domain.events import Notice
from sophos_desktop.foundation.paths import AppPaths
from sophos_desktop.shell.facade.composing import Attachments as Attachments
from sophos_desktop.shell.facade.composing import Models
from sophos_desktop.shell.facade.deleting import MemoryFact as MemoryFact
from sophos_desktop.shell.facade.questions import Decisions, ServerEntries
from sophos_desktop.shell.facade.questions import PendingDecision as PendingDecision
from sophos_desktop.shell.facade.reading import Conversations as Conversations
from sophos_desktop.shell.facade.reading import Exports
from sophos_desktop.shell.facade.running import Neighbours, Queue, Runs
from sophos_desktop.shell.facade.running import RunHandle as RunHandle
from sophos_desktop.shell.facade.standing import Check as Check
from sophos_desktop.shell.facade.standing import (
    Doctor,
    Engines,
    Servers,
    ServerTrust,
    Settings,
    ToolDefinitions,
    ToolHost,
)
from sophos_desktop.shell.facade.standing import SettingItem as SettingItem


class Core(Protocol):
    """The core, open."""

    @property
    def settings(self) -> Settings:
        """Settings."""

    @property
    def runs(self) -> Runs:
        """Runs."""

    @property
    def conversations(self) -> Conversations:
        """Conversations."""

    @property
    def neighbours(self) -> Neighbours:
        """Other processes."""

    @property
    def decisions(self) -> Decisions:
        """Decisions."""

    @property
    def queue(self) -> Queue:
        """Queued messages."""

    @property
    def models(self) -> Models:
        """Which models there are, and which one is taken."""

    @property
    def attachments(self) -> Attachments:
        """What goes with messages."""

    @property
    def direct_calls(self) -> object:
        """What calls tools outside any run; `Conversations` takes it."""

    @property
    def engines(self) -> Engines:
        """Engines."""

    @property
    def servers(self) -> Servers:
        """Tool servers."""

    @property
    def tool_host(self) -> ToolHost:
        """What restarts the tool servers."""

    @property
    def mcp(self) -> ServerEntries:
        """What is configured of the tool servers."""

    @property
    def trust(self) -> ServerTrust:
        """Whose hints count."""

    @property
    def definitions(self) -> ToolDefinitions:
        """Tools that changed."""

    @property
    def doctor(self) -> Doctor:
        """Doctor."""

    @property
    def exports(self) -> Exports:
        """Exports."""

    @property
    def paths(self) -> AppPaths:
        """Where everything lies."""

    @property
    def notices(self) -> Sequence[Notice]:
        """What was wrong with the settings."""
