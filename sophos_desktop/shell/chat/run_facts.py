"""What the events of runs tell besides the messages: figures, durations, notices and where they belong.

Invariant: pure, no Qt; an event that is taken twice changes nothing. The events of a run come in their order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.core.domain.events import (
    MessageStored,
    ModelCallFinished,
    Notice,
    Recovered,
    RunEvent,
    RunStarted,
    ToolCallFinished,
    ToolDecided,
    event_from_json,
)
from sophos_desktop.shell.chat.item_kinds import Figures, NoticeItem, NoticeTone
from sophos_desktop.shell.chat.recovered_words import is_said_by_banner, recovered_words

_TONES = {"ANSWER_CUT": NoticeTone.CUT}
_NO_FIGURES = Figures()


@dataclass(slots=True)
class PlacedNotice:
    """A notice, the message it came after, and the one that came next (None: not known)."""

    item: NoticeItem
    after: str | None
    before: str | None = None


class RunFacts:
    """Those of one conversation, as far as they were told."""

    def __init__(self) -> None:
        """Nothing told yet."""
        self._figures: dict[str, Figures] = {}
        self._durations: dict[str, int] = {}
        self._notices: dict[str, PlacedNotice] = {}
        self._recovered: dict[str, str] = {}  # by a notice's key: what recovery said
        self._begun: dict[str, int] = {}  # by run: the number at which its last sitting began
        self._edited: set[str] = set()  # calls
        self.latest_run: str | None = None
        self._last: dict[str, str] = {}  # by run: the message that was told of last
        self._whole: set[str] = set()

    def clear(self) -> None:
        """Another conversation."""
        for known in (
            self._figures,
            self._durations,
            self._notices,
            self._recovered,
            self._begun,
            self._last,
        ):
            known.clear()
        self._whole.clear()
        self._edited.clear()
        self.latest_run = None

    def figures(self, message_id: str) -> Figures:
        """Those of a message."""
        return self._figures.get(message_id, _NO_FIGURES)

    def duration_ms(self, call_id: str) -> int | None:
        """How long a call took."""
        return self._durations.get(call_id)

    def is_edited(self, call_id: str) -> bool:
        """The user had it sent with other arguments."""
        return call_id in self._edited

    @property
    def notices(self) -> list[PlacedNotice]:
        """All notices, those of a run in their order; what recovery said is in the past once its run went on
        or is not `latest_run` any more. Until then the resume banner says what it says of an interruption."""
        shown = dict(self._notices)
        for key, what in self._recovered.items():
            run_id, _, number = key.rpartition("/")
            is_past = int(number) < self._begun.get(run_id, 0) or self.latest_run not in (None, run_id)
            if not is_past and is_said_by_banner(what):
                del shown[key]
                continue
            words, placed = recovered_words(what, is_past=is_past), self._notices[key]
            if words != placed.item.text:
                placed.item = replace(placed.item, text=words)
        return list(shown.values())

    def is_known(self, run_id: str) -> bool:
        """True if the run's events were told from the first on."""
        return run_id in self._whole

    def read(self, run_id: str, events: Iterable[Mapping[str, Any]]) -> None:
        """All stored events of a run; those of a newer version are passed over."""
        self._last.pop(run_id, None)
        for value in events:
            try:
                self.take(event_from_json(value))
            except KeyError:
                continue
        self._whole.add(run_id)

    def take(self, told: RunEvent) -> None:
        """One event."""
        event, run_id = told.event, told.run_id
        if told.seq == 1:
            self._whole.add(run_id)
        if isinstance(event, ModelCallFinished):
            self._figures[event.message_id] = _figures(event)
            self._tell_next(run_id, event.message_id)
        elif isinstance(event, ToolCallFinished) and event.duration_ms is not None:
            self._durations[event.tool_call_id] = event.duration_ms
        elif isinstance(event, ToolDecided) and event.edited:
            self._edited.add(event.tool_call_id)
        elif isinstance(event, RunStarted):
            self._begun[run_id] = max(told.seq, self._begun.get(run_id, 0))
        elif isinstance(event, MessageStored):
            self._tell_next(run_id, owner_of(event.message))
        elif isinstance(event, Notice):
            self._note(told, event.text, _TONES.get(event.code, NoticeTone.PLAIN))
        elif isinstance(event, Recovered):
            self._recovered[f"{run_id}/{told.seq}"] = event.what
            self._note(told, recovered_words(event.what, is_past=False), NoticeTone.RECOVERED)

    def _note(self, told: RunEvent, text: str, tone: NoticeTone) -> None:
        key = f"{told.run_id}/{told.seq}"
        if key not in self._notices:
            self._notices[key] = PlacedNotice(NoticeItem(key, text, tone), self._last.get(told.run_id))

    def _tell_next(self, run_id: str, message_id: str) -> None:
        if run_id not in self._last:
            for key, placed in self._notices.items():
                if key.startswith(f"{run_id}/") and placed.after is None and placed.before is None:
                    placed.before = message_id
        self._last[run_id] = message_id


def owner_of(message: Message) -> str:
    """The message that a stored one belongs to: a result belongs to the message that asked for it."""
    call_id = message.tool_call_id
    return message.id if call_id is None else message_of(call_id)


def message_of(key: str) -> str:
    """The message's id in the key of an item: a call's is `<message id>:<index>`."""
    return key.rpartition(":")[0] or key


def _figures(event: ModelCallFinished) -> Figures:
    spent_ms = (event.thinking_ms or 0) + (event.answer_ms or 0)
    speed = None
    if event.output_tokens and spent_ms:
        speed = event.output_tokens * 1_000 / spent_ms
    return Figures(event.thinking_ms or None, event.output_tokens, speed)
