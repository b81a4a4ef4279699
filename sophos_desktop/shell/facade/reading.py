"""What the window asks of the core about conversations: reading, renaming, keeping drafts, exporting.

Invariant: as in the package: protocols over domain types alone.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sophos_desktop.core.domain.call_records import CallRecord
from sophos_desktop.core.domain.conversation import Conversation, Message
from sophos_desktop.core.domain.drafts import Draft
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.run import LeftFailure, RunRecord
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.shell.facade.deleting import Deletions


class Conversations(Deletions, Protocol):
    """Reads and changes conversations."""

    async def find_all(self) -> Sequence[Conversation]:
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

    async def save_draft(self, conversation_id: str | None, text: str, *, seen: str | None = None) -> Draft:
        """Keep what the composer holds. None: the chat that does not exist yet. `seen`: the shared draft that
        `text` was made from; if it says something else by now, that stays and `text` is kept beside it."""

    async def draft_here(self, conversation_id: str | None) -> Draft:
        """What was kept for this window, and what all windows share."""

    async def app_state(self, key: str) -> str | None:
        """A value of the window's own state."""

    async def save_app_state(self, key: str, value: str) -> None:
        """Keep a value of the window's own state."""


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
