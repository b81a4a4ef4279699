"""The run's states under any order of what a person, a quit and a death do, held against the store.

Invariant: the core is the real one on a real file; a trigger in the file writes down each change of a run's
status, so that no change goes unseen.
"""

import asyncio
import sqlite3
import tempfile
from contextlib import AsyncExitStack, aclosing, closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import TextDelta
from sophos_desktop.core.domain.run import LEGAL_TRANSITIONS, RunStatus
from sophos_desktop.core.runs.registry import RunHandle
from tests.support.core_fixture import (
    LINES,
    PATIENCE_SECONDS,
    append,
    calls,
    ended,
    lines_of,
    open_test_core,
    paths_of,
    until_let_go,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

pytestmark = pytest.mark.long
ASKING = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
REFUSALS = {
    ErrorCode.SESSION_IN_PROGRESS,
    ErrorCode.APPROVAL_PENDING,
    ErrorCode.RUN_NOT_RESUMABLE,
    ErrorCode.DECISION_STALE,
    ErrorCode.NOT_FOUND,
}
WATCH = """
CREATE TABLE IF NOT EXISTS status_changes (run_id TEXT, was TEXT, is_now TEXT);
CREATE TRIGGER IF NOT EXISTS status_began AFTER INSERT ON runs
  BEGIN INSERT INTO status_changes VALUES (new.id, NULL, new.status); END;
CREATE TRIGGER IF NOT EXISTS status_changed AFTER UPDATE OF status ON runs
  BEGIN INSERT INTO status_changes VALUES (new.id, old.status, new.status); END;
"""
OPERATIONS = (
    "chat",
    "write",
    "hang",
    "resume",
    "allow",
    "deny",
    "deny and send",
    "stop",
    "stop waiting",
    "drain",
    "die",
    "delete",
)


class Machine:
    """One person with one conversation; lives for one example."""

    def __init__(self, folder: Path, engine: OllamaServer) -> None:
        self.core: Core
        self._data = folder / "data"
        self._file = folder / "lines.txt"
        self._engine = engine
        self._opened = AsyncExitStack()
        self._conversation: str | None = None
        self._hanging: RunHandle | None = None
        self._said = 0
        self._lines_allowed = 0
        write = (calls(append(self._file, "a"), append(self._file, "b")), Reply(pieces=("Done.",)))
        engine.play.by_text.update({"write": write, "hang": (Reply(pieces=("Half", "."), hold_after=1),)})

    async def open(self) -> None:
        """Begin, or begin again: what died is recovered."""
        self._opened = AsyncExitStack()
        self.core = await self._opened.enter_async_context(
            open_test_core(self._data, self._engine, mcp=ASKING)
        )
        # In a thread: it may have to wait for a transaction of this loop.
        await asyncio.to_thread(self._watch)

    def _watch(self) -> None:
        with closing(sqlite3.connect(paths_of(self._data).database, timeout=PATIENCE_SECONDS)) as connection:
            connection.executescript(WATCH)

    async def close(self) -> None:
        """Quit: what runs is drained."""
        self._hanging = None
        await self._opened.aclose()

    async def do(self, operation: str) -> None:
        """One thing that is done; it may be refused, with a reason that fits."""
        try:
            await self._do(operation)
        except SophosError as error:
            assert error.code in REFUSALS, error
        await self.check()

    async def _do(self, operation: str) -> None:
        if operation in ("chat", "write", "hang"):
            self._said += 1
            await self._follow(await self.core.runs.start(self._conversation, f"{operation} {self._said}"))
        elif operation == "drain":
            await self.close()
            await self.open()
        elif operation == "die":
            # Its tasks end and write nothing, as if the process were gone.
            await self.core.runs.close()
            self._hanging = None
            await self.close()
            await self.open()
        elif self._conversation is not None:
            await self._do_there(operation, self._conversation)

    async def _do_there(self, operation: str, conversation: str) -> None:
        if operation == "resume":
            await self._follow(await self.core.runs.resume(conversation))
        elif operation in ("allow", "deny"):
            asked = await self.core.decisions.pending(conversation)
            if asked and self._hanging is None:
                kind = "allow" if operation == "allow" else "deny"
                await self.core.decisions.decide(conversation, asked[0].tool_call_id, kind)  # type: ignore[arg-type]
                self._lines_allowed += operation == "allow"
                await self._follow(await self.core.runs.proceed(conversation))
        elif operation == "deny and send":
            self._said += 1
            await self._follow(await self.core.queue.deny_all_and_send(conversation, f"chat {self._said}"))
        elif operation == "stop" and self._hanging is not None:
            handle, self._hanging = self._hanging, None
            assert self.core.runs.stop(conversation)
            assert (await ended(handle)).status == "cancelled"
            await until_let_go(self.core, handle)
        elif operation == "stop waiting":
            await self.core.runs.cancel_waiting(conversation)
        elif operation == "delete":
            await self.core.conversations.delete(conversation)
            self._conversation = None

    async def _follow(self, handle: RunHandle) -> None:
        """To its end, or until its engine hangs."""
        self._conversation = handle.conversation_id
        if await self._hangs(handle):
            self._hanging = handle
            return
        await ended(handle)
        await until_let_go(self.core, handle)

    async def _hangs(self, handle: RunHandle) -> bool:
        """True once the engine holds the run's answer; False once the run has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS), aclosing(handle.events()) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event.event, TextDelta) and event.event.text == "Half":
                    return True
        return False

    async def check(self) -> None:
        """The invariants."""
        with closing(sqlite3.connect(paths_of(self._data).database)) as connection:
            changes = connection.execute("SELECT run_id, was, is_now FROM status_changes").fetchall()
            runs = connection.execute("SELECT status FROM runs").fetchall()
            orphans = connection.execute(
                "SELECT count(*) FROM runs WHERE conversation_id NOT IN (SELECT id FROM conversations)"
            ).fetchone()
        for run_id, was, is_now in changes:
            legal = {RunStatus.RUNNING} if was is None else LEGAL_TRANSITIONS[RunStatus(was)]
            assert RunStatus(is_now) in legal, (run_id, was, is_now)
        assert orphans == (0,)
        active = [status for (status,) in runs if status in ("running", "waiting")]
        assert len(active) <= 1
        assert (active == ["running"]) == (self._hanging is not None)
        # Each allowed call ran once, and no other ran.
        assert len(lines_of(self._file)) <= self._lines_allowed
        if self._conversation is None:
            assert runs == []
            return
        conversation = await self.core.conversations.find(self._conversation)
        thread = await self.core.runs._stores.graph.read(self._conversation)
        assert conversation.last_run is not None
        if not active:
            assert conversation.last_run.unfinished == thread.unfinished == conversation.resumable
        if active == ["waiting"]:
            assert thread.questions
            assert await self.core.decisions.pending(self._conversation)


@settings(max_examples=10)
@given(st.lists(st.sampled_from(OPERATIONS), min_size=2, max_size=9))
async def test_whatever_is_done_in_whatever_order_the_states_are_legal_and_agree_with_the_thread(
    operations: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with OllamaServer() as engine:
            machine = Machine(Path(folder), engine)
            try:
                await machine.open()
                for operation in operations:
                    await machine.do(operation)
            finally:
                await machine.close()
