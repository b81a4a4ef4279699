"""What the window asks of the core, as protocols.

Invariant: nothing here is imported from below but `core.domain` and `foundation.paths`, so that the window
can be painted before the core is loaded. The core of `core.assembly` fits these protocols without knowing
them.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sophos_desktop.core.domain.call_records import CallRecord
from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef, Conversation, Message
from sophos_desktop.core.domain.drafts import Draft
from sophos_desktop.core.domain.events import Notice, RunEvent
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.core.domain.run import LeftFailure, RunRecord
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, EngineStatus, ServerStatus, ToolResult
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.foundation.paths import AppPaths
from sophos_desktop.shell.facade.composing import Attachments as Attachments
from sophos_desktop.shell.facade.composing import Models as Models
from sophos_desktop.shell.facade.deleting import Deletions
from sophos_desktop.shell.facade.deleting import MemoryFact as MemoryFact
from sophos_desktop.shell.facade.questions import Decisions as Decisions
from sophos_desktop.shell.facade.questions import PendingDecision as PendingDecision
from sophos_desktop.shell.facade.questions import ServerEntries as ServerEntries


class RunHandle(Protocol):
    """A sitting of a run of this process."""

    @property
    def run_id(self) -> str:
        """The run."""

    @property
    def conversation_id(self) -> str:
        """Where it runs."""

    def events(self, from_seq: int = 1) -> AsyncIterator[RunEvent]:
        """What happened since `from_seq`, then what happens; ends after `SittingEnded`."""


class Runs(Protocol):
    """Starts, resumes and stops runs."""

    async def start(
        self,
        conversation_id: str | None,
        text: str,
        *,
        engine: EngineKind | None = None,
        model: str | None = None,
        as_chosen: bool = False,
        attachments: Sequence[AttachmentRef | Attachment] = (),
    ) -> RunHandle:
        """Returns once the text is safe. None starts a conversation. `attachments`: what of the draft's goes
        with it; a message may have nothing else. `as_chosen`: a new conversation takes over the model that
        was chosen for the chat that does not exist yet. Raises SophosError."""

    async def resume(self, conversation_id: str) -> RunHandle:
        """Goes on with what is left. Raises SophosError."""

    async def proceed(self, conversation_id: str) -> RunHandle:
        """Goes on with a waiting run whose questions are answered. Raises SophosError."""

    def stop(self, conversation_id: str) -> bool:
        """False if nothing of this process runs there."""

    async def drain(self, timeout_seconds: float) -> None:
        """Refuse new runs and let the steps that run finish."""

    def active(self, conversation_id: str) -> RunHandle | None:
        """The run of this process on that conversation."""

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the id of each conversation whose run starts, changes or ends."""


class Conversations(Deletions, Protocol):
    """Reads and changes conversations."""

    async def find_all(
        self, *, statuses: Sequence[Any] = (), query: str = "", tag: str = "", limit: int | None = None
    ) -> Sequence[Conversation]:
        """Newest first."""

    async def find(self, id_or_part: str) -> Conversation:
        """Raises SophosError NOT_FOUND or AMBIGUOUS_ID."""

    async def stamps(self) -> Mapping[str, object]:
        """Something for each conversation that is another thing once its entry in the list is."""

    async def messages(self, conversation_id: str) -> Sequence[Message]:
        """All of them, partial answers included."""

    async def runs(self, conversation_id: str) -> Sequence[RunRecord]:
        """All runs, oldest first."""

    async def left_failures(self, conversation_id: str) -> Sequence[LeftFailure]:
        """The runs that failed and were not resumed before the next message, oldest first."""

    async def trace(self, run_id: str, after_seq: int = 0) -> Sequence[Mapping[str, Any]]:
        """The stored events of a run with a higher number, as JSON. Raises SophosError NOT_FOUND."""

    async def traces_of(self, run_ids: Sequence[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The stored events of runs of one conversation, in one read; those that are gone are left out."""

    async def call_records(self, conversation_id: str) -> Mapping[str, CallRecord]:
        """What is known of each call that was sent or decided, by its id. Raises SophosError STORE_*."""

    async def tool_result(self, conversation_id: str, tool_call_id: str) -> ToolResult:
        """The whole result of a call with all its parts. Raises SophosError NOT_FOUND and others."""

    async def rename(self, conversation_id: str, title: str) -> None:
        """Give it a title."""

    async def delete(self, conversation_id: str) -> None:
        """Raises SophosError SESSION_IN_PROGRESS."""

    async def save_draft(self, conversation_id: str | None, text: str, *, seen: str | None = None) -> Draft:
        """Keep what the composer holds. None: the chat that does not exist yet. `seen`: the shared draft that
        `text` was made from; if it says something else by now, that stays and `text` is kept beside it."""

    async def draft_here(self, conversation_id: str | None) -> Draft:
        """What was kept for this window, and what all windows share."""

    async def app_state(self, key: str) -> str | None:
        """A value of the window's own state."""

    async def save_app_state(self, key: str, value: str) -> None:
        """Keep a value of the window's own state."""


class Neighbours(Protocol):
    """Other processes on the same file."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change of the file, and notice owners of runs that die."""

    async def executing(self, conversation_id: str) -> RunHandle | None:
        """The run that another process executes there."""

    async def request_stop(self, conversation_id: str) -> bool:
        """Ask for its stop. False if none runs."""


class Queue(Protocol):
    """The message that waits until its conversation's run has completed: one a conversation. Another window
    may change it: who says what he has `seen` changes only that."""

    async def add(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> Queued:
        """Queue a message behind what waits already, with what of the draft's goes along; gives what waits
        then. Raises SophosError BAD_REQUEST, STORE_*."""

    async def put(
        self,
        conversation_id: str,
        text: str,
        attachments: Sequence[AttachmentRef | Attachment] = (),
        *,
        seen: Queued | None = None,
    ) -> bool:
        """Queue a message, in place of `seen`. `attachments`: all that goes with it, of what the draft or
        that one holds. False if something else waits. Raises SophosError BAD_REQUEST, STORE_*."""

    async def waiting(self, conversation_id: str) -> Queued:
        """What waits, with what is attached to it."""

    async def remove(
        self, conversation_id: str, *, to_draft: bool = False, seen: Queued | None = None
    ) -> bool:
        """Take it back. `to_draft`: what is attached to it goes to the draft, in front of what is there; else
        it is gone. False if it was sent, taken back, or changed meanwhile."""

    async def send(self, conversation_id: str, *, seen: Queued | None = None) -> RunHandle:
        """Send it now. Raises SophosError NOT_FOUND (none waits, or another), and what `Runs.start`
        raises."""

    async def deny_all_and_send(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> RunHandle:
        """Deny every call that waits, and send a message instead; what is queued already goes first, with
        what is attached to it. Raises what `Runs.start` raises."""


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


class Exports(Protocol):
    """Writes conversations to documents."""

    async def write(
        self,
        conversation_ids: Sequence[str],
        target: Path,
        kind: ExportFormat,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        into_folder: bool | None = None,
    ) -> Sequence[Path]:
        """Each to a file of its own: `target`, or one in it. Raises SophosError EXPORT_FAILED and others."""


class Engines(Protocol):
    """The engines, for the status bar."""

    async def choose(self, engine: EngineKind | None, model: str | None) -> EngineChoice:
        """What the next run would take. Raises SophosError."""

    async def status(self, engine: EngineKind | None = None) -> EngineStatus:
        """How an engine stands; None: the one that the settings lead to."""


class Servers(Protocol):
    """The tool servers, for the status bar."""

    def statuses(self) -> Sequence[ServerStatus]:
        """All configured servers."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever a status changes."""


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


class ToolHost(Protocol):
    """Restarts tool servers."""

    async def restart(self, name: str) -> ServerStatus:
        """Start one anew; returns when that succeeded or failed. Raises SophosError NOT_FOUND."""


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
