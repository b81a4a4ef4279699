"""Reads and changes conversations for the front ends.

Invariant: needs no engine and no tool server; texts come from the thread, states from the rows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from sophos_desktop.core.agent.kept_results import whole_result
from sophos_desktop.core.domain.call_records import CallRecord, call_records
from sophos_desktop.core.domain.conversation import (
    Attachment,
    Conversation,
    ConversationStatus,
    Message,
    ToolStatus,
)
from sophos_desktop.core.domain.drafts import Draft
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SCHEMA_VERSION
from sophos_desktop.core.domain.run import LeftFailure, RunRecord
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.runs import memory_facts
from sophos_desktop.core.runs.damage import with_older_state
from sophos_desktop.core.runs.erasing import Erasing
from sophos_desktop.core.runs.memory_facts import MemoryFact, ToolCalls
from sophos_desktop.core.runs.partials import partial_message
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.attachments import Use
from sophos_desktop.core.store.trace import StoredEvent

SHORTEST_PART = 4
# Why a result cannot be had; what it added to the memory is unknown then, which keeps nobody from deleting.
_NO_RESULT = (ErrorCode.NOT_FOUND, ErrorCode.THREAD_UNREADABLE, ErrorCode.STORE_CORRUPT)


class Conversations:
    """Lives as long as the core."""

    def __init__(self, stores: Stores, clear_up: Callable[[str], Awaitable[object]]) -> None:
        """`clear_up` recovers what a dead owner left on a conversation."""
        self._stores = stores
        self._erasing = Erasing(stores, clear_up)

    async def find_all(
        self,
        *,
        statuses: Sequence[ConversationStatus] = (),
        query: str = "",
        tag: str = "",
        limit: int | None = None,
    ) -> Sequence[Conversation]:
        """The list, newest first. `query`: part of the title."""
        return await self._stores.conversations.find_all(statuses=statuses, query=query, tag=tag, limit=limit)

    async def stamps(self) -> Mapping[str, object]:
        """Something for each conversation that is another thing once its entry in the list is."""
        return await self._stores.conversations.stamps()

    async def find(self, id_or_part: str) -> Conversation:
        """By id, or a beginning or ending of it of at least four characters.

        Raises SophosError NOT_FOUND, AMBIGUOUS_ID, BAD_REQUEST (the part is too short)."""
        text = id_or_part.strip()
        exact = await self._stores.conversations.get(text)
        if exact is not None:
            return exact
        _refuse_short(text)
        candidates = await self._stores.conversations.ids_like(text)
        chosen = _only(candidates, text, "conversation", "list")
        found = await self._stores.conversations.get(chosen)
        if found is None:
            raise _not_found(text, "conversation", "list")
        return found

    async def messages(self, conversation_id: str) -> list[Message]:
        """All messages, with partial answers at the end. Raises SophosError THREAD_UNREADABLE, which says
        the newest state that can be read: nobody goes back to it unasked."""
        try:
            thread = await self._stores.graph.read(conversation_id)
        except SophosError as error:
            raise await with_older_state(self._stores, conversation_id, error) from error
        partials = await self._stores.trace.partials(conversation_id)
        left = [partial for partial in partials if not thread.holds(partial.message_id)]
        return [*thread.to_domain(), *(partial_message(partial) for partial in left)]

    async def call_records(self, conversation_id: str) -> Mapping[str, CallRecord]:
        """What the journal has of each call that was sent or decided, by its id; needs no thread."""
        return call_records(
            await self._stores.journal.attempts(conversation_id),
            await self._stores.journal.decisions(conversation_id),
        )

    async def attachment(self, sha256_or_part: str) -> Attachment:
        """What is kept under a digest, or a beginning or ending of it of at least four characters.

        Raises SophosError NOT_FOUND, AMBIGUOUS_ID, BAD_REQUEST (the part is too short)."""
        text = sha256_or_part.strip()
        found = await self._stores.attachments.get(text)
        if found is None:
            _refuse_short(text)
            candidates = await self._stores.attachments.ids_like(text)
            found = await self._stores.attachments.get(_only(candidates, text, "attachment", "show"))
        if found is None:
            raise _not_found(text, "attachment", "show")
        return found

    async def tool_result(self, conversation_id: str, tool_call_id: str) -> ToolResult:
        """The whole result of a call, its parts as the protocol gave them; a large one is read in a thread.

        Raises SophosError NOT_FOUND if the call has no result, STORE_CORRUPT if it cannot be read."""
        use = Use(conversation_id, "tool_result", tool_call_id)
        for ref in await self._stores.attachments.held_by(use):
            kept = await self._stores.attachments.get(ref.sha256)
            if kept is not None:
                return await _read_whole(kept)
        for message in await self.messages(conversation_id):
            if message.tool_call_id == tool_call_id:
                part = {"type": "text", "text": message.text}
                return ToolResult(message.text, message.tool_status is not ToolStatus.OK, content=(part,))
        raise _not_found(tool_call_id, "tool result", "show")

    async def runs(self, conversation_id: str) -> Sequence[RunRecord]:
        """All runs of a conversation, oldest first."""
        return await self._stores.runs.of_conversation(conversation_id)

    async def left_failures(self, conversation_id: str) -> Sequence[LeftFailure]:
        """The runs that failed and were not resumed before the next message, oldest first."""
        return await self._stores.runs.left_failures(conversation_id)

    async def find_run(self, id_or_part: str) -> RunRecord:
        """A run, by the same rules as `find`.

        Raises SophosError NOT_FOUND, AMBIGUOUS_ID, BAD_REQUEST (the part is too short)."""
        text = id_or_part.strip()
        record = await self._stores.runs.get(text)
        if record is None:
            _refuse_short(text)
            record = await self._stores.runs.get(
                _only(await self._stores.runs.ids_like(text), text, "run", "runs")
            )
        if record is None:
            raise _not_found(text, "run", "runs")
        return record

    async def ids(self) -> Sequence[str]:
        """The ids of all conversations, so that a front end can show parts that are unique."""
        return await self._stores.conversations.ids()

    async def run_ids(self) -> Sequence[str]:
        """The ids of all runs, for the same purpose."""
        return await self._stores.runs.ids()

    async def trace(self, run_id: str, after_seq: int = 0) -> list[dict[str, Any]]:
        """The stored events of a run in their JSON shape, texts filled in from the thread."""
        record = await self.find_run(run_id)
        events = await self._stores.trace.events(record.id, after_seq)
        fill = await self._texts(record, events)
        return [_to_json(event, fill) for event in events]

    async def traces_of(self, run_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """The same of runs of one conversation, whose thread is read once; gone ones are left out."""
        told: dict[str, Sequence[StoredEvent]] = {}
        record: RunRecord | None = None
        for run_id in run_ids:
            try:
                record = await self.find_run(run_id)
            except SophosError as error:
                if error.code is not ErrorCode.NOT_FOUND:
                    raise
                continue
            told[run_id] = await self._stores.trace.events(record.id, 0)
        if record is None:
            return {}
        fill = await self._texts(record, [event for events in told.values() for event in events])
        return {run_id: [_to_json(event, fill) for event in events] for run_id, events in told.items()}

    async def _texts(self, record: RunRecord, events: Sequence[StoredEvent]) -> "_Texts":
        if not any(event.event in ("message", "tool_result", "tool_call") for event in events):
            return _Texts({}, {}, {})
        thread = await self._stores.graph.read(record.conversation_id)
        messages = {message.id: message for message in thread.to_domain()}
        attempts = await self._stores.journal.attempts(record.conversation_id)
        return _Texts(
            messages,
            {(attempt.tool_call_id, attempt.attempt): dict(attempt.args) for attempt in attempts},
            {attempt.tool_call_id: attempt.result.text for attempt in attempts if attempt.result},
        )

    async def rename(self, conversation_id: str, title: str) -> None:
        """Raises SophosError BAD_REQUEST (empty), NOT_FOUND."""
        title = " ".join(title.split())
        if not title:
            raise SophosError(ErrorCode.BAD_REQUEST, "The title is empty", "Write a title")
        if not await self._stores.conversations.rename(conversation_id, title):
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")

    async def save_draft(self, conversation_id: str | None, text: str, *, seen: str | None = None) -> Draft:
        """Keep what is in the composer; None is the chat that does not exist yet. `seen`: the shared draft
        that `text` was made from; if another window has written something else there, that stays and `text`
        is kept beside it. Gives what is kept then. Raises SophosError STORE_*."""
        return await self._stores.drafts.save(conversation_id, text, seen=seen)

    async def draft_here(self, conversation_id: str | None) -> Draft:
        """What this process's composer is to hold, and what all windows share. Raises SophosError STORE_*."""
        return await self._stores.drafts.read(conversation_id)

    async def draft(self, conversation_id: str | None) -> str:
        """What was kept of the composer, for whoever opens the conversation."""
        return (await self.draft_here(conversation_id)).shared

    async def delete(self, conversation_id: str) -> None:
        """Remove a conversation and all its own. Raises SophosError SESSION_IN_PROGRESS, NOT_FOUND."""
        await self._erasing.delete(conversation_id)

    async def bury(self, conversation_id: str) -> float:
        """Delete a conversation so that it can be taken back; gives for how many seconds.

        `finish_deletion` removes it then. Raises SophosError SESSION_IN_PROGRESS, NOT_FOUND."""
        return await self._erasing.bury(conversation_id)

    async def restore(self, conversation_id: str) -> None:
        """Take a deletion back: nothing is lost. Raises SophosError NOT_FOUND if it is too late."""
        await self._erasing.restore(conversation_id)

    async def finish_deletion(self, conversation_id: str) -> None:
        """Remove what was buried, also before the time is up; nothing if it was taken back."""
        await self._erasing.finish(conversation_id)

    async def finish_deletions(self) -> None:
        """Remove everything that was buried and cannot be taken back any more."""
        await self._erasing.finish_due()

    async def memory_facts(self, conversation_id: str) -> Sequence[MemoryFact]:
        """What this conversation's own recorded calls added to the memory graph, where it outlives a
        deletion. Raises SophosError STORE_*."""
        found: dict[MemoryFact, None] = {}
        for attempt in await self._stores.journal.attempts(conversation_id):
            if memory_facts.adds_facts(attempt):
                result = attempt.result or ToolResult("")
                try:
                    result = await self.tool_result(conversation_id, attempt.tool_call_id)
                except SophosError as error:
                    if error.code not in _NO_RESULT:
                        raise
                found |= dict.fromkeys(memory_facts.facts_in(attempt.tool, result))
        return list(found)

    async def facts_still_there(self, facts: Sequence[MemoryFact], calls: ToolCalls) -> Sequence[MemoryFact]:
        """Those that the memory holds now. Raises SophosError of the call."""
        return await memory_facts.still_there(facts, calls)

    async def remove_facts(self, facts: Sequence[MemoryFact], calls: ToolCalls) -> Sequence[MemoryFact]:
        """Take facts out of the memory; gives those that are gone. Raises SophosError of the calls."""
        return await memory_facts.remove(facts, calls)

    async def app_state(self, key: str) -> str | None:
        """What the window saved under a key."""
        return await self._stores.conversations.app_state(key)

    async def save_app_state(self, key: str, value: str) -> None:
        """Save something of the window under a key."""
        await self._stores.conversations.save_app_state(key, value)


async def _read_whole(kept: Attachment) -> ToolResult:
    try:
        return await asyncio.to_thread(whole_result, kept.content)
    except (ValueError, RecursionError) as error:
        raise SophosError(
            ErrorCode.STORE_CORRUPT,
            f"The attachment {kept.ref.sha256[:8]} is no tool result",
            "Run `doctor`; `attachment` gives its bytes as they are",
        ) from error


def _refuse_short(text: str) -> None:
    if len(text.replace("-", "")) < SHORTEST_PART:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"“{text}” is too short for an id",
            f"Give at least {SHORTEST_PART} characters; see `list`",
        )


def _only(candidates: Sequence[str], text: str, what: str, command: str) -> str:
    """The one id that fits. Raises SophosError NOT_FOUND, AMBIGUOUS_ID."""
    if not candidates:
        raise _not_found(text, what, command)
    if len(candidates) > 1:
        shown = ", ".join(candidates[:8]) + (" …" if len(candidates) > 8 else "")
        raise SophosError(
            ErrorCode.AMBIGUOUS_ID,
            f"“{text}” fits {len(candidates)} {what}s: {shown}",
            "Give more characters, or the end of the id",
        )
    return candidates[0]


def _not_found(text: str, what: str, command: str) -> SophosError:
    return SophosError(ErrorCode.NOT_FOUND, f"There is no {what} “{text}”", f"See `{command}`")


class _Texts:
    """Where the texts of stored events are."""

    def __init__(
        self,
        messages: dict[str, Message],
        args: dict[tuple[str, int], dict[str, Any]],
        recorded: dict[str, str],
    ) -> None:
        """`recorded`: results that no checkpoint holds yet, by call."""
        self.messages = messages
        in_thread = {m.tool_call_id: m.text for m in messages.values() if m.tool_call_id}
        self.results = {**recorded, **in_thread}
        self.args = args


def _to_json(event: StoredEvent, texts: _Texts) -> dict[str, Any]:
    data = dict(event.data)
    if event.event == "message":
        message = texts.messages.get(event.name or "")
        data["message"] = message.to_json() if message else data["message"]
    elif event.event == "tool_result":
        data["text"] = texts.results.get(event.name or "")
    elif event.event == "tool_call":
        data["args"] = texts.args.get((event.name or "", int(data["attempt"])), {})
    return {
        "v": SCHEMA_VERSION,
        "run_id": event.run_id,
        "seq": event.seq,
        "at": event.at,
        "type": event.event,
        **data,
    }
