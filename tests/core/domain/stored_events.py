"""Stored events as a trace gives them, a millisecond apart."""

from typing import Any

START = "2025-01-01T10:00:00.000Z"

Event = dict[str, Any]


def at(milliseconds: int) -> str:
    return f"2025-01-01T10:00:{milliseconds // 1000:02}.{milliseconds % 1000:03}Z"


def numbered(*events: Event) -> list[Event]:
    return [{"seq": seq, "at": at(seq), **event} for seq, event in enumerate(events, start=1)]


def step(number: int, node: str, phase: str, ms: int | None = None, **more: Any) -> Event:
    return {
        "type": "step",
        "step": number,
        "node": node,
        "phase": phase,
        "duration_ms": ms,
        "checkpoint_id": "c" if phase == "finished" else None,
        **more,
    }


def model_call(message_id: str = "m", **more: Any) -> Event:
    nothing = dict.fromkeys(
        ("load_ms", "prompt_ms", "thinking_ms", "answer_ms", "prompt_tokens", "output_tokens")
    )
    return {"type": "model_call", "message_id": message_id, "step": 1, **nothing, **more}


def message(message_id: str, role: str = "assistant", call: str | None = None) -> Event:
    said: Event = {"id": message_id, "role": role, "tool_call_id": call, "text": "", "tool_calls": []}
    return {"type": "message", "message": said}


def tool_call(call: str, attempt: int = 1, **more: Any) -> Event:
    return {
        "type": "tool_call",
        "tool_call_id": call,
        "server": "s",
        "tool": call,
        "args": {},
        "attempt": attempt,
        **more,
    }


def tool_result(
    call: str, status: str = "ok", ms: int | None = 5, *, recorded: bool = False, **more: Any
) -> Event:
    return {
        "type": "tool_result",
        "tool_call_id": call,
        "status": status,
        "text": "",
        "duration_ms": ms,
        "recorded": recorded,
        **more,
    }


BEGIN: Event = {"type": "run_started", "conversation_id": "c", "kind": "message", "engine": "o", "model": "m"}
NOTICE: Event = {"type": "notice", "code": "N", "text": "n"}
END: Event = {"type": "end", "status": "completed"}
