"""What the window asks of the core about runs: its own, those of other processes, and what is sent next.

Invariant: as in the package: protocols over domain types alone.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.events import RunEvent
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.core.domain.specs import EngineKind


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


class Neighbours(Protocol):
    """Other processes on the same file."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change of the file, and notice owners of runs that die."""

    async def executing(self, conversation_id: str) -> RunHandle | None:
        """The run that another process executes there."""

    async def request_stop(self, conversation_id: str) -> bool:
        """Ask for its stop. False if none runs."""
