"""Makes LangChain's messages and reads them back as the domain's.

Invariant: what Sophos adds to a message lives under `additional_kwargs["sophos"]` and never reaches an
engine; every message has a UUIDv7, every call the id `<message_id>:<index>` (DURABILITY.md, rule 7).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.agent.state import ToolTask
from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Message,
    MessageState,
    Role,
    ToolStatus,
    attachment_from_json,
)
from sophos_desktop.core.domain.conversation import ToolCall as DomainToolCall
from sophos_desktop.core.domain.specs import ToolSpec
from sophos_desktop.foundation.ids import new_id

KEY = "sophos"
_Kind = TypeVar("_Kind", bound=StrEnum)


def user_message(
    message_id: str, text: str, at: str, run_id: str, attachments: Sequence[AttachmentRef] = ()
) -> HumanMessage:
    """What the user wrote. Of `attachments` it holds what names them, never their contents."""
    own: dict[str, Any] = {"at": at, "run_id": run_id}
    if attachments:
        own["attachments"] = [attachment.to_json() for attachment in attachments]
    return HumanMessage(text, id=message_id, additional_kwargs={KEY: own})


def partial_answer(message: Message) -> AIMessage:
    """An answer that did not end, for the thread (DURABILITY.md, rule 11)."""
    own = {"at": message.at, "run_id": message.run_id, "model": message.model, "state": message.state.value}
    if message.thinking:
        own["thinking"] = message.thinking
    return AIMessage(message.text, id=message.id, additional_kwargs={KEY: own})


def answer(
    message_id: str,
    text: str,
    thinking: str,
    calls: Sequence[CallPiece],
    tools: Mapping[str, ToolSpec],
    own: Mapping[str, Any],
) -> AIMessage:
    """A complete answer of the model. `tools` by model-facing name; `own`: at, run_id, model."""
    tool_calls = []
    named = []
    for index, call in enumerate(calls):
        spec = tools.get(call.name)
        tool_calls.append(
            ToolCall(id=f"{message_id}:{index}", name=call.name or "unnamed", args=call.args or {})
        )
        named.append(
            {
                "server": spec.server if spec else "",
                "tool": spec.tool if spec else call.name,
                "problem": call.problem,
            }
        )
    extra: dict[str, Any] = dict(own)
    if thinking:
        extra["thinking"] = thinking
    if named:
        extra["calls"] = named
    return AIMessage(text, id=message_id, tool_calls=tool_calls, additional_kwargs={KEY: extra})


def tool_answer(
    task: ToolTask,
    text: str,
    status: ToolStatus,
    args: Mapping[str, Any],
    at: str,
    run_id: str,
    attachment: AttachmentRef | None = None,
) -> ToolMessage:
    """The answer to a call; `args` are those really sent; `attachment` holds the whole of it."""
    own = {"at": at, "run_id": run_id, "tool_status": status.value, "args": dict(args)}
    if attachment is not None:
        own["attachment"] = attachment.to_json()
    return ToolMessage(
        text,
        id=new_id(),
        tool_call_id=task["id"],
        name=task["name"],
        status="success" if status is ToolStatus.OK else "error",
        additional_kwargs={KEY: own},
    )


def tool_tasks(message: AIMessage) -> list[ToolTask]:
    """The calls of an answer, ready to be sent to the tools node."""
    named = _own(message).get("calls")
    known = [about if isinstance(about, dict) else {} for about in named] if isinstance(named, list) else []
    tasks = []
    for index, (call, call_id) in enumerate(zip(message.tool_calls, call_ids(message), strict=True)):
        about = known[index] if index < len(known) else {}
        tasks.append(
            ToolTask(
                id=call_id,
                name=call["name"],
                args=dict(call["args"]),
                problem=about.get("problem"),
                server=about.get("server", ""),
                tool=about.get("tool", call["name"]),
            )
        )
    return tasks


def call_ids(message: AIMessage) -> list[str]:
    """The ids of an answer's calls; what another program left empty or gave twice gets one of ours."""
    ids: list[str] = []
    for index, call in enumerate(message.tool_calls):
        is_free = call["id"] and call["id"] not in ids
        ids.append(str(call["id"]) if is_free else f"{message.id}:{index}")
    return ids


def to_domain(message: BaseMessage) -> Message:
    """A message of the thread as every front end shows it, also one that another program wrote."""
    own = _own(message)
    sent_args = own.get("args")
    whole = attachment_of(message)
    return Message(
        id=str(message.id),
        role=_role(message),
        text=text_of(message),
        thinking=_text_or_none(own, "thinking"),
        tool_calls=tuple(
            DomainToolCall(task["id"], task["server"], task["tool"], task["args"])
            for task in (tool_tasks(message) if isinstance(message, AIMessage) else ())
        ),
        tool_call_id=message.tool_call_id if isinstance(message, ToolMessage) else None,
        tool_status=_member(ToolStatus, own.get("tool_status")),
        state=_member(MessageState, own.get("state")) or MessageState.COMPLETE,
        at=_text_or_none(own, "at"),
        model=_text_or_none(own, "model"),
        run_id=_text_or_none(own, "run_id"),
        sent_args=sent_args if isinstance(sent_args, dict) else None,
        attachments=attachments_of(message) if whole is None else (whole,),
    )


def for_engine(message: BaseMessage, text: str | None = None) -> BaseMessage:
    """A copy that holds nothing but what an engine needs; `text` stands in for a clipped text."""
    content = text_of(message) if text is None else text
    if isinstance(message, AIMessage):
        return AIMessage(content, tool_calls=message.tool_calls)
    if isinstance(message, ToolMessage):
        return ToolMessage(content, tool_call_id=message.tool_call_id, name=message.name)
    return HumanMessage(content)


def attachment_of(message: BaseMessage) -> AttachmentRef | None:
    """What holds the whole of a tool's result, if its text is not all of it."""
    return _reference(_own(message).get("attachment"))


def attachments_of(message: BaseMessage) -> tuple[AttachmentRef, ...]:
    """What the user attached to a message."""
    kept = _own(message).get("attachments")
    if not isinstance(message, HumanMessage) or not isinstance(kept, list):
        return ()
    return tuple(ref for ref in map(_reference, kept) if ref is not None)


def text_of(message: BaseMessage) -> str:
    """The text of a message, also where a foreign one has it in parts."""
    return str(message.text)


def _reference(value: object) -> AttachmentRef | None:
    try:
        return attachment_from_json(value) if isinstance(value, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


def _role(message: BaseMessage) -> Role:
    if isinstance(message, AIMessage):
        return Role.ASSISTANT
    return Role.TOOL if isinstance(message, ToolMessage) else Role.USER


def _own(message: BaseMessage) -> dict[str, Any]:
    own = message.additional_kwargs.get(KEY)
    return own if isinstance(own, dict) else {}


def _text_or_none(own: Mapping[str, Any], name: str) -> str | None:
    value = own.get(name)
    return value if isinstance(value, str) else None


def _member(kind: type[_Kind], value: object) -> _Kind | None:
    return next((member for member in kind if member.value == value), None)
