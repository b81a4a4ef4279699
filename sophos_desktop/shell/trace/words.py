"""The words of the trace: what a run, a step or a row is called, and what is known of it.

Invariant: pure, no Qt; everything comes from the stored events and the run's record.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sophos_desktop.core.domain.durations import duration
from sophos_desktop.core.domain.projection import Figures, JsonObject, TraceStep
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.trace_rows import TraceRow

Facts = list[tuple[str, str]]

_PHASES = {"load": "Load model", "prompt": "Read prompt", "think": "Think", "answer": "Answer"}
_MESSAGES = {"user": "Your message", "assistant": "Answer", "tool": "Result"}
_STATES = {
    "done": "",
    "running": "running",
    "waiting": "waits for you",
    "failed": "failed",
    "interrupted": "not finished",
}
_NOTES = {"progress": "Progress", "log": "Log", "declined": "Declined"}
_RUN_STATES = {
    RunStatus.RUNNING: "running",
    RunStatus.WAITING: "waits for you",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "stopped",
    RunStatus.INTERRUPTED: "interrupted",
}
_SHORT = 60


def run_name(number: int, record: RunRecord) -> str:
    """`Run 3 · message`."""
    return f"Run {number} · {record.kind.value}"


def run_state(record: RunRecord) -> str:
    """A word for what needs notice; empty for a run that is done."""
    return _RUN_STATES.get(record.status, "")


def step_name(step: TraceStep) -> str:
    """`2 · tools`."""
    return f"{step.number} · {step.node}" if step.node else f"Step {step.number}"


def row_name(row: TraceRow) -> str:
    """What happened, in two or three words."""
    first = row.events[0]
    if row.kind == "answer" and (count := _calls_asked(row)):
        return f"Ask for {count} tools" if count > 1 else "Ask for a tool"
    if row.kind in _PHASES:
        return _PHASES[row.kind]
    if row.kind == "tool":
        again = f" · attempt {first['attempt']}" if first.get("attempt", 1) > 1 else ""
        return f"{first.get('tool') or 'Result of an earlier call'}{again}"
    if row.kind == "question":
        return f"Question: {first['tool']}" + (f" · {row.answer}" if row.answer else "")
    if row.kind == "note":
        return _one_line(f"{_NOTES.get(first['kind'], 'Note')}: {note_words(first)}")
    if row.kind == "message":
        return _MESSAGES.get(first["message"]["role"], "Message")
    return _other_name(first)


def note_words(event: JsonObject) -> str:
    """What a server said while it worked; how far it is as a number, if it gave one."""
    if event.get("progress") is None:
        return str(event.get("text") or "")
    far = f"{event['progress']:g}" + (f" of {event['total']:g}" if event.get("total") else "")
    return f"{far} {event.get('text') or ''}".rstrip()


def _calls_asked(row: TraceRow) -> int:
    asked = [event["message"].get("tool_calls") or () for event in row.events if event["type"] == "message"]
    return sum(len(calls) for calls in asked)


def _other_name(event: JsonObject) -> str:
    if event["type"] == "notice":
        return _one_line(f"Notice: {event['text']}")
    if event["type"] == "recovered":
        return _one_line(f"Recovered: {event['what']}")
    if event["type"] == "run_started":
        return "Goes on"
    return str(event["type"]).replace("_", " ").capitalize()


def state_word(state: str) -> str:
    """What a row's state is called; empty when it is done."""
    return _STATES[state]


def clock_time(at: str | None) -> str:
    """A stored time as the hour, minute, second and millisecond that it names (UTC)."""
    return at[11:23] if at else ""


def run_facts(record: RunRecord, took: float | None) -> Facts:
    """What is known of a run."""
    facts = [
        ("State", run_state(record) or record.status.value),
        ("Model", " ".join(filter(None, (record.model, f"({record.engine})" if record.engine else "")))),
        ("Began", f"{record.started_at[:10]} {clock_time(record.started_at)} UTC"),
        ("Ended", f"{clock_time(record.finished_at)} UTC" if record.finished_at else ""),
        ("Took", duration(took)),
        ("Error", record.error_code or ""),
        ("Run", record.id),
    ]
    return [(label, value) for label, value in facts if value]


def run_text(record: RunRecord) -> str:
    """Why a run did not complete, if that is known."""
    return record.error_message or ""


def step_facts(step: TraceStep) -> Facts:
    """What is known of a step."""
    facts = [
        ("Node", step.node),
        ("Began", clock_time(step.started_at) if step.markers[0]["phase"] == "started" else ""),
        ("Saved", clock_time(step.finished_at) if step.is_finished else "not yet"),
        ("Took", duration(step.duration_ms)),
        ("Checkpoint", step.checkpoint_id or ""),
    ]
    return [(label, value) for label, value in facts if value]


def row_facts(row: TraceRow) -> Facts:
    """What is known of a row."""
    first, last = row.events[0], row.events[-1]
    facts: Facts = []
    if row.kind in _PHASES:
        if row.kind == "prompt":
            facts.append(("Tokens", f"{first['prompt_tokens'] or 0:,}"))
        elif row.kind in ("think", "answer"):
            facts.append(("Tokens", f"{first['output_tokens'] or 0:,} with thinking"))
        facts.append(("Took", duration(row.duration_ms)))
        facts.append(("Call ended", clock_time(first["at"])))
        return facts
    if row.kind in ("tool", "question", "note") and first.get("server"):
        facts.append(("Server", str(first["server"])))
        if "attempt" in first:
            facts.append(("Attempt", str(first["attempt"])))
    results = [event for event in row.events if event["type"] == "tool_result"]
    if results:
        how = ", taken from the journal" if results[0]["recorded"] else ""
        facts.append(("Result", f"{results[0]['status']}{how}"))
    elif row.state != "done":
        facts.append(("State", state_word(row.state)))
    if "why" in first:
        facts.append(("Why", str(first["why"])))
    if row.answer:
        facts.append(("Decision", row.answer))
    if first.get("level"):
        facts.append(("Level", str(first["level"])))
    if "code" in first:
        facts.append(("Code", str(first["code"])))
    facts += _times(row, last)
    if row.duration_ms is not None:
        facts.append(("Waited" if row.kind == "question" else "Took", duration(row.duration_ms)))
    return facts


def _times(row: TraceRow, last: JsonObject) -> Facts:
    """When it began and ended; of a question, when it was asked and decided."""
    began, ended = ("Asked", "Decided") if row.kind == "question" else ("Began", "Ended")
    facts = [(began, clock_time(row.began_at or row.events[0]["at"]))]
    if row.ended_at is not None:
        facts.append((ended, clock_time(row.ended_at)))
    elif row.kind == "tool" and row.state == "interrupted":
        facts.append((ended, "not known"))
    elif last is not row.events[0]:
        facts.append((ended, clock_time(last["at"])))
    return facts


def row_text(row: TraceRow) -> str:
    """The texts of a row: arguments, result, message."""
    parts: list[str] = []
    for event in row.events:
        if event["type"] in ("tool_call", "approval_needed"):
            parts.append(json.dumps(dict(event["args"]), ensure_ascii=False, indent=2))
        elif event["type"] == "message":
            is_said = any(other["type"] == "tool_result" for other in row.events)
            parts += [] if is_said else _message_parts(event["message"], row.kind)
        elif event.get("text") or event.get("what"):
            parts.append(str(event.get("text") or event.get("what")))
    return "\n\n".join(part for part in parts if part)


def _message_parts(message: Mapping[str, Any], kind: str) -> list[str]:
    calls = [
        f"{call['server']}.{call['tool']} {json.dumps(dict(call['args']), ensure_ascii=False)}"
        for call in message.get("tool_calls") or ()
    ]
    thinking = [str(message["thinking"])] if message.get("thinking") and kind != "answer" else []
    return [*thinking, str(message.get("text") or ""), *calls]


def json_text(events: Sequence[JsonObject]) -> str:
    """Events as they are stored, for people."""
    value: object = dict(events[0]) if len(events) == 1 else [dict(event) for event in events]
    return json.dumps(value, ensure_ascii=False, indent=2)


def figure_words(figures: Figures) -> list[tuple[str, str]]:
    """The six figures above the tree."""
    speed = figures.tokens_per_second
    return [
        ("Steps", f"{figures.steps:,}"),
        ("Tokens in", f"{figures.prompt_tokens:,}"),
        ("Tokens out", f"{figures.output_tokens:,}"),
        ("Speed", f"{speed:,.1f} tok/s" if speed else "–"),
        ("Prompt", _short_time(figures.prompt_ms)),
        ("Model load", _short_time(figures.load_ms)),
    ]


def _short_time(milliseconds: int) -> str:
    return duration(milliseconds) if milliseconds else "0 s"


def _one_line(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _SHORT else joined[: _SHORT - 1].rstrip() + "…"
