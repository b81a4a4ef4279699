"""Reads a thread and its history in a worker thread, beside the runs that write it.

Invariant: every checkpoint is read once and folded into what came before it, so the time grows with the
length of the history alone (`get_state_history` folds anew for each), and no text is kept but the last one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.constants import START
from langgraph.types import Send

from sophos_desktop.core.agent.graph import build_graph
from sophos_desktop.core.agent.graph_runner import (
    Thread,
    config_of,
    entering_messages,
    enters,
    thread_from,
    unreadable_thread,
)
from sophos_desktop.core.agent.messages import to_domain
from sophos_desktop.core.agent.state import append_messages
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.history import CheckpointRecord, LastMessage
from sophos_desktop.foundation.clock import to_text

_MESSAGES = "messages"
# LangGraph's names for what is left to do: a channel for each node, and one for the tasks that were sent.
_TO_NODE = "branch:to:"
_SENT = "__pregel_tasks"


OldestFirst = Callable[[str], Iterator[CheckpointTuple]]
"""Gives the checkpoints of a thread that are stored now, in their order."""


@dataclass(frozen=True, slots=True)
class OlderState:
    """A state of a thread before its newest one; `at`: when it was stored, as text in UTC."""

    checkpoint_id: str
    at: str
    message_count: int


class ThreadHistory:
    """Lives as long as its saver. It blocks whoever calls it, and serves one caller at a time."""

    def __init__(self, saver: BaseCheckpointSaver[Any], oldest_first: OldestFirst) -> None:
        """`saver` only reads; `oldest_first` is its own."""
        self._saver = saver
        self._oldest_first = oldest_first
        self._graph = build_graph(saver)

    def read(self, thread_id: str) -> Thread:
        """What `GraphRunner.read` gives. Raises SophosError THREAD_UNREADABLE, STORE_*."""
        try:
            snapshot = self._graph.get_state(config_of(thread_id))
            entering: Sequence[BaseMessage] = ()
            if enters(snapshot):
                entering = entering_messages(self._saver.get_tuple(snapshot.config))
            return thread_from(snapshot, entering)
        except SophosError:
            raise
        except Exception as error:
            raise unreadable_thread(error) from error

    def newest_readable(self, thread_id: str, checkpoint_ids: Iterable[str]) -> OlderState | None:
        """The first of these checkpoints that can be read; None if none can. Nothing is changed."""
        for checkpoint_id in checkpoint_ids:
            config = config_of(thread_id)
            config["configurable"] |= {"checkpoint_id": checkpoint_id, "checkpoint_ns": ""}
            try:
                snapshot = self._graph.get_state(config)
            except Exception:  # noqa: BLE001  # whatever is wrong with it, an older one may be sound
                continue
            if snapshot.created_at is not None:
                at = to_text(datetime.fromisoformat(snapshot.created_at))
                return OlderState(checkpoint_id, at, len(snapshot.values.get("messages", ())))
        return None

    def checkpoints(self, thread_id: str) -> Iterator[CheckpointRecord]:
        """The checkpoints that are stored now, oldest first.

        Raises SophosError THREAD_UNREADABLE, STORE_*, NOT_FOUND (deleted meanwhile)."""
        fold = _Fold(self._saver)
        stored = self._oldest_first(thread_id)
        while True:
            try:
                checkpoint = next(stored, None)
                if checkpoint is None:
                    return
                record = fold.add(checkpoint)
            except SophosError:
                raise
            except Exception as error:
                raise unreadable_thread(error) from error
            yield record


class _Fold:
    """How many messages there are, and the last of them, from checkpoint to checkpoint."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self._saver = saver
        self._latest_id: str | None = None
        self._writes: list[Any] = []
        self._ids: set[str] = set()
        self._last: LastMessage | None = None

    def add(self, stored: CheckpointTuple) -> CheckpointRecord:
        """The next checkpoint."""
        self._move_to(stored)
        checkpoint, metadata = stored.checkpoint, stored.metadata
        run_id = metadata.get("sophos_run_id")
        return CheckpointRecord(
            checkpoint_id=checkpoint["id"],
            created_at=to_text(datetime.fromisoformat(checkpoint["ts"])),
            step=int(metadata.get("step", -1)),
            source=str(metadata.get("source", "")),
            next=_next_nodes(checkpoint["channel_values"]),
            message_count=len(self._ids),
            last_message=self._last,
            run_id=None if run_id is None else str(run_id),
        )

    def _move_to(self, stored: CheckpointTuple) -> None:
        """A checkpoint's messages are its parent's and what the step between them wrote."""
        values = stored.checkpoint["channel_values"]
        parent = stored.parent_config
        if _MESSAGES in values:
            self._start_from(_channel(values[_MESSAGES]).get())
        elif parent is None:
            self._start_from(())
        elif parent["configurable"]["checkpoint_id"] == self._latest_id and _are_plain(self._writes):
            for write in self._writes:
                self._append(write)
        else:
            # The first checkpoint after another branch's, or after a write that is not an addition.
            self._start_from(self._read_anew(stored))
        self._latest_id = stored.checkpoint["id"]
        self._writes = [value for _, channel, value in stored.pending_writes or () if channel == _MESSAGES]

    def _start_from(self, messages: Sequence[BaseMessage]) -> None:
        self._ids.clear()
        self._last = None
        self._append(messages)

    def _append(self, messages: Sequence[BaseMessage]) -> None:
        """As `append_messages`: a message whose id is there takes its place."""
        newest: BaseMessage | None = None
        for message in messages:
            message_id = message.id or f"without id {len(self._ids)}"
            latest_id = str(newest.id) if newest is not None else self._last.id if self._last else None
            if message_id not in self._ids or message_id == latest_id:
                newest = message
            self._ids.add(message_id)
        if newest is not None:
            self._last = LastMessage.of(to_domain(newest))

    def _read_anew(self, stored: CheckpointTuple) -> Sequence[BaseMessage]:
        found = self._saver.get_delta_channel_history(config=stored.config, channels=[_MESSAGES])[_MESSAGES]
        channel = _channel(found.get("seed"))
        channel.replay_writes(found["writes"])
        messages: Sequence[BaseMessage] = channel.get()
        return messages


def _channel(value: Any) -> "DeltaChannel[Any]":
    """The messages' channel as of a stored value."""
    return DeltaChannel(append_messages, list).from_checkpoint(value)


def _are_plain(writes: Sequence[Any]) -> bool:
    return all(isinstance(write, list) for write in writes)


def _next_nodes(values: dict[str, Any]) -> tuple[str, ...]:
    """What LangGraph's history calls `next`, without making the tasks."""
    sent = [task.node for task in values.get(_SENT) or () if isinstance(task, Send)]
    entering = [START] if START in values else []
    return (*sent, *entering, *(name.removeprefix(_TO_NODE) for name in values if name.startswith(_TO_NODE)))
