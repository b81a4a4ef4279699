"""Folds messages and events into the items that the transcript shows.

Invariant: pure, no Qt. An item is frozen: an item that did not change stays the same object, so the view
can tell by identity what to draw again. A message that is stored replaces what its deltas had folded.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sophos_desktop.core.domain.conversation import Message, MessageState, Role, ToolCall
from sophos_desktop.core.domain.events import ToolCallFinished, ToolCallStarted

PENDING_KEY = "pending"


@dataclass(frozen=True, slots=True)
class UserItem:
    """What the user wrote."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """What the model said. `live`: more may come."""

    key: str
    text: str
    thinking: str = ""
    state: MessageState = MessageState.COMPLETE
    live: bool = False


@dataclass(frozen=True, slots=True)
class ToolItem:
    """A tool call and what became of it. `status` is None before it ran, `running` while it does."""

    key: str
    server: str
    tool: str
    arguments: str
    status: str | None = None
    result: str = ""


Item = UserItem | AnswerItem | ToolItem


class TranscriptItems:
    """The items of one conversation, in the order they are read."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._items: dict[str, Item] = {}

    @property
    def items(self) -> list[Item]:
        """All items."""
        return list(self._items.values())

    def reset(self, messages: Iterable[Message]) -> None:
        """Take the stored messages; items that say the same stay the same objects."""
        before, self._items = self._items, {}
        for message in messages:
            self.store(message)
        for key, item in self._items.items():
            if before.get(key) == item:
                self._items[key] = before[key]

    def expect(self, text: str) -> None:
        """Show what was just sent until its message is stored."""
        self._items[PENDING_KEY] = UserItem(PENDING_KEY, text)

    def grow(self, message: Message) -> None:
        """More of an answer arrived; `message` holds all of it."""
        self._items[message.id] = AnswerItem(message.id, message.text, message.thinking or "", live=True)

    def store(self, message: Message) -> None:
        """A message is in the thread."""
        if message.role is Role.USER:
            self._items.pop(PENDING_KEY, None)
            self._items[message.id] = UserItem(message.id, message.text)
        elif message.role is Role.ASSISTANT:
            self._store_answer(message)
        elif message.tool_call_id is not None:
            status = message.tool_status.value if message.tool_status else "ok"
            self._update_tool(message.tool_call_id, status=status, result=message.text)

    def _store_answer(self, message: Message) -> None:
        thinking = message.thinking or ""
        if message.text or thinking or not message.tool_calls:
            self._items[message.id] = AnswerItem(message.id, message.text, thinking, message.state)
        else:
            self._items.pop(message.id, None)
        for call in message.tool_calls:
            if call.id not in self._items:
                self._items[call.id] = _tool_item(call)

    def start_tool(self, event: ToolCallStarted) -> None:
        """A call leaves this machine."""
        call = ToolCall(event.tool_call_id, event.server, event.tool, event.args)
        self._items[call.id] = replace(_tool_item(call), status="running")

    def finish_tool(self, event: ToolCallFinished) -> None:
        """A call's result is recorded."""
        self._update_tool(event.tool_call_id, status=event.status, result=event.text)

    def _update_tool(self, key: str, *, status: str, result: str) -> None:
        item = self._items.get(key)
        if not isinstance(item, ToolItem):
            item = ToolItem(key, "", "tool", "")
        self._items[key] = replace(item, status=status, result=result)

    def drop_partials(self) -> None:
        """The run goes on: what arrived of its last answer is asked for again (DURABILITY.md, rule 11)."""
        for key, item in reversed(tuple(self._items.items())):
            if isinstance(item, UserItem):
                return
            if isinstance(item, AnswerItem) and item.state is not MessageState.COMPLETE:
                del self._items[key]

    def count_user_text(self, text: str) -> int:
        """How many stored messages of the user say `text`."""
        return sum(
            isinstance(item, UserItem) and item.key != PENDING_KEY and item.text.strip() == text.strip()
            for item in self._items.values()
        )

    def settle(self) -> None:
        """The run is over: nothing grows any more."""
        for key, item in self._items.items():
            if isinstance(item, AnswerItem) and item.live:
                self._items[key] = replace(item, live=False, state=MessageState.INCOMPLETE)
            elif isinstance(item, ToolItem) and item.status == "running":
                self._items[key] = replace(item, status="interrupted")


def _tool_item(call: ToolCall) -> ToolItem:
    return ToolItem(call.id, call.server, call.tool, _short_arguments(call.args))


def _short_arguments(arguments: Mapping[str, Any]) -> str:
    """The arguments as one line of JSON."""
    return json.dumps(dict(arguments), ensure_ascii=False, default=str)
