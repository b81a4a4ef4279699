"""The words of the trace: what a run, a step or a row is called, and its figures.

Invariant: pure, no Qt; everything comes from the stored events and the run's record.
"""

import json
from collections.abc import Mapping, Sequence

from sophos_desktop.core.domain.durations import duration
from sophos_desktop.core.domain.projection import Figures, JsonObject
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.trace_rows import TraceRow, decision_words
from sophos_desktop.shell.trace.calls import ShownRow, ShownState

_PHASES = {"load": "Load model", "prompt": "Read prompt", "think": "Think", "answer": "Answer"}
_MESSAGES = {"user": "Your message", "assistant": "Answer", "tool": "Result"}
_STATES: dict[ShownState, str] = {
    "done": "",
    "running": "running",
    "waiting": "waits for you",
    "uncertain": "uncertain, no result",
    "failed": "failed",
    "denied": "denied",
    "skipped": "skipped",
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
_CALLS: dict[ShownState, str] = {
    "waiting": "waiting",
    "uncertain": "no result",
    "denied": "denied",
    "skipped": "skipped",
}
_DECIDED = {"allow": "allowed", "run-again": "again", "result": "entered"}
_UNKNOWN = "–"
_SHORT = 60
_FIRST_PART = 200  # of an argument, which may be a whole file
_SHORT_MILLISECONDS = 100
_MINUTE = 60_000
_HOUR = 60 * _MINUTE


def time_words(milliseconds: float) -> str:
    """`9 ms`, and from a tenth of a second on `0.9 s`."""
    if _SHORT_MILLISECONDS <= milliseconds < 1000:
        return f"{milliseconds / 1000:.1f} s"
    return duration(milliseconds)


def column_words(milliseconds: float) -> str:
    """The same in the room of a column: `8.4 s`, `4.1 min`, `1.5 h`."""
    if milliseconds < _MINUTE:
        return time_words(milliseconds)
    for length, unit in ((_MINUTE, "min"), (_HOUR, "h")):
        if milliseconds < 60 * length:
            return f"{milliseconds / length:.1f} {unit}"
    return f"{milliseconds / _HOUR:,.0f} h"


def run_name(number: int, record: RunRecord) -> str:
    """`Run 3 · message`."""
    return f"Run {number} · {record.kind.value}"


def run_state(record: RunRecord) -> str:
    """A word for what needs notice; empty for a run that is done."""
    return _RUN_STATES.get(record.status, "")


def step_name(number: int | None, node: str) -> str:
    """`2 · tools`: a step's number in its run, and what it was."""
    if number is None:
        return node
    return f"{number} · {node}" if node else f"Step {number}"


def row_name(row: TraceRow, asked: JsonObject | None = None) -> str:
    """What happened, in two or three words. `asked`: the call that a row is about, as the model asked for it;
    of one that was refused nothing else says what it was."""
    first = row.events[0]
    if asked is not None and asked.get("tool"):
        return str(asked["tool"])
    if row.kind in ("answer", "message") and (count := _calls_asked(row)):
        return f"Ask for {count} tools" if count > 1 else "Ask for a tool"
    if row.kind in _PHASES:
        return _PHASES[row.kind]
    if row.kind in ("tool", "question"):
        again = f" · attempt {first['attempt']}" if first.get("attempt", 1) > 1 else ""
        return f"{first.get('tool') or 'Result of an earlier call'}{again}"
    if row.kind == "note":
        return one_line(f"{_NOTES.get(first['kind'], 'Note')}: {note_words(first)}")
    if row.kind == "message":
        return _MESSAGES.get(first["message"]["role"], "Message")
    return _other_name(first)


def argument_words(row: TraceRow) -> str:
    """The beginning of a call's first argument: it tells calls of one tool apart."""
    arguments = next((event["args"] for event in row.events if event.get("args")), None)
    if row.kind not in ("tool", "question") or not isinstance(arguments, Mapping):
        return ""
    first = next(iter(arguments.values()))
    if isinstance(first, list | tuple) and first and isinstance(first[0], str | int | float):
        first = first[0]
    if isinstance(first, Mapping | list | tuple):
        return ""
    return one_line(str(first)[:_FIRST_PART])


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
        return one_line(f"Notice: {event['text']}")
    if event["type"] == "recovered":
        return one_line(f"Recovered: {event['what']}")
    if event["type"] == "tool_decided":
        return one_line(f"Decision: {decision_words(event)}")
    return str(event["type"]).replace("_", " ").capitalize()


def state_word(state: ShownState) -> str:
    """What a row's state is called; empty when it is done."""
    return _STATES[state]


def call_word(shown: ShownRow) -> str:
    """Why it is not known how long a call took; empty if there is nothing to say."""
    if shown.state == "interrupted":
        return "no result" if shown.was_made else "not made"
    if shown.row.kind == "question" and shown.state == "done":
        decisions = [event["decision"] for event in shown.row.events if event["type"] == "tool_decided"]
        return _DECIDED.get(decisions[-1], "decided") if decisions else "decided"
    return _CALLS.get(shown.state, "")


def json_text(events: Sequence[JsonObject]) -> str:
    """Events as they are stored, for people."""
    value: object = dict(events[0]) if len(events) == 1 else [dict(event) for event in events]
    return json.dumps(value, ensure_ascii=False, indent=2)


def json_lines(events: Sequence[JsonObject]) -> str:
    """Events as they are stored, for programs: one a line."""
    return "".join(f"{json.dumps(dict(event), ensure_ascii=False)}\n" for event in events)


def figure_words(figures: Figures, step_limit: int | None = None) -> list[tuple[str, str]]:
    """The six figures above the tree. `step_limit`: how many steps the run may take, while it goes on."""
    speed = figures.tokens_per_second
    limit = f" of {step_limit:,}" if step_limit is not None else ""
    # An engine counts when it is done: until then, and of an answer that was cut off, nothing is known.
    is_counted = figures.prompt_tokens > 0 or figures.output_tokens > 0
    counted = [
        ("Tokens in", f"{figures.prompt_tokens:,}"),
        ("Tokens out", f"{figures.output_tokens:,}"),
        ("Speed", f"{speed:,.1f} tok/s" if speed else _UNKNOWN),
        ("Prompt", _short_time(figures.prompt_ms)),
        ("Model load", _short_time(figures.load_ms)),
    ]
    known = [(label, value if is_counted else _UNKNOWN) for label, value in counted]
    return [("Steps", f"{figures.steps:,}{limit}"), *known]


def _short_time(milliseconds: int) -> str:
    return time_words(milliseconds) if milliseconds else "0 s"


def one_line(text: str) -> str:
    """The beginning of a text."""
    joined = " ".join(text.split())
    return joined if len(joined) <= _SHORT else joined[: _SHORT - 1].rstrip() + "…"
