"""Folds messages and events into the items that the transcript shows.

Invariant: pure, no Qt. An item that did not change stays the same object. A message that is stored replaces
what its deltas had folded; what is known of it besides (figures, durations) is put in whenever it comes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from sophos_desktop.core.domain.conversation import AttachmentRef, Message, MessageState, Role, ToolCall
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import (
    ModelCallFinished,
    RunEvent,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
    ToolDecided,
)
from sophos_desktop.core.domain.run import LeftFailure
from sophos_desktop.shell.chat.item_kinds import (
    ERROR_KEY,
    NOT_RUN,
    PENDING_KEY,
    AnswerItem,
    ErrorItem,
    Figures,
    Item,
    NoticeItem,
    ResultImage,
    ToolItem,
    UserItem,
)
from sophos_desktop.shell.chat.notice_places import (
    PlacedFailure,
    failure_line,
    offer_the_rest,
    stored_failure,
    with_lines,
)
from sophos_desktop.shell.chat.run_facts import RunFacts, message_of


class TranscriptItems:
    """The items of one conversation, in the order they are read."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """Nothing yet; `now` gives seconds that only grow."""
        self._now = now
        self._items: dict[str, Item] = {}
        self._error: ErrorItem | None = None
        self._failures: list[PlacedFailure] = []
        self._left: list[PlacedFailure] = []  # seen here, and not read from the store since
        self._continued: str | None = None  # the answer that can be continued
        self._is_over = False  # the last run ended with its answer
        self._end_cut: NoticeItem | None = None
        self._thinking_since: dict[str, float] = {}
        self._asked: dict[str, str] = {}
        self._decided: dict[str, str] = {}
        self._whole: dict[str, tuple[str, tuple[ResultImage, ...]]] = {}
        self.facts = RunFacts()

    @property
    def items(self) -> list[Item]:
        """All items, notices at the places where they came."""
        notices, failures = self.facts.notices, [*self._failures, *self._left]
        found = list(self._items.values())
        if notices or failures:
            found = with_lines(self._items, notices, failures)
        if self._is_over and not self._asked:
            self._end_cut = offer_the_rest(found, self._end_cut)
        return [*found, self._error] if self._error is not None else found

    # The conversation as it is stored.

    def clear(self) -> None:
        """Another conversation."""
        self.facts.clear()
        self._items.clear()
        self._thinking_since.clear()
        self._asked.clear()
        self._decided.clear()
        self._whole.clear()
        self._failures.clear()
        self._left.clear()
        self._error = self._continued = self._end_cut = None
        self._is_over = False

    def reset(self, messages: Iterable[Message]) -> None:
        """Take the stored messages; items that say the same stay the same objects."""
        before, self._items = self._items, {}
        for message in messages:
            self.store(message)
        for key, status in self._decided.items():
            item = self._items.get(key)
            if isinstance(item, ToolItem) and item.status is None:
                self._items[key] = replace(item, status=status)
        for key, item in self._items.items():
            if before.get(key) == item:
                self._items[key] = before[key]

    def store(self, message: Message) -> None:
        """A message is in the thread."""
        if message.role is Role.USER:
            self._items.pop(PENDING_KEY, None)
            self._items[message.id] = UserItem(message.id, message.text, message.attachments)
        elif message.role is Role.ASSISTANT:
            self._store_answer(message)
            if message.state is MessageState.COMPLETE:
                self._drop_halves(message.id)
        elif message.tool_call_id is not None:
            self._store_result(message, message.tool_call_id)

    def _store_answer(self, message: Message) -> None:
        thinking = message.thinking or ""
        if message.text or thinking or not message.tool_calls:
            self._items[message.id] = AnswerItem(
                message.id,
                message.text,
                thinking,
                message.state,
                asks=bool(message.tool_calls),
                at=message.at,
                model=message.model,
                run_id=message.run_id,
                figures=self._figures_of(message.id),
            )
        else:
            self._items.pop(message.id, None)
        for call in message.tool_calls:
            if call.id not in self._items:
                self._items[call.id] = self._tool_item(call, message.run_id)

    def _store_result(self, message: Message, call_id: str) -> None:
        whole_bytes = sum(kept.size_bytes for kept in message.attachments) or None
        result, images = self._whole.get(call_id, (message.text, ()))
        status = message.tool_status.value if message.tool_status else "ok"
        self._update_tool(call_id, status=status, result=result, whole_bytes=whole_bytes, images=images)
        if message.sent_args is not None:
            self._update_tool(call_id, arguments=_as_json(message.sent_args))

    def show_failures(self, failures: Iterable[LeftFailure]) -> None:
        """The runs that failed and were not resumed before the next message."""
        before = {failure.item.key: failure for failure in (*self._failures, *self._left)}
        read = [stored_failure(failure) for failure in failures]
        # A line that says the same stays the same object.
        self._failures = [
            replace(one, item=before[one.item.key].item)
            if one.item.key in before and before[one.item.key].item == one.item
            else one
            for one in read
        ]
        known = {failure.item.key for failure in read}
        self._left = [failure for failure in self._left if failure.item.key not in known]

    # The run as it goes on.

    def expect(self, text: str, attachments: Sequence[AttachmentRef] = ()) -> None:
        """Show what was just sent until its message is stored. Why the question before it has no answer stays
        as a line."""
        if self._error is not None and self.facts.latest_run is not None:
            line = failure_line(self.facts.latest_run, self._error.title, self._error.code)
            last = next(reversed(self._items), None)
            self._left.append(PlacedFailure(line, None if last is None else message_of(last)))
        self._items[PENDING_KEY] = UserItem(PENDING_KEY, text, attachments=tuple(attachments))

    def grow(self, message: Message) -> AnswerItem:
        """More of an answer arrived; `message` holds all of it. Gives its item."""
        thinking = message.thinking or ""
        if thinking and not message.text:
            self._thinking_since.setdefault(message.id, self._now())
        known = self._items.get(message.id)
        figures = known.figures if isinstance(known, AnswerItem) else Figures()
        if message.text and figures.thinking_ms is None:
            figures = self._figures_of(message.id)
        item = AnswerItem(message.id, message.text, thinking, live=True, figures=figures)
        self._items[message.id] = item
        return item

    def start_tool(self, event: ToolCallStarted, ago_seconds: float = 0.0) -> None:
        """A call left this machine `ago_seconds` ago."""
        call = ToolCall(event.tool_call_id, event.server, event.tool, event.args)
        known = self._items.get(call.id)
        run_id = known.run_id if isinstance(known, ToolItem) else None
        self._items[call.id] = replace(
            self._tool_item(call, run_id), status="running", running_since=self._now() - ago_seconds
        )

    def finish_tool(self, event: ToolCallFinished) -> None:
        """A call's result is recorded."""
        self._update_tool(event.tool_call_id, status=event.status, result=event.text)

    def take(self, told: RunEvent) -> None:
        """What an event tells besides messages and calls."""
        self.facts.take(told)
        if isinstance(told.event, RunStarted):
            self.facts.latest_run = told.run_id
        if isinstance(told.event, ModelCallFinished):
            self._show_facts(told.event.message_id)
        elif isinstance(told.event, ToolCallFinished | ToolDecided):
            self._show_facts(told.event.tool_call_id)

    def show_facts(self) -> None:
        """More is known of answers and calls."""
        self._show_facts(*self._items)

    def _show_facts(self, *keys: str) -> None:
        for key in keys:
            item = self._items.get(key)
            if isinstance(item, AnswerItem):
                figures = self.facts.figures(key)
                if figures != Figures() and figures != item.figures:
                    self._items[key] = replace(item, figures=figures)
            elif isinstance(item, ToolItem):
                duration_ms = item.duration_ms
                if duration_ms is None:
                    duration_ms = self.facts.duration_ms(key)
                is_edited = self.facts.is_edited(key)
                if (duration_ms, is_edited) != (item.duration_ms, item.is_edited):
                    self._items[key] = replace(item, duration_ms=duration_ms, is_edited=is_edited)

    def has_run(self, run_id: str) -> bool:
        """True if an answer or a call is of this run."""
        known = self._items.values()
        return any(isinstance(item, AnswerItem | ToolItem) and item.run_id == run_id for item in known)

    def show_whole(self, call_id: str, result: str, images: tuple[ResultImage, ...]) -> None:
        """All of a result, of which the thread holds the beginning."""
        self._whole[call_id] = (result, images)
        if call_id in self._items:
            self._update_tool(call_id, result=result, images=images)

    def ask(self, questions: Mapping[str, str]) -> None:
        """The calls that wait for somebody, each with why (`approval`, `uncertain`). One that is not among
        the stored messages gets an item at the end: it has to be asked all the same."""
        for key in self._asked.keys() - questions.keys():
            item = self._items.get(key)
            if isinstance(item, ToolItem) and item.is_asked:
                self._items[key] = replace(item, status=None)
        self._asked = dict(questions)
        for key, why in questions.items():
            self._decided.pop(key, None)
            self._update_tool(key, status="uncertain" if why == "uncertain" else "asked")

    def decide(self, key: str, status: str) -> None:
        """What was decided about a call; it says so until the call goes on."""
        self._asked.pop(key, None)
        self._decided[key] = status
        item = self._items.get(key)
        if isinstance(item, ToolItem) and item.is_asked:
            self._update_tool(key, status=status)

    def know(self, statuses: Mapping[str, str], never_sent: Iterable[str] = ()) -> None:
        """What the journal says of calls without a result that nobody is asked about, while nothing goes on;
        it holds until they go on. `never_sent`: those that it knows nothing of."""
        for key, status in (*dict.fromkeys(never_sent, NOT_RUN).items(), *statuses.items()):
            item = self._items.get(key)
            if isinstance(item, ToolItem) and (item.status is None or item.status == self._decided.get(key)):
                self._decided[key] = status
                self._items[key] = replace(item, status=status)

    def end_with(self, error: SophosError | None, *, can_continue: bool, run_id: str | None = None) -> None:
        """How the last run, `run_id`, ended; `can_continue`: a resume would go on."""
        self._let_go()
        self.facts.latest_run = run_id
        self._is_over = error is None and not can_continue
        if error is not None:
            self._error = ErrorItem(ERROR_KEY, error.title, error.remedy, str(error.code), can_continue)
        last = next(reversed(self._items.values()), None)
        if can_continue and isinstance(last, AnswerItem) and last.state is MessageState.STOPPED:
            self._continued = last.key
            self._items[last.key] = replace(last, can_continue=True)

    def _let_go(self) -> None:
        item = self._items.get(self._continued or "")
        if isinstance(item, AnswerItem):
            self._items[item.key] = replace(item, can_continue=False)
        self._error = self._continued = None
        self._is_over = False

    @property
    def has_half_answer(self) -> bool:
        """The last answer did not arrive as a whole."""
        last = next(reversed(self._items.values()), None)
        return isinstance(last, AnswerItem) and last.state is not MessageState.COMPLETE

    @property
    def offers_to_go_on(self) -> bool:
        """The end of the conversation has a button that resumes."""
        return self._continued is not None or (self._error is not None and self._error.can_continue)

    def go_on(self) -> None:
        """The run goes on. What arrived of its last answer stays until the whole answer is stored: it is
        asked for anew (DURABILITY.md, rule 11)."""
        self._let_go()
        self.ask({})
        for key in [key for key, status in self._decided.items() if status == NOT_RUN]:
            del self._decided[key]
            item = self._items.get(key)
            if isinstance(item, ToolItem) and item.status == NOT_RUN:
                self._items[key] = replace(item, status=None)

    def _drop_halves(self, whole: str) -> None:
        """An answer is stored: what had arrived of it goes. What stands behind it is of a later one."""
        halves: list[str] = []
        is_reached = False
        for key in reversed(self._items):  # what is stored is near the end, however long the conversation is
            if message_of(key) == whole:
                is_reached = True
                halves.clear()
            elif is_reached:
                item = self._items[key]
                if isinstance(item, UserItem) or (isinstance(item, AnswerItem) and item.is_stored):
                    break  # a stored answer has dropped what was left before it
                if isinstance(item, AnswerItem) and item.state is not MessageState.COMPLETE:
                    halves.append(key)
        for key in halves:
            del self._items[key]

    def settle(self) -> None:
        """The run is over: nothing grows any more."""
        for key, item in self._items.items():
            if isinstance(item, AnswerItem) and item.live:
                self._items[key] = replace(item, live=False, state=MessageState.INCOMPLETE)
            elif isinstance(item, ToolItem) and item.status == "running":
                self._items[key] = replace(item, status="interrupted", running_since=None)

    def count_user_text(self, text: str) -> int:
        """How many stored messages of the user say `text`."""
        return sum(
            isinstance(item, UserItem) and item.key != PENDING_KEY and item.text.strip() == text.strip()
            for item in self._items.values()
        )

    # One item.

    def _figures_of(self, message_id: str) -> Figures:
        """As told; until then the thinking as it was seen here."""
        told = self.facts.figures(message_id)
        if told.thinking_ms is None and message_id in self._thinking_since:
            seen_ms = round((self._now() - self._thinking_since[message_id]) * 1_000)
            return replace(told, thinking_ms=seen_ms)
        return told

    def _tool_item(self, call: ToolCall, run_id: str | None) -> ToolItem:
        return ToolItem(
            call.id,
            call.server,
            call.tool,
            _as_json(call.args),
            duration_ms=self.facts.duration_ms(call.id),
            run_id=run_id,
            is_edited=self.facts.is_edited(call.id),
        )

    def _update_tool(self, key: str, **changes: Any) -> None:
        item = self._items.get(key)
        if not isinstance(item, ToolItem):
            item = ToolItem(key, "", "tool", "")
        if "status" in changes:
            changes["running_since"] = None
            changes["duration_ms"] = self.facts.duration_ms(key)
        self._items[key] = replace(item, **changes)


def _as_json(arguments: Mapping[str, Any]) -> str:
    """The arguments as one line of JSON."""
    return json.dumps(dict(arguments), ensure_ascii=False, default=str)
