"""Conversations and their messages, as every front end shows them.

Invariant: nothing here knows how a conversation is stored or produced. `to_json` of each type is the
shape that CLI.md promises.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sophos_desktop.core.domain.run import RunRecord

TITLE_LENGTH = 50


class ConversationStatus(StrEnum):
    """The lifecycle of a conversation."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    ARCHIVED = "archived"


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class MessageState(StrEnum):
    """Whether all of a message arrived: `incomplete` after a cut, `stopped` by the user."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    STOPPED = "stopped"


class ToolStatus(StrEnum):
    """How a tool call ended. `interrupted`: its outcome is unknown."""

    OK = "ok"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    DENIED = "denied"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for. `id` is ours: `<message_id>:<index>`."""

    id: str
    server: str
    tool: str
    args: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"id": self.id, "server": self.server, "tool": self.tool, "args": dict(self.args)}


@dataclass(frozen=True, slots=True)
class AttachmentRef:
    """What is kept beside the thread, by its content. `sha256`: 64 hexadecimal digits; `name`: what a file of
    it may be called."""

    sha256: str
    name: str
    mime_type: str
    size_bytes: int

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "sha256": self.sha256,
            "name": self.name,
            "mime_type": self.mime_type,
            "size_bytes": self.size_bytes,
        }


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment with its bytes."""

    ref: AttachmentRef
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `sent_args` are those really sent; they ride on the result of a tool call. `attachments`:
    for a result that is more than `text`, the whole of it."""

    id: str
    role: Role
    text: str
    thinking: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_status: ToolStatus | None = None
    state: MessageState = MessageState.COMPLETE
    at: str | None = None
    model: str | None = None
    run_id: str | None = None
    sent_args: Mapping[str, Any] | None = None
    attachments: tuple[AttachmentRef, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "id": self.id,
            "role": self.role.value,
            "text": self.text,
            "thinking": self.thinking,
            "tool_calls": [call.to_json() for call in self.tool_calls],
            "tool_call_id": self.tool_call_id,
            "tool_status": self.tool_status.value if self.tool_status else None,
            "state": self.state.value,
            "at": self.at,
            "model": self.model,
            "run_id": self.run_id,
            "sent_args": None if self.sent_args is None else dict(self.sent_args),
            "attachments": [attachment.to_json() for attachment in self.attachments],
        }


@dataclass(frozen=True, slots=True)
class Conversation:
    """One entry of the list."""

    id: str
    title: str
    status: ConversationStatus
    pinned: bool
    model: str | None
    message_count: int
    created_at: str
    updated_at: str
    draft: str = ""
    last_run: RunRecord | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the user gave it."""
        tags = self.metadata.get("tags", ())
        return tuple(str(tag) for tag in tags) if isinstance(tags, list | tuple) else ()

    @property
    def active_run_id(self) -> str | None:
        """The run that is running or waiting, if any."""
        run = self.last_run
        return run.id if run is not None and run.status.is_active else None

    @property
    def resumable(self) -> bool:
        """True if work is left, and nobody does it or need be asked about it."""
        run = self.last_run
        if run is None:
            return False
        return run.decided or (not run.status.is_active and run.unfinished)

    @property
    def decided(self) -> bool:
        """True if its run waits though all that it asked is decided: a resume goes on with it."""
        return self.last_run is not None and self.last_run.decided

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        run = self.last_run
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status.value,
            "pinned": self.pinned,
            "model": self.model,
            "tags": list(self.tags),
            "message_count": self.message_count,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "resumable": self.resumable,
            "decided": self.decided,
            "active_run_id": self.active_run_id,
            "last_run": None
            if run is None
            else {
                "id": run.id,
                "kind": run.kind.value,
                "status": run.status.value,
                "error_code": run.error_code,
                "error_message": run.error_message,
                "finished_at": run.finished_at,
            },
        }


def message_from_json(value: Mapping[str, Any]) -> Message:
    """The message that `Message.to_json` gave; what an older version left out is empty."""
    status = value.get("tool_status")
    return Message(
        id=value["id"],
        role=Role(value["role"]),
        text=value.get("text") or "",
        thinking=value.get("thinking"),
        tool_calls=tuple(
            ToolCall(call["id"], call["server"], call["tool"], call["args"])
            for call in value.get("tool_calls") or ()
        ),
        tool_call_id=value.get("tool_call_id"),
        tool_status=ToolStatus(status) if status else None,
        state=MessageState(value.get("state") or MessageState.COMPLETE.value),
        at=value.get("at"),
        model=value.get("model"),
        run_id=value.get("run_id"),
        sent_args=value.get("sent_args"),
        attachments=tuple(attachment_from_json(kept) for kept in value.get("attachments") or ()),
    )


def attachment_from_json(value: Mapping[str, Any]) -> AttachmentRef:
    """The reference that `AttachmentRef.to_json` gave."""
    return AttachmentRef(
        sha256=str(value["sha256"]),
        name=str(value.get("name") or ""),
        mime_type=str(value["mime_type"]),
        size_bytes=int(value["size_bytes"]),
    )


def title_from(text: str) -> str:
    """The first line that is not blank, cut at 50 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "New chat")
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
