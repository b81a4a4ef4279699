"""Events: one fact each about a run; the contract of every front end.

Invariant: an event is frozen, tagged by `type` and numbered by its envelope `(run_id, seq)`. Fields may be
added to a type, never renamed or dropped. `STORED` types last; deltas (`text`, `thinking`) do not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from sophos_desktop.core.domain.conversation import Message, message_from_json

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A sitting of the run begins."""

    type: ClassVar[str] = "run_started"
    conversation_id: str
    kind: str
    engine: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class StepEvent:
    """A super-step began or its checkpoint is written."""

    type: ClassVar[str] = "step"
    step: int
    node: str
    phase: Literal["started", "finished"]
    duration_ms: int | None = None
    checkpoint_id: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCallFinished:
    """One call of the model ended; times in milliseconds. `context_tokens`: how large its context was, None
    in events of older versions."""

    type: ClassVar[str] = "model_call"
    step: int
    message_id: str
    load_ms: int | None
    prompt_ms: int | None
    thinking_ms: int | None
    answer_ms: int | None
    prompt_tokens: int | None
    output_tokens: int | None
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking of a message."""

    type: ClassVar[str] = "thinking"
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of a message."""

    type: ClassVar[str] = "text"
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A call is about to leave this machine: its attempt is in the journal."""

    type: ClassVar[str] = "tool_call"
    tool_call_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    attempt: int


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """The call's result is recorded. `recorded`: taken from the journal, not called."""

    type: ClassVar[str] = "tool_result"
    tool_call_id: str
    status: str
    text: str
    duration_ms: int | None
    recorded: bool


@dataclass(frozen=True, slots=True)
class ToolNoted:
    """What a server said while a call was under way (`ToolNote`)."""

    type: ClassVar[str] = "tool_note"
    tool_call_id: str
    server: str
    kind: Literal["progress", "log", "declined"]
    text: str
    level: str | None = None
    progress: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class ApprovalNeeded:
    """The run waits for a decision on a call. `reason`: why it is asked; `scope`: what "always" would hold
    for, empty for everything."""

    type: ClassVar[str] = "approval_needed"
    tool_call_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    why: Literal["approval", "uncertain"]
    asked_at: str
    reason: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class ToolDecided:
    """The user decided on a call, at `decided_at`. `edited`: with other arguments than were asked about;
    `always`: also on later calls of the tool; `attempt`: how many had been made when it was asked;
    `left_open`: how many questions of the run are open after it.

    One that is taken while a run waits is stored after its `end`, before the next `run_started`."""

    type: ClassVar[str] = "tool_decided"
    tool_call_id: str
    decision: str
    why: Literal["approval", "uncertain"]
    decided_at: str
    edited: bool = False
    reason: str | None = None
    always: bool = False
    attempt: int = 0
    left_open: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; the run goes on."""

    type: ClassVar[str] = "notice"
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery found out about the run."""

    type: ClassVar[str] = "recovered"
    what: str


@dataclass(frozen=True, slots=True)
class MessageStored:
    """A message is in the thread: a checkpoint holds it."""

    type: ClassVar[str] = "message"
    message: Message


@dataclass(frozen=True, slots=True)
class Usage:
    """What a sitting used."""

    prompt_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class SittingEnded:
    """The sitting is over and its outcome is recorded."""

    type: ClassVar[str] = "end"
    status: str
    error_code: str | None
    error_message: str | None
    resumable: bool
    usage: Usage


Event = (
    RunStarted
    | StepEvent
    | ModelCallFinished
    | ThinkingDelta
    | TextDelta
    | ToolCallStarted
    | ToolCallFinished
    | ToolNoted
    | ApprovalNeeded
    | ToolDecided
    | Notice
    | Recovered
    | MessageStored
    | SittingEnded
)

EVENT_TYPES: dict[str, type[Event]] = {
    kind.type: kind
    for kind in (
        RunStarted,
        StepEvent,
        ModelCallFinished,
        ThinkingDelta,
        TextDelta,
        ToolCallStarted,
        ToolCallFinished,
        ToolNoted,
        ApprovalNeeded,
        ToolDecided,
        Notice,
        Recovered,
        MessageStored,
        SittingEnded,
    )
}

DELTAS = (TextDelta, ThinkingDelta)


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event in its envelope. `seq` starts at 1; stored events leave gaps where deltas were."""

    run_id: str
    seq: int
    at: str
    event: Event

    def to_json(self) -> dict[str, Any]:
        """The contract's shape: the envelope and the fields of the event, flat."""
        return {
            "v": SCHEMA_VERSION,
            "run_id": self.run_id,
            "seq": self.seq,
            "at": self.at,
            "type": self.event.type,
            **event_fields(self.event),
        }


def event_fields(event: Event) -> dict[str, Any]:
    """The event's own fields as JSON values."""
    if isinstance(event, MessageStored):
        return {"message": event.message.to_json()}
    values = {item.name: getattr(event, item.name) for item in fields(event)}
    if isinstance(event, SittingEnded):
        values["usage"] = {item.name: getattr(event.usage, item.name) for item in fields(event.usage)}
    return values


def event_from_json(value: Mapping[str, Any]) -> RunEvent:
    """The event that `RunEvent.to_json` gave. Raises KeyError for a type that this version does not know.

    Fields of a newer version are passed over, so an older program can follow a newer one."""
    kind = EVENT_TYPES[value["type"]]
    if kind is MessageStored:
        event: Event = MessageStored(message_from_json(value["message"]))
    else:
        own = {item.name: value[item.name] for item in fields(kind) if item.name in value}
        if kind is SittingEnded:
            known = {item.name for item in fields(Usage)}
            own["usage"] = Usage(**{name: n for name, n in value["usage"].items() if name in known})
        if kind is ToolCallFinished:
            own["text"] = own.get("text") or ""
        event = kind(**own)
    return RunEvent(value["run_id"], value["seq"], value["at"], event)
