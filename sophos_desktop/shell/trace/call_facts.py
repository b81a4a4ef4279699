"""What is known of a call: its attempts, when it was asked about and decided, and why it has no result.

Invariant: pure, no Qt; an event of an older version may lack any field but those it always had.
"""

import json
from collections.abc import Sequence

from sophos_desktop.core.domain.projection import JsonObject, TraceStep
from sophos_desktop.core.domain.trace_rows import TraceRow
from sophos_desktop.shell.trace import words
from sophos_desktop.shell.trace.calls import ShownRow
from sophos_desktop.shell.trace.telling import Fact, clock_time
from sophos_desktop.shell.trace.tools_known import ToolsKnown

_SENTENCES = {
    "denied": "The call was denied, so it was not made.",
    "skipped": "The call was not repeated: whether it took effect is not known.",
}
_APP_STOPPED = "The app stopped before the server answered, so whether the call took effect is not known."
_SERVER_ENDED = "The server ended before it answered, so whether the call took effect is not known."
_SERVER_DOWN = "TOOL_SERVER_DOWN"


def call_facts(
    shown: ShownRow, checkpoint: str, run_events: Sequence[JsonObject], known: ToolsKnown
) -> tuple[Fact, ...]:
    """Labels and values. `checkpoint`: the words for the one that holds what came before, or the call itself;
    `run_events`: all of the run, which tell how many attempts there were."""
    first = shown.row.events[0]
    server, tool = str(first.get("server") or ""), str(first.get("tool") or "")
    is_open = shown.state in ("uncertain", "waiting", "interrupted")
    told = [Fact("Server", known.server_words(server) if server else "")]
    if shown.was_made:
        told += _attempt_facts(shown, run_events)
    if shown.question is not None:
        told += _question_facts(shown.question, is_first=not shown.was_made)
    result = _result_of(shown.row)
    if result is not None:
        how = ", taken from the journal" if result.get("recorded") else ""
        is_plain = result["status"] == "ok" and not how
        told.append(Fact("Result", "" if is_plain else f"{result['status']}{how}"))
    if is_open and server:
        told.append(Fact("Hints", known.hints(server, tool)))
    told.append(Fact("Checkpoint", checkpoint))
    return tuple(fact for fact in told if fact.value)


def _attempt_facts(shown: ShownRow, run_events: Sequence[JsonObject]) -> list[Fact]:
    row = shown.row
    attempt = row.events[0].get("attempt", 1)
    if _result_of(row) is not None:
        call_id = row.events[0]["tool_call_id"]
        made = [
            event.get("attempt", 1)
            for event in run_events
            if event["type"] == "tool_call" and event["tool_call_id"] == call_id
        ]
        return [
            Fact("Attempt", f"{attempt} of {max((attempt, *made))}"),
            Fact("Started", clock_time(row.began_at)),
            Fact("Finished", clock_time(row.ended_at)),
        ]
    state = "running" if row.state == "running" else "started"
    facts = [Fact("Attempt", f"{attempt}, {state}"), Fact("Sent", clock_time(row.began_at))]
    if row.state != "running":
        facts.append(Fact("Answer", "none recorded", is_warning=True))
    return facts


def _question_facts(question: TraceRow, *, is_first: bool) -> list[Fact]:
    """`is_first`: it was asked before any attempt, and there is nothing else to tell."""
    is_open = question.state == "waiting"
    not_yet = "not yet" if is_first else ""
    return [
        Fact("Asked", clock_time(question.began_at)),
        Fact("Decided", not_yet if is_open else clock_time(question.ended_at) or "no", is_warning=is_open),
        Fact("Decision", question.answer),
        Fact("Your reason", words.one_line(question.reason) if question.reason else ""),
        Fact("Why asked", str(question.events[0].get("reason") or "")),
    ]


def call_sentence(shown: ShownRow, step: TraceStep | None) -> str:
    """Why it has no result, if it has none."""
    if shown.state in ("uncertain", "interrupted") and shown.was_made:
        return _SERVER_ENDED if _server_died(shown, step) else _APP_STOPPED
    if shown.state == "uncertain":  # the attempt was made in an earlier run
        return _APP_STOPPED
    if shown.state == "interrupted":
        return "The run ended before the call was made."
    return _SENTENCES.get(shown.state, "")


def _server_died(shown: ShownRow, step: TraceStep | None) -> bool:
    sent = shown.row.events[0]["seq"]
    events = step.events if step is not None else ()
    return any(
        event["type"] == "notice" and event["code"] == _SERVER_DOWN and event["seq"] > sent
        for event in events
    )


def call_arguments(shown: ShownRow) -> str:
    """The arguments as one line of JSON; empty if there are none."""
    arguments = next((event["args"] for event in shown.row.events if "args" in event), None)
    return json.dumps(dict(arguments), ensure_ascii=False) if arguments else ""


def call_result(shown: ShownRow) -> str:
    """The text of the result; empty if there is none."""
    result = _result_of(shown.row)
    return str(result.get("text") or "") if result is not None else ""


def _result_of(row: TraceRow) -> JsonObject | None:
    return next((event for event in row.events if event["type"] == "tool_result"), None)
