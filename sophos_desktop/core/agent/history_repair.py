"""Makes of any thread a history that engines accept; the thread itself is never changed.

Invariant: in what it gives, every call has an id of its own and is followed at once by exactly one result;
no result stands elsewhere, and every message is a user's, an assistant's or a tool's. A thread of our own
comes out as it is. Whatever differs is counted, so that it can be said.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    ToolCall,
    ToolMessage,
)

from sophos_desktop.core.agent.messages import KEY, call_ids, text_of

NO_RESULT = (
    "The result of this call is not known: whether it took effect is unknown. Check before you repeat it."
)
UNNAMED_TOOL = "unknown_tool"
_NOTE = "note"
_ASSISTANT_ROLES = frozenset({"assistant", "ai", "model"})
_USER_ROLES = frozenset({"user", "human"})


@dataclass(frozen=True, slots=True)
class Repairs:
    """What differs from the thread, each as a number of messages or calls."""

    unanswered: int = 0
    without_call: int = 0
    repeated: int = 0
    moved: int = 0
    renamed: int = 0
    noted: int = 0
    left_out: int = 0

    def notice(self) -> str:
        """What was repaired, as a sentence; empty if nothing."""
        said = [
            words.format(_count(number, *what), "was" if number == 1 else "were")
            for number, what, words in (
                (self.unanswered, _CALLS, "{} without a result {} answered with “outcome unknown”"),
                (self.without_call, _RESULTS, "{} without a call {} given one"),
                (self.repeated, _RESULTS, "{} for calls that had one already {} left out"),
                (self.moved, _RESULTS, "{} {} put after their calls"),
                (self.renamed, _CALLS, "{} with an empty or doubled id {} given another"),
                (self.noted, _MESSAGES, "{} of other kinds {} passed on as notes"),
                (self.left_out, _MESSAGES, "{} of other kinds {} left out"),
            )
            if number
        ]
        if not said:
            return ""
        return f"The history was repaired for the model: {'; '.join(said)}. The conversation is unchanged"


_CALLS = ("tool call", "tool calls")
_RESULTS = ("tool result", "tool results")
_MESSAGES = ("message", "messages")


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


@dataclass(frozen=True, slots=True)
class Repaired:
    """A history that engines accept, and how it differs from the thread."""

    messages: tuple[BaseMessage, ...]
    repairs: Repairs


def repair_history(history: Sequence[BaseMessage]) -> Repaired:
    """The history for an engine. Messages that need no repair are those of `history` themselves."""
    return _Repair(history).made()


def is_note(message: BaseMessage) -> bool:
    """True for a user's message that no user wrote: it begins no turn."""
    own = message.additional_kwargs.get(KEY)
    return isinstance(own, dict) and own.get(_NOTE) is True


@dataclass(eq=False, slots=True)
class _Call:
    """A call, where it stands, and its result once that is found. `id`: as the tools node knows it."""

    message: int
    id: str
    written_id: str
    result: int | None = None


class _Repair:
    """One history on its way: kinds first, then which result belongs to which call, then the order."""

    def __init__(self, history: Sequence[BaseMessage]) -> None:
        self._repairs = Repairs()
        self._messages = [known for message in history if (known := self._of_known_kind(message)) is not None]
        self._calls: dict[int, list[_Call]] = {}
        self._open: dict[str, list[_Call]] = {}
        self._stray: list[int] = []
        self._used_ids: set[str] = set()

    def made(self) -> Repaired:
        self._join_results_to_calls()
        self._join_early_results()
        strays, repeated = self._strays()
        self._count(repeated=repeated, without_call=len(strays))
        made: list[BaseMessage] = []
        for place, message in enumerate(self._messages):
            if isinstance(message, AIMessage) and message.tool_calls:
                made += self._turned(place, message)
            elif not isinstance(message, ToolMessage):
                made.append(message)
            elif place in strays:
                made += self._with_call(place, message)
        return Repaired(tuple(made), self._repairs)

    def _count(self, **more: int) -> None:
        known = self._repairs
        self._repairs = replace(known, **{name: getattr(known, name) + n for name, n in more.items()})

    # Kinds

    def _of_known_kind(self, message: BaseMessage) -> BaseMessage | None:
        if isinstance(message, AIMessage | ToolMessage):
            return message
        if isinstance(message, HumanMessage):
            return message if text_of(message) or not message.content else self._note(message)
        if isinstance(message, RemoveMessage):
            self._count(left_out=1)
            return None
        if isinstance(message, FunctionMessage):
            # The protocol before tool calls had ids: its result belongs to whatever was asked last.
            return ToolMessage(text_of(message), tool_call_id="", name=message.name)
        if isinstance(message, ChatMessage) and message.role.lower() in _ASSISTANT_ROLES:
            return AIMessage(text_of(message))
        if isinstance(message, ChatMessage) and message.role.lower() in _USER_ROLES:
            return HumanMessage(text_of(message))
        return self._note(message)

    def _note(self, message: BaseMessage) -> BaseMessage | None:
        """A message of another kind, or without text; never with the authority of the system prompt."""
        text = text_of(message)
        if not text and not message.content:
            self._count(left_out=1)
            return None
        self._count(noted=1)
        kind = message.role if isinstance(message, ChatMessage) else message.type
        content = f"[A note of the kind “{kind}”] {text}" if text else "[What is here is no text]"
        if isinstance(message, HumanMessage):
            return HumanMessage(content)
        return HumanMessage(content, additional_kwargs={KEY: {_NOTE: True}})

    # Which result belongs to which call

    def _join_results_to_calls(self) -> None:
        """A result answers the nearest call before it that has its id and no result yet."""
        latest: list[_Call] = []
        for place, message in enumerate(self._messages):
            if isinstance(message, AIMessage) and message.tool_calls:
                latest = [
                    _Call(place, call_id, call["id"] or "")
                    for call, call_id in zip(message.tool_calls, call_ids(message), strict=True)
                ]
                self._calls[place] = latest
                for call in reversed(latest):
                    for call_id in {call.id, call.written_id}:
                        self._open.setdefault(call_id, []).append(call)
            elif isinstance(message, ToolMessage):
                answered = self._open_call(message.tool_call_id or "", latest)
                if answered is None:
                    self._stray.append(place)
                else:
                    self._join(answered, place)

    def _join(self, call: _Call, place: int) -> None:
        call.result = place
        for call_id in {call.id, call.written_id}:
            self._open[call_id].remove(call)

    def _open_call(self, call_id: str, latest: Sequence[_Call]) -> _Call | None:
        waiting = self._open.get(call_id)
        if waiting:
            return waiting[-1]
        # A result that names no call belongs to those that were asked for last.
        return None if call_id else next((call for call in latest if call.result is None), None)

    def _join_early_results(self) -> None:
        """A result may stand before its call, if nothing better was found for either."""
        left = []
        for place in self._stray:
            message = self._messages[place]
            assert isinstance(message, ToolMessage)
            waiting = self._open.get(message.tool_call_id or "")
            later = next((call for call in reversed(waiting or ()) if call.message > place), None)
            if waiting is None or later is None:
                left.append(place)
            else:
                self._join(later, place)
        self._stray = left

    def _strays(self) -> tuple[set[int], int]:
        """The results that no call asked for, and how many others are second answers to one that did."""
        asked = {i for calls in self._calls.values() for call in calls for i in (call.id, call.written_id)}
        kept: dict[str, int] = {}
        for place in self._stray:
            message = self._messages[place]
            assert isinstance(message, ToolMessage)
            if not message.tool_call_id or message.tool_call_id not in asked:
                kept.setdefault(message.tool_call_id or f"\0{place}", place)
        return set(kept.values()), len(self._stray) - len(kept)

    # The order

    def _turned(self, place: int, message: AIMessage) -> list[BaseMessage]:
        """An answer with calls, and right after it their results in the order of the calls."""
        calls = self._calls[place]
        results = {call.result for call in calls if call.result is not None}
        following = self._results_right_after(place)
        self._count(moved=len(results - following), unanswered=sum(call.result is None for call in calls))
        ids = [self._free_id(call.id) for call in calls]
        self._count(renamed=sum(call.written_id != call_id for call, call_id in zip(calls, ids, strict=True)))
        asked_for = [
            _sendable(asked, call_id) for asked, call_id in zip(message.tool_calls, ids, strict=True)
        ]
        is_same = asked_for == message.tool_calls
        made: list[BaseMessage] = [
            message if is_same else message.model_copy(update={"tool_calls": asked_for})
        ]
        for call, call_id, asked in zip(calls, ids, asked_for, strict=True):
            made.append(self._result(call, call_id, asked["name"]))
        return made

    def _results_right_after(self, place: int) -> set[int]:
        end = place + 1
        while end < len(self._messages) and isinstance(self._messages[end], ToolMessage):
            end += 1
        return set(range(place + 1, end))

    def _result(self, call: _Call, call_id: str, name: str) -> BaseMessage:
        if call.result is None:
            return ToolMessage(NO_RESULT, tool_call_id=call_id, name=name, status="error")
        result = self._messages[call.result]
        assert isinstance(result, ToolMessage)
        return result if result.tool_call_id == call_id else _with_call_id(result, call_id)

    def _with_call(self, place: int, result: ToolMessage) -> list[BaseMessage]:
        """A result that no call asked for, behind one that stands in for it: so it stays a tool's word."""
        call_id = self._free_id(result.tool_call_id or f"result-{place}")
        asked = AIMessage("", tool_calls=[ToolCall(id=call_id, name=result.name or UNNAMED_TOOL, args={})])
        return [asked, result if result.tool_call_id == call_id else _with_call_id(result, call_id)]

    def _free_id(self, wanted: str) -> str:
        """`wanted` if no call before has it; else another one, the same each time."""
        chosen, number = wanted, 1
        while chosen in self._used_ids:
            number += 1
            chosen = f"{wanted}~{number}"
        self._used_ids.add(chosen)
        return chosen


def _sendable(call: ToolCall, call_id: str) -> ToolCall:
    """The call with its id, a name, and nothing in its arguments that JSON does not have."""
    name, args = call["name"] or UNNAMED_TOOL, call["args"]
    try:
        json.dumps(args)
    except (TypeError, ValueError):
        args = json.loads(json.dumps(args, default=str, skipkeys=True))
    return {**call, "id": call_id, "name": name, "args": args}


def _with_call_id(result: ToolMessage, call_id: str) -> ToolMessage:
    return result.model_copy(update={"tool_call_id": call_id})
