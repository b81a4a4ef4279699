"""A conversation as a transcript, a run as a tree of steps: lines for people.

Invariant: pure functions; times and durations as they were stored, and nothing is left out but long texts
of tool results, which are cut in the trace.
"""

from collections.abc import Iterator, Mapping, Sequence

from sophos_desktop.cli.output import Style, arguments, moment, one_line
from sophos_desktop.core.domain.call_records import NO_RECORD, CallRecord
from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Conversation,
    Message,
    MessageState,
    Role,
    ToolCall,
)
from sophos_desktop.core.domain.durations import between, duration
from sophos_desktop.core.domain.projection import JsonObject, TraceStep, steps_of
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.tool_parts import words_of_size
from sophos_desktop.core.domain.trace_rows import TraceRow, decision_words, rows_of

_SPEAKERS = {Role.USER: "You", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"}


def transcript(
    conversation: Conversation,
    messages: Sequence[Message],
    records: Mapping[str, CallRecord],
    unsent: Sequence[AttachmentRef],
    style: Style,
) -> list[str]:
    """Every message under who said it, every call with what the journal has of it (`records`); then what is
    not sent yet, with what is attached to that (`unsent`)."""
    lines = [style.strong(one_line(conversation.title)), style.faint(f"conversation {conversation.id}")]
    calls = {call.id: f"{call.server}.{call.tool}" for message in messages for call in message.tool_calls}
    for message in messages:
        lines += ["", _heading(message, calls, style)]
        if message.thinking:
            lines += [style.faint(f"  {line}") for line in message.thinking.strip().splitlines()]
        lines += message.text.splitlines()
        lines += [style.faint(_attached(ref)) for ref in message.attachments]
        for call in message.tool_calls:
            lines.append(style.faint(f"→ {call.server}.{call.tool} {arguments(call.args)}"))
            recorded = _recorded(call, records.get(call.id, NO_RECORD))
            lines += [style.faint(f"    {line}") for line in recorded]
    lines += _closing(conversation, unsent, style)
    return lines


def _attached(ref: AttachmentRef) -> str:
    return f"+ {one_line(ref.name)}  {words_of_size(ref.size_bytes)}  {ref.sha256[:8]}"


def _heading(message: Message, calls: Mapping[str, str], style: Style) -> str:
    about = [moment(message.at)] if message.at else []
    if message.model:
        about.append(message.model)
    if message.tool_call_id:
        about.insert(0, calls.get(message.tool_call_id, message.tool_call_id))
        about.append(message.tool_status.value if message.tool_status else "")
    if message.state is not MessageState.COMPLETE:
        about.append(message.state.value)
    return f"{style.strong(_SPEAKERS[message.role])} {style.faint(' · '.join(filter(None, about)))}".rstrip()


def _recorded(call: ToolCall, record: CallRecord) -> Iterator[str]:
    """What was decided about a call and when it was sent, in that order."""
    for decision in record.decisions:
        edited = decision.args is not None and dict(decision.args) != dict(call.args)
        words = decision_words({"decision": decision.decision, "edited": edited})
        reason = f": {one_line(decision.reason)}" if decision.reason else ""
        yield f"you decided at {moment(decision.decided_at)}: {words}{reason}"
    if record.sent_args is not None and record.is_edited(call.args):
        yield f"sent, as you changed it: {arguments(record.sent_args)}"
    for attempt in record.attempts:
        until = moment(attempt.finished_at) if attempt.finished_at else "no result"
        yield f"attempt {attempt.attempt}: {moment(attempt.started_at)} – {until}"


def _closing(conversation: Conversation, unsent: Sequence[AttachmentRef], style: Style) -> list[str]:
    lines = []
    run = conversation.last_run
    if run is not None and run.status.value != "completed":
        state = (
            f"[the last run is {run.status.value}{', it can be resumed' if conversation.resumable else ''}]"
        )
        if conversation.decided:
            state = "[all that the last run asked is decided; `resume` goes on with it]"
        lines += ["", style.faint(state)]
        if run.error_message:
            lines.append(style.bad(f"{run.error_code}: {run.error_message}"))
    if conversation.draft.strip() or unsent:
        lines += ["", style.strong("Not sent yet"), *conversation.draft.splitlines()]
        lines += [style.faint(_attached(ref)) for ref in unsent]
    return lines


def trace_tree(record: RunRecord, events: Sequence[JsonObject], style: Style) -> list[str]:
    """The run, below it its steps, below them their events; each with its duration."""
    engine = "/".join(filter(None, (record.engine, record.model)))
    took = duration(between(record.started_at, record.finished_at))
    about = [record.kind.value, record.status.value, engine, moment(record.started_at), took]
    lines = [f"{style.strong(f'run {record.id}')}  {'  '.join(filter(None, about))}"]
    for step in steps_of(events):
        said = list(_step_lines(step, record, style))
        if step.number is None:
            lines += [f"  {line}" for line in said]
            continue
        time = duration(step.duration_ms) if step.is_finished else style.bad("not finished")
        lines.append(f"  step {step.number} {style.strong(step.node)}  {time}".rstrip())
        lines += [f"    {line}" for line in said]
    return lines


def _step_lines(step: TraceStep, record: RunRecord, style: Style) -> Iterator[str]:
    """The events of a step, those of one call together."""
    rows = rows_of(
        step,
        record.started_at,
        is_running=record.status is RunStatus.RUNNING,
        is_waiting=record.status is RunStatus.WAITING,
    )
    said: set[int] = set()
    for row in rows:
        for event in row.events:
            if event["seq"] in said:
                continue  # a model call is several rows
            said.add(event["seq"])
            if event["type"] == "tool_call":
                yield f"{_call(event)} {_attempt(row, style)}"
                for note in row.below:
                    yield f"  {event_line(note.events[0], style)}"
            elif event["type"] == "approval_needed":
                yield f"{_question(event)}  {_decision(row, style)}"
            elif event["type"] == "tool_decided" and row.kind == "question":
                continue  # the question's own line says it
            elif (line := event_line(event, style)) is not None:
                yield line


def _attempt(row: TraceRow, style: Style) -> str:
    """Which attempt it was, and when it began and ended."""
    state = {"running": "running, ", "interrupted": f"{style.bad('interrupted')}, "}.get(row.state, "")
    until = _clock_time(row.ended_at) if row.state != "running" else ""
    return f"(attempt {row.events[0]['attempt']}, {state}{_clock_time(row.began_at)}–{until})"


def _decision(row: TraceRow, style: Style) -> str:
    """What became of a question, when, and how long it waited."""
    if row.answer:
        waited = duration(row.duration_ms)
        reason = f": {one_line(row.reason)}" if row.reason else ""
        asked = f"(asked {_clock_time(row.began_at)})"
        return f"{row.answer} at {_clock_time(row.ended_at)} after {waited} {asked}{reason}"
    state = "waits for you" if row.state == "waiting" else style.bad("not decided")
    return f"{state} (asked {_clock_time(row.began_at)})"


def _clock_time(at: str | None) -> str:
    """Hour, minute and second of a stored time (UTC)."""
    return at[11:19] if at else "?"


def event_line(event: JsonObject, style: Style) -> str | None:
    """A stored event on one line; None for one that says nothing by itself."""
    kind = event["type"]
    if kind == "run_started":
        engine = "/".join(filter(None, (event["engine"], event["model"]))) or "no engine yet"
        return f"{event['kind']} begins with {engine}"
    if kind == "step":
        if event["phase"] == "started":
            return None
        return f"step {event['step']} {event['node']}  {duration(event['duration_ms'])}".rstrip()
    if kind == "model_call":
        return _model_call(event)
    if kind == "tool_call":
        return _call(event) + (f" (attempt {event['attempt']})" if event["attempt"] > 1 else "")
    if kind == "tool_result":
        how = "taken from the journal" if event["recorded"] else duration(event["duration_ms"])
        status = event["status"] if event["status"] == "ok" else style.bad(event["status"])
        return f"result {status}  {one_line(event['text'] or '')}  {how}".rstrip()
    if kind == "approval_needed":
        return _question(event)
    if kind == "tool_decided":
        reason = f": {one_line(event['reason'])}" if event.get("reason") else ""
        return f"decided: {decision_words(event)} at {_clock_time(event['decided_at'])}{reason}"
    if kind == "tool_note":
        return _note(event)
    if kind == "message":
        return _message(event["message"])
    if kind == "end":
        return _end(event, style)
    words = event.get("text") or event.get("what") or ""
    return f"{kind} {event.get('code', '')} {words}".replace("  ", " ").rstrip()


def _call(event: JsonObject) -> str:
    return f"call {event['server']}.{event['tool']} {arguments(event['args'])}"


def _question(event: JsonObject) -> str:
    return f"question ({event['why']}) {event['server']}.{event['tool']} {arguments(event['args'])}"


def _note(event: JsonObject) -> str:
    """What a server said while it worked; how far it is as a number, if it gave one."""
    far = ""
    if event.get("progress") is not None:
        far = f"{event['progress']:g}" + (f" of {event['total']:g}" if event.get("total") else "")
    about = " ".join(filter(None, (event["kind"], event.get("level"), far)))
    return f"{about}: {one_line(event.get('text') or '')}".rstrip(": ")


def _model_call(event: JsonObject) -> str:
    parts = [
        f"{words} {duration(event[name])}"
        for name, words in (
            ("load_ms", "load"),
            ("prompt_ms", "prompt"),
            ("thinking_ms", "thinking"),
            ("answer_ms", "answer"),
        )
        if event[name] is not None
    ]
    tokens = f"{event['prompt_tokens'] or 0} + {event['output_tokens'] or 0} tokens"
    return f"model call  {', '.join([*parts, tokens])}"


def _message(message: JsonObject) -> str:
    text = one_line(message.get("text") or "")
    calls = len(message.get("tool_calls") or ())
    asked = f" [{calls} tool {'call' if calls == 1 else 'calls'}]" if calls else ""
    return f"{message['role']} message{asked}  {text}".rstrip()


def _end(event: JsonObject, style: Style) -> str:
    status = event["status"]
    line = f"end {status if status == 'completed' else style.bad(status)}"
    if event["error_code"]:
        line += f"  {event['error_code']}: {' '.join((event['error_message'] or '').split())}"
    return f"{line}  (can be resumed)" if event["resumable"] else line
