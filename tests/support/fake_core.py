"""A core for window tests: the facade of the shell, in memory, each run driven by the test itself.

Invariant: a run does only what the test tells its handle; the records follow the rules that front ends may
rely on (claimed before `start` returns, outcome recorded before `end` is told). `calls` notes the order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.call_records import CallRecord
from sophos_desktop.core.domain.conversation import (
    Conversation,
    ConversationStatus,
    Message,
    Role,
    title_from,
)
from sophos_desktop.core.domain.drafts import Draft, holds
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import (
    Notice,
    TextDelta,
    ThinkingDelta,
)
from sophos_desktop.core.domain.run import LeftFailure, RunKind, RunRecord, RunStatus
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.ids import new_id
from sophos_desktop.foundation.paths import AppPaths
from tests.support.fake_attachments import FakeAttachments
from tests.support.fake_core_parts import (
    FakeClock,
    FakeDefinitions,
    FakeDoctor,
    FakeExports,
    FakeNeighbours,
    FakeServers,
    FakeSettings,
    FakeTrust,
    record,
)
from tests.support.fake_core_questions import FakeDecisions, FakeEntries, FakeQuestion, FakeQueue, Why
from tests.support.fake_handle import FakeHandle as FakeHandle
from tests.support.fake_models import FakeEngines, FakeModels
from tests.support.fake_results import FakeResults


class FakeConversations(FakeResults):
    """Conversations in memory."""

    def __init__(self, core: "FakeCore") -> None:
        super().__init__()
        self._core = core
        self.stored: dict[str, list[Message]] = {}
        self.drafts: dict[str | None, str] = {}
        self.drafts_beside: dict[str | None, str] = {}
        self.state: dict[str, str] = {}
        self.save_error: SophosError | None = None
        self.traces: dict[str, list[dict[str, Any]]] = {}
        self.traced: list[str] = []
        self.reads_of_traces = 0
        self.records: dict[str, dict[str, CallRecord]] = {}
        self.failures: dict[str, Sequence[LeftFailure]] = {}

    def add(self, title: str, *messages: Message, last_run: RunRecord | None = None) -> str:
        """A conversation that was there before."""
        conversation_id, now = new_id(), to_text(self._core.clock.now())
        self.known[conversation_id] = Conversation(
            conversation_id,
            title,
            ConversationStatus.ACTIVE,
            False,
            None,
            len(messages),
            now,
            now,
            last_run=last_run,
        )
        self.stored[conversation_id] = list(messages)
        return conversation_id

    def touch(self, conversation_id: str, run: RunRecord) -> None:
        """Its last run is this one now."""
        known = self.known[conversation_id]
        self.known[conversation_id] = replace(known, last_run=run, updated_at=to_text(self._core.clock.now()))

    async def find_all(
        self, *, statuses: Sequence[Any] = (), query: str = "", tag: str = "", limit: int | None = None
    ) -> Sequence[Conversation]:
        """Newest first."""
        return sorted(self.known.values(), key=lambda one: one.updated_at, reverse=True)[:limit]

    async def find(self, id_or_part: str) -> Conversation:
        """By its whole id."""
        if id_or_part not in self.known:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation")
        return self.known[id_or_part]

    async def stamps(self) -> Mapping[str, object]:
        return {entry.id: entry for entry in await self.find_all()}

    async def messages(self, conversation_id: str) -> Sequence[Message]:
        """All of them."""
        return tuple(self.stored[conversation_id])

    async def call_records(self, conversation_id: str) -> Mapping[str, CallRecord]:
        """As the test set them."""
        return self.records.get(conversation_id, {})

    async def runs(self, conversation_id: str) -> Sequence[RunRecord]:
        """Those that ran here, then the one it was made with."""
        known = dict(self._core.runs.records.get(conversation_id, {}))
        last = self.known[conversation_id].last_run if conversation_id in self.known else None
        if last is not None:
            known[last.id] = last
        return tuple(known.values())

    async def left_failures(self, conversation_id: str) -> Sequence[LeftFailure]:
        """As the test set them."""
        return self.failures.get(conversation_id, ())

    async def trace(self, run_id: str, after_seq: int = 0) -> Sequence[Mapping[str, Any]]:
        """What its handles told, without deltas, or what the test put there."""
        self.traced.append(run_id)
        told = [item for handle in self._core.runs.handles if handle.run_id == run_id for item in handle.told]
        stored = [item.to_json() for item in told if not isinstance(item.event, TextDelta | ThinkingDelta)]
        return [event for event in self.traces.get(run_id, stored) if event["seq"] > after_seq]

    async def traces_of(self, run_ids: Sequence[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Those of several runs."""
        self.reads_of_traces += 1
        return {run_id: await self.trace(run_id) for run_id in run_ids}

    async def rename(self, conversation_id: str, title: str) -> None:
        """Another title."""
        self.known[conversation_id] = replace(self.known[conversation_id], title=title)

    def is_active(self, conversation_id: str) -> bool:
        """True while a run is active there."""
        return self._core.runs.active(conversation_id) is not None

    async def delete(self, conversation_id: str) -> None:
        """At once."""
        await self.bury(conversation_id)
        await self.finish_deletion(conversation_id)

    async def save_draft(self, conversation_id: str | None, text: str, *, seen: str | None = None) -> Draft:
        """Keep it."""
        if self.save_error is not None:
            raise self.save_error
        shared = self.drafts.get(conversation_id, "")
        if seen is None or seen == shared or holds(text, shared):
            self.drafts[conversation_id] = shared = text
            self.drafts_beside.pop(conversation_id, None)
        else:
            self.drafts_beside[conversation_id] = text
        self._core.note("draft")
        return Draft(text, shared)

    async def draft_here(self, conversation_id: str | None) -> Draft:
        """What was kept."""
        shared = self.drafts.get(conversation_id, "")
        return Draft(self.drafts_beside.get(conversation_id, shared), shared)

    async def draft(self, conversation_id: str | None) -> str:
        """What was kept."""
        return self.drafts.get(conversation_id, "")

    async def app_state(self, key: str) -> str | None:
        """A value."""
        return self.state.get(key)

    async def save_app_state(self, key: str, value: str) -> None:
        """Keep a value."""
        self.state[key] = value
        self._core.note("state")


class FakeRuns:
    """The registry; `handles` are all sittings, newest last."""

    def __init__(self, core: "FakeCore") -> None:
        self._core = core
        self.handles: list[FakeHandle] = []
        self.records: dict[str, dict[str, RunRecord]] = {}
        self.start_error: SophosError | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.started = asyncio.Event()
        self._active: dict[str, FakeHandle] = {}
        self._listeners: list[Callable[[str], None]] = []

    async def start(
        self,
        conversation_id: str | None,
        text: str,
        *,
        as_chosen: bool = False,
        attachments: Sequence[Any] = (),
        **_named: Any,
    ) -> FakeHandle:
        """Held by `gate`, refused with `start_error`."""
        await self.gate.wait()
        if self.start_error is not None:
            raise self.start_error
        sent = self._core.attachments.sent(conversation_id, attachments)
        if conversation_id is None:
            conversation_id = self._core.conversations.add(title_from(text))
            self._core.models.begin(conversation_id, as_chosen=as_chosen)
        self._core.conversations.drafts[conversation_id] = ""
        handle = self._begin(conversation_id, new_id(), RunKind.MESSAGE)
        handle.store(Message(new_id(), Role.USER, text, run_id=handle.run_id, attachments=sent))
        return handle

    async def resume(self, conversation_id: str) -> FakeHandle:
        """Refused with `start_error`."""
        if self.start_error is not None:
            raise self.start_error
        return self._begin(conversation_id, new_id(), RunKind.RESUME)

    async def proceed(self, conversation_id: str) -> FakeHandle:
        """The same run again."""
        run = self._core.conversations.known[conversation_id].last_run
        assert run is not None
        return self._begin(conversation_id, run.id, run.kind)

    def _begin(self, conversation_id: str, run_id: str, kind: RunKind) -> FakeHandle:
        handle = FakeHandle(self._core, conversation_id, run_id)
        self.handles.append(handle)
        self._active[conversation_id] = handle
        begun = record(conversation_id, run_id, RunStatus.RUNNING, kind=kind)
        self.records.setdefault(conversation_id, {})[run_id] = begun
        self._core.conversations.touch(conversation_id, begun)
        self.changed(conversation_id)
        self.started.set()
        return handle

    def finish(
        self,
        handle: FakeHandle,
        status: RunStatus,
        code: str | None,
        message: str | None,
        *,
        unfinished: bool,
    ) -> None:
        """Record an outcome."""
        self._active.pop(handle.conversation_id, None)
        ended = record(handle.conversation_id, handle.run_id, status, code, message, unfinished=unfinished)
        self.records.setdefault(handle.conversation_id, {})[handle.run_id] = ended
        self._core.conversations.touch(handle.conversation_id, ended)
        self.changed(handle.conversation_id)

    def stop(self, conversation_id: str) -> bool:
        """Marks the handle; the test ends it."""
        handle = self._active.get(conversation_id)
        if handle is None:
            return False
        handle.is_stopped = True
        return True

    def end_waiting(self, conversation_id: str, status: RunStatus = RunStatus.CANCELLED) -> bool:
        """End a run that waits; False if none does."""
        run = self._core.conversations.known[conversation_id].last_run
        if run is None or run.status is not RunStatus.WAITING:
            return False
        self._core.decisions.open.clear()
        self._core.conversations.touch(conversation_id, replace(run, status=status, unfinished=True))
        self.changed(conversation_id)
        return True

    async def drain(self, timeout_seconds: float) -> None:
        """Interrupts what runs."""
        self._core.note("drain")
        for handle in list(self._active.values()):
            handle.end(RunStatus.INTERRUPTED, unfinished=True)

    def active(self, conversation_id: str) -> FakeHandle | None:
        """The sitting that runs there."""
        return self._active.get(conversation_id)

    def changed(self, conversation_id: str) -> None:
        """Tell the listeners."""
        for listener in tuple(self._listeners):
            listener(conversation_id)

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Told of changes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class FakeCore:
    """All of it; `calls` is what happened in order."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.calls: list[str] = []
        self.conversations = FakeConversations(self)
        self.runs = FakeRuns(self)
        self.neighbours = FakeNeighbours(self.runs.end_waiting)
        self.decisions, self.mcp = FakeDecisions(), FakeEntries()
        self.queue, self.attachments = FakeQueue(self), FakeAttachments()
        self.engines, self.models = FakeEngines(), FakeModels()
        self.servers = self.tool_host = FakeServers()
        self.direct_calls = object()
        self.trust, self.definitions = FakeTrust(), FakeDefinitions()
        self.doctor, self.exports = FakeDoctor(), FakeExports()
        self.paths = AppPaths(Path("data"), Path("data/config"), Path("data/logs"))
        self.settings, self.notices = FakeSettings(), list[Notice]()

    def note(self, what: str) -> None:
        """Remember that something happened; the same thing in a row once."""
        if self.calls[-1:] != [what]:
            self.calls.append(what)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["FakeCore"]:
        """As `open_core` would."""
        self.note("open")
        try:
            yield self
        finally:
            self.note("closed")

    def ask(
        self, handle: FakeHandle, tool_call_id: str, why: Why = "uncertain", *, ends: bool = True, **more: Any
    ) -> None:
        """Let a run wait for a decision, from its question to the end of its sitting."""
        given = {"server": "files", "tool": "append", "args": {"path": "notes.txt"}, **more}
        question = FakeQuestion(handle.conversation_id, handle.run_id, tool_call_id, why=why, **given)
        self.decisions.open.append(question)
        handle.tell(question.event())
        if ends:
            handle.end(RunStatus.WAITING, unfinished=True)
