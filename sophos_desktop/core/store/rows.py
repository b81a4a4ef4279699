"""Turns rows into the domain's types.

Invariant: the only place that knows which column becomes which field.
"""

import json
from collections.abc import Mapping
from typing import Any

from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus, attachment_from_json
from sophos_desktop.core.domain.ports import Decision, ToolAttempt
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.domain.specs import ToolResult

Row = Mapping[str, Any]


def run_record(row: Row) -> RunRecord:
    """A row of `runs`."""
    return RunRecord(
        id=row["id"],
        conversation_id=row["conversation_id"],
        kind=RunKind(row["kind"]),
        status=RunStatus(row["status"]),
        error_code=row["error_code"],
        error_message=row["error_message"],
        engine=row["engine"],
        model=row["model"],
        prompt_sha256=row["prompt_sha256"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        unfinished=bool(row["unfinished"]),
        owner=row["owner"],
        input_text=row["input_text"],
        input_message_id=row["input_message_id"],
    )


def conversation(row: Row, last_run: RunRecord | None) -> Conversation:
    """A row of `conversations` with its latest run."""
    return Conversation(
        id=row["id"],
        title=row["title"],
        status=ConversationStatus(row["status"]),
        pinned=bool(row["pinned"]),
        model=row["model"],
        message_count=row["message_count"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        draft=row["draft"],
        last_run=last_run,
        metadata=json.loads(row["metadata"]),
    )


def tool_attempt(row: Row) -> ToolAttempt:
    """A row of `tool_attempts`."""
    return ToolAttempt(
        tool_call_id=row["tool_call_id"],
        attempt=row["attempt"],
        run_id=row["run_id"],
        server=row["server"],
        tool=row["tool"],
        args=json.loads(row["args"]),
        state="finished" if row["state"] == "finished" else "started",
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        is_error=bool(row["is_error"]),
        result=tool_result_from_text(row["result"]) if row["result"] is not None else None,
    )


def decision(row: Row) -> Decision:
    """A row of `decisions`."""
    return Decision(
        tool_call_id=row["tool_call_id"],
        attempt=row["attempt"],
        why=row["why"],
        decision=row["decision"],
        args=json.loads(row["args"]) if row["args"] is not None else None,
        reason=row["reason"],
        result=row["result"],
        fingerprint=row["fingerprint"],
        decided_at=row["decided_at"],
    )


def tool_result_to_text(result: ToolResult) -> str:
    """A result as JSON text, without the bytes of its attachment; lone surrogates survive as escapes."""
    value = {
        "text": result.text,
        "is_error": result.is_error,
        "content": list(result.content),
        "lost": result.lost,
        "structured": result.structured,
        "meta": result.meta,
        "attachment": result.attachment and result.attachment.to_json(),
    }
    return json.dumps(value)


def tool_result_from_text(text: str) -> ToolResult:
    """What `tool_result_to_text` wrote, in this version or an earlier one."""
    value = json.loads(text)
    attachment = value.get("attachment")
    return ToolResult(
        text=value["text"],
        is_error=value["is_error"],
        content=tuple(value["content"]),
        lost=value.get("lost", False),
        structured=value.get("structured"),
        meta=value.get("meta"),
        attachment=attachment_from_json(attachment) if attachment else None,
    )
