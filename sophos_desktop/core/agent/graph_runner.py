"""Runs the graph on a thread and reads threads.

Invariant: unfinished means that tasks are left, never `next` (DURABILITY.md, rule 1); no run is ever begun
from an older checkpoint; a thread that cannot be read is an error, never an empty one.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.constants import START
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from sophos_desktop.core.agent.graph import AGENT, TOOLS, build_graph
from sophos_desktop.core.agent.messages import call_ids, partial_answer, to_domain, user_message
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.agent.state import AgentState
from sophos_desktop.core.domain.conversation import AttachmentRef, Message
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.thread_promises import ThreadPromise

_log = logging.getLogger(__name__)

FAILED_ITSELF = "The run failed over a mistake in Sophos itself"
_SETTLING_STEP_LIMIT = 25
_UNREADABLE_REMEDY = "Nothing was changed. Run `doctor`, or put back a backup of the database"

Promises = Callable[[str], Awaitable[ThreadPromise | None]]
"""Gives what the tables say a thread must hold; None of a conversation that is not there."""


async def _nothing_promised(thread_id: str) -> None:
    """Where there are no tables beside the threads."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for a decision; `attempt`: how many attempts had been made; `reason`: why it is
    asked; `scope`: what "always" would hold for; `fingerprint`: the definition that is asked about."""

    tool_call_id: str
    server: str
    tool: str
    args: dict[str, Any]
    why: str
    attempt: int
    asked_at: str
    reason: str = ""
    scope: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it is stored now. `results`: messages of finished tasks that no checkpoint holds yet;
    LangGraph shows them among `messages` already."""

    messages: tuple[BaseMessage, ...]
    results: tuple[BaseMessage, ...]
    questions: tuple[Question, ...]
    unfinished: bool
    must_settle: bool

    def holds(self, message_id: str) -> bool:
        """True if the message is in the thread, or will be once the open step is completed."""
        return any(message.id == message_id for message in self.messages)

    def stored_messages(self) -> list[Message]:
        """The messages that a checkpoint holds."""
        pending = {message.id for message in self.results}
        return [to_domain(message) for message in self.messages if message.id not in pending]

    def to_domain(self) -> list[Message]:
        """All messages, as front ends show them."""
        return [to_domain(message) for message in self.messages]

    @property
    def message_count(self) -> int:
        """How many messages are stored."""
        return len(self.messages)

    def refuse_less_than(self, promise: ThreadPromise | None) -> None:
        """Raises SophosError THREAD_UNREADABLE if something that was promised is not there."""
        if promise is None:
            return
        asked = [message for message in self.messages if isinstance(message, AIMessage)]
        broken = promise.broken_by(
            self.message_count,
            calls={call for message in asked for call in call_ids(message)},
            answered={m.tool_call_id for m in self.messages if isinstance(m, ToolMessage)},
            messages={message.id for message in self.messages},
        )
        if broken:
            raise SophosError(
                ErrorCode.THREAD_UNREADABLE,
                f"The stored state of this conversation is not whole: {broken}",
                _UNREADABLE_REMEDY,
            )


class DrainRequest:
    """Asks a running graph to stop at the next step's end. Made for one sitting."""

    def __init__(self) -> None:
        self.control = RunControl()

    def make(self) -> None:
        """Ask for it; what runs now is finished first."""
        self.control.request_drain()

    @property
    def made(self) -> bool:
        """True once it was asked for."""
        return self.control.drain_requested


class GraphRunner:
    """Lives as long as the checkpointer, on its loop. Several threads may run at once."""

    def __init__(self, saver: BaseCheckpointSaver[Any], promises: Promises = _nothing_promised) -> None:
        """`saver` must be set up; what is read is held against `promises`."""
        self._saver = saver
        self._promises = promises
        self._graph = build_graph(saver)

    async def read(self, thread_id: str) -> Thread:
        """The thread; an empty one if nothing is stored. Raises SophosError THREAD_UNREADABLE, also where it
        holds less than the tables say, and STORE_*."""
        promise = await self.promised(thread_id)
        thread = await self.read_as_found(thread_id)
        try:
            thread.refuse_less_than(promise)
        except SophosError:
            if await self.promised(thread_id) is not None:
                raise
            # It was deleted between the two.
        return thread

    async def promised(self, thread_id: str) -> ThreadPromise | None:
        """What the thread must hold; for who reads it by another way. Raises SophosError STORE_*."""
        return await self._promises(thread_id)

    async def read_as_found(self, thread_id: str) -> Thread:
        """As `read`, held against nothing: for who compares it himself."""
        try:
            snapshot = await self._graph.aget_state(config_of(thread_id))
            entering = await self._entering(snapshot)
        except SophosError:
            raise
        except Exception as error:
            raise unreadable_thread(error) from error
        return thread_from(snapshot, entering)

    async def _entering(self, snapshot: StateSnapshot) -> Sequence[BaseMessage]:
        """Messages that a process stored as input and then was killed: they are in no value yet."""
        if not enters(snapshot):
            return ()
        return entering_messages(await self._saver.aget_tuple(snapshot.config))

    async def run(
        self,
        context: RunContext,
        drain: DrainRequest,
        *,
        message: tuple[str, str] | None,
        attachments: Sequence[AttachmentRef] = (),
        partials: Sequence[Message] = (),
        at: str = "",
        step_limit: int,
    ) -> None:
        """Run to the end, a pause or a drain. `message`: id and text of a new one, None to continue;
        `attachments`: what goes with it.

        Raises SophosError; a drain is no error: it leaves tasks."""
        new: list[BaseMessage] = [partial_answer(partial) for partial in partials]
        if message is not None:
            new.append(user_message(message[0], message[1], at, context.run_id, attachments))
        context.produced.extend(new)
        await self._drive(context, {"messages": new} if new else None, step_limit, control=drain.control)

    async def settle(self, context: RunContext) -> None:
        """Finish an open step without calling anything (DURABILITY.md, rule 2)."""
        context.settling = True
        try:
            await self._drive(context, None, _SETTLING_STEP_LIMIT, interrupt_before=[AGENT])
        finally:
            context.settling = False

    async def _drive(
        self, context: RunContext, state: AgentState | None, step_limit: int, **how: Any
    ) -> None:
        config = config_of(context.conversation_id)
        # To LangGraph 1.2.24 the entry of an input is a step, and continuing has two steps more than it says.
        config["recursion_limit"] = step_limit if state is not None else max(1, step_limit - 2)
        # Never `run_id`: LangGraph would take the message for a resume and drop it (DURABILITY.md, rule 4).
        config["metadata"] = {"sophos_run_id": context.run_id}
        stream = self._graph.astream(
            state, config, context=context, durability="sync", stream_mode="tasks", **how
        )
        try:
            async with aclosing(stream) as parts:  # type: ignore[type-var]  # it is a generator
                async for _ in parts:
                    pass
        except GraphDrained:
            return
        except GraphRecursionError as error:
            if not (await self.read(context.conversation_id)).unfinished:
                return  # LangGraph says it of a run, too, that ended with the last step it had
            raise SophosError(
                ErrorCode.RECURSION_LIMIT,
                f"The run reached its limit of {step_limit} steps",
                "Continue to give it as many again, or raise the step limit in Settings, Answers",
            ) from error
        except SophosError:
            raise
        except Exception as error:
            _log.exception("a run failed in our own code")
            raise SophosError(
                ErrorCode.AGENT_FAILURE,
                FAILED_ITSELF,
                "Resume to try again; the log has more than the details here",
                details=f"{type(error).__name__}: {error}",
            ) from error


def config_of(thread_id: str) -> RunnableConfig:
    """Names a thread to LangGraph."""
    return {"configurable": {"thread_id": thread_id}}


def unreadable_thread(error: Exception) -> SophosError:
    """What a thread that cannot be read is reported as."""
    return SophosError(
        ErrorCode.THREAD_UNREADABLE,
        "The stored state of this conversation cannot be read",
        _UNREADABLE_REMEDY,
        details=f"{type(error).__name__}: {error}",
    )


def enters(snapshot: StateSnapshot) -> bool:
    """True if an input is stored and not in the thread yet."""
    return any(task.name == START for task in snapshot.tasks)


def entering_messages(stored: CheckpointTuple | None) -> Sequence[BaseMessage]:
    """The messages of a checkpoint's input."""
    state = stored.checkpoint["channel_values"].get(START) if stored is not None else None
    return tuple(state.get("messages", ())) if isinstance(state, dict) else ()


def thread_from(snapshot: StateSnapshot, entering: Sequence[BaseMessage]) -> Thread:
    """The thread that a snapshot and the messages of its open input make."""
    messages = tuple(snapshot.values.get("messages", ()))
    known = {message.id for message in messages}
    results = tuple(
        message
        for task in snapshot.tasks
        if isinstance(task.result, dict)
        for message in task.result.get("messages", ())
    )
    return Thread(
        messages=(*messages, *(message for message in entering if message.id not in known)),
        results=results,
        questions=tuple(Question(**found.value) for task in snapshot.tasks for found in task.interrupts),
        unfinished=bool(snapshot.tasks),
        must_settle=any(task.name in (TOOLS, START) or task.result is not None for task in snapshot.tasks),
    )
