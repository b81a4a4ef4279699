"""What is known of a run, a step or a row, for the details pane.

Invariant: pure, no Qt; everything comes from stored events and the run's record, but for what `ToolsKnown`
says of servers and tools.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sophos_desktop.core.domain.projection import JsonObject, TraceStep
from sophos_desktop.core.domain.trace_rows import TraceRow
from sophos_desktop.shell.trace import words
from sophos_desktop.shell.trace.call_facts import call_arguments, call_facts, call_result, call_sentence
from sophos_desktop.shell.trace.calls import ShownRow
from sophos_desktop.shell.trace.nodes import INPUT, Node, Run
from sophos_desktop.shell.trace.saying import name_of, state_of
from sophos_desktop.shell.trace.telling import Fact, Place, Telling, clock_time, date_and_time, plain
from sophos_desktop.shell.trace.tools_known import ToolsKnown

_CHECKPOINT_PART = 13  # two groups of its id: enough to tell the checkpoints of a thread apart


def telling_of(node: Node, took_ms: float | None, known: ToolsKnown) -> Telling:
    """All that is told of an item. What the transcript does not show leads to what is around it there: the
    step, or the message that the run answers."""
    if node.shown_row is not None:
        told = _of_row(node, node.shown_row, known)
    elif node.step is not None:
        told = _of_step(node, node.step)
    else:
        return run_telling(node.run, took_ms)
    step = node.step_around
    around = _first_place(step.events) if step is not None else None
    return told if told.place is not None else replace(told, place=around or _place_of_run(node.run))


def run_telling(run: Run, took_ms: float | None) -> Telling:
    """Of a run: how it ended, with what, and what it was asked."""
    record = run.record
    model = " ".join(filter(None, (record.model, f"({record.engine})" if record.engine else "")))
    facts = (
        Fact("State", words.run_state(record) or record.status.value),
        Fact("Model", model),
        Fact("Started", date_and_time(record.started_at)),
        Fact("Last event", clock_time(run.last_sign)),
        Fact("Finished", clock_time(record.finished_at) if run.last_sign is None else ""),
        Fact("Took", words.time_words(took_ms) if took_ms is not None else ""),
        Fact("Error", record.error_code or ""),
        Fact("Run", record.id),
    )
    asked = next((event["message"] for event in run.events if _is_of_user(event)), None)
    return Telling(
        words.run_name(run.number, record),
        _with_values(*facts),
        plain(record.error_message or ""),
        _with_words(str(asked.get("text") or "") if asked is not None else ""),
        "",
        tuple(event for event in run.events if event["type"] in ("run_started", "end")),
        _place_of_run(run),
    )


def _place_of_run(run: Run) -> Place | None:
    """The message that it answers; of a run that only went on, the first thing that it did."""
    if run.record.input_message_id is not None:
        return Place(run.record.input_message_id)
    asked = next((event for event in run.events if _is_of_user(event)), None)
    return _first_place((asked,) if asked is not None else run.events)


def _first_place(events: Iterable[JsonObject]) -> Place | None:
    places = (_place_of_event(event) for event in events)
    return next((place for place in places if place is not None), None)


def _is_of_user(event: JsonObject) -> bool:
    return event["type"] == "message" and bool(event["message"].get("role") == "user")


def _of_step(node: Node, step: TraceStep) -> Telling:
    record, state = node.run.record, state_of(node)
    goes_on = state in ("running", "waiting")
    facts = (
        Fact("Node", step.node),
        Fact("State", words.state_word(state)),
        Fact("Started", clock_time(step.started_at) if _has_start(step) else ""),
        Fact("Saved", clock_time(step.finished_at) if step.is_finished else "not yet" if goes_on else "no"),
        Fact("Took", words.time_words(step.duration_ms) if step.duration_ms is not None else ""),
        Fact("Error", record.error_code or "" if state == "failed" else ""),
        Fact("Checkpoint", step.checkpoint_id or ""),
    )
    events = tuple(sorted((*step.markers, *step.events), key=lambda event: int(event["seq"])))
    sentence = plain(record.error_message or "") if state == "failed" else ""
    return Telling(
        name_of(node), _with_values(*facts), sentence, events=events, place=_first_place(step.events)
    )


def _has_start(step: TraceStep) -> bool:
    return not step.markers or step.markers[0]["phase"] == "started"


def _of_row(node: Node, shown: ShownRow, known: ToolsKnown) -> Telling:
    row, step = shown.row, node.step_around
    asked = shown.question.events if shown.question is not None else ()
    told = {event["seq"]: event for event in (*asked, *row.events)}
    events = tuple(told[seq] for seq in sorted(told))
    if shown.is_call:
        checkpoint = _checkpoint_words(node.run, step)
        return Telling(
            name_of(node),
            call_facts(shown, checkpoint, node.run.events, known),
            call_sentence(shown, step),
            _with_words(call_arguments(shown)),
            call_result(shown),
            events,
            _place_of_event(row.events[0]),
            is_code=True,
        )
    facts = _phase_facts(row) if row.kind in ("load", "prompt", "think", "answer") else _other_facts(row)
    return Telling(name_of(node), facts, "", _texts(row), "", events, _first_place(row.events))


def _checkpoint_words(run: Run, step: TraceStep | None) -> str:
    """The checkpoint that holds a step, or the last one before it."""
    if step is None or step.checkpoint_id is None:
        before = reversed([one for one in run.fold.steps if one.checkpoint_id is not None])
        number = step.number if step is not None else None
        step = next((one for one in before if number is None or (one.number or 0) < number), None)
    if step is None or step.checkpoint_id is None:
        return ""
    number = run.number_of(step)
    begin = "" if number is None or step.node == INPUT else f"step {number}, "
    return f"{begin}{step.checkpoint_id[:_CHECKPOINT_PART]}"


def _phase_facts(row: TraceRow) -> tuple[Fact, ...]:
    first = row.events[0]
    tokens = ""
    if row.kind == "prompt":
        tokens = f"{first['prompt_tokens'] or 0:,}"
    elif row.kind in ("think", "answer"):
        both = " with thinking" if first.get("thinking_ms") else ""  # the engine counts them together
        tokens = f"{first['output_tokens'] or 0:,}{both}"
    context = first.get("context_tokens")
    return _with_values(
        Fact("Tokens", tokens),
        Fact("Context", f"{context:,} tokens" if context and row.kind == "prompt" else ""),
        Fact("Took", words.time_words(row.duration_ms) if row.duration_ms is not None else ""),
        Fact("Call ended", clock_time(first["at"])),
    )


def _other_facts(row: TraceRow) -> tuple[Fact, ...]:
    first = row.events[0]
    return _with_values(
        Fact("Server", str(first.get("server") or "")),
        Fact("Level", str(first.get("level") or "")),
        Fact("Code", str(first.get("code") or "")),
        Fact("At", clock_time(first["at"])),
    )


def _with_values(*facts: Fact) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if fact.value)


def _with_words(*texts: str) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def _texts(row: TraceRow) -> tuple[str, ...]:
    said: list[str] = []
    for event in row.events:
        if event["type"] == "message":
            said += _message_texts(event["message"], row.kind)
        else:
            said.append(plain(str(event.get("text") or event.get("what") or "")))
    return _with_words(*said)


def _message_texts(message: Mapping[str, Any], kind: str) -> list[str]:
    calls = [
        f"{call['server']}.{call['tool']} {json.dumps(dict(call['args']), ensure_ascii=False)}"
        for call in message.get("tool_calls") or ()
    ]
    thinking = [str(message["thinking"])] if message.get("thinking") and kind != "answer" else []
    return [*thinking, str(message.get("text") or ""), *calls]


def _place_of_event(event: JsonObject) -> Place | None:
    """Where the transcript shows what an event is about."""
    if call_id := event.get("tool_call_id"):
        return Place(str(call_id).rpartition(":")[0], str(call_id))
    if event["type"] == "model_call":
        return Place(str(event["message_id"]))
    if event["type"] == "message":
        call_id = event["message"].get("tool_call_id")
        if call_id:
            return Place(str(call_id).rpartition(":")[0], str(call_id))
        return Place(str(event["message"]["id"]))
    return None
