"""Reads and changes conversations for the front ends.

Invariant: needs no engine and no tool server; texts come from the thread, states from the rows.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus, Message
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SCHEMA_VERSION
from sophos_desktop.core.domain.run import RunRecord
from sophos_desktop.core.runs.partials import partial_message
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.trace import StoredEvent

SHORTEST_PART = 4
_NEW_CHAT_DRAFT = "draft"


class Conversations:
    """Lives as long as the core."""

    def __init__(self, stores: Stores, clear_up: Callable[[str], Awaitable[object]]) -> None:
        """`clear_up` recovers what a dead owner left on a conversation."""
        self._stores = stores
        self._clear_up = clear_up

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
        """All messages, with partial answers at the end. Raises SophosError THREAD_UNREADABLE."""
        thread = await self._stores.graph.read(conversation_id)
        partials = await self._stores.trace.partials(conversation_id)
        left = [partial for partial in partials if not thread.holds(partial.message_id)]
        return [*thread.to_domain(), *(partial_message(partial) for partial in left)]

    async def runs(self, conversation_id: str) -> Sequence[RunRecord]:
        """All runs of a conversation, oldest first."""
        return await self._stores.runs.of_conversation(conversation_id)

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

    async def save_draft(self, conversation_id: str | None, text: str) -> None:
        """Keep what is in the composer; None is the chat that does not exist yet."""
        if conversation_id is None:
            await self._stores.conversations.save_app_state(_NEW_CHAT_DRAFT, text)
        else:
            await self._stores.conversations.save_draft(conversation_id, text)

    async def draft(self, conversation_id: str | None) -> str:
        """What was kept of the composer."""
        if conversation_id is None:
            return await self._stores.conversations.app_state(_NEW_CHAT_DRAFT) or ""
        conversation = await self._stores.conversations.get(conversation_id)
        return conversation.draft if conversation else ""

    async def delete(self, conversation_id: str) -> None:
        """Remove a conversation and all its own. Raises SophosError SESSION_IN_PROGRESS, NOT_FOUND."""
        await self._clear_up(conversation_id)
        if not await self._stores.conversations.bury(conversation_id):
            if await self._stores.conversations.get(conversation_id) is None:
                raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")
            raise SophosError(
                ErrorCode.SESSION_IN_PROGRESS,
                "An answer is being written in this conversation",
                "Stop it first, then delete",
            )
        await self._stores.saver.adelete_thread(conversation_id)
        await self._stores.conversations.remove(conversation_id)

    async def app_state(self, key: str) -> str | None:
        """What the window saved under a key."""
        return await self._stores.conversations.app_state(key)

    async def save_app_state(self, key: str, value: str) -> None:
        """Save something of the window under a key."""
        await self._stores.conversations.save_app_state(key, value)


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
