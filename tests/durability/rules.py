"""What must hold after a kill and a continuation; each broken rule is a sentence.

Invariant: judges by three independent witnesses: the file that the calls wrote, the database, and what the
killed program had printed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.durability.program import Finished
from tests.durability.scenario import Home


@dataclass(slots=True)
class History:
    """What happened in one home since it was made."""

    printed: list[dict[str, Any]] = field(default_factory=list)
    """Events that programs printed before they were killed or ended."""
    run_again: Counter[str] = field(default_factory=Counter)
    """How often the user chose to run a line's call again."""
    left_out: set[str] = field(default_factory=set)
    """Lines whose calls the user skipped, or whose result the user entered."""
    asked: list[str] = field(default_factory=list)
    """What the user wrote and the program took."""

    def copy(self) -> "History":
        """The same past for a second future."""
        return History(list(self.printed), Counter(self.run_again), set(self.left_out), list(self.asked))

    def add(self, finished: Finished) -> None:
        """Remember what a program printed."""
        self.printed.extend(event for event in finished.events() if "type" in event)


def broken_rules(home: Home, seen: dict[str, Any], history: History, *, finished: bool) -> list[str]:
    """What is wrong; `finished`: the conversation was continued to its end."""
    problems = [] if seen["sound"] else ["the database is damaged"]
    if not seen["conversations"]:
        return problems
    conversation = seen["conversations"][0]
    messages = {message["id"]: message for message in conversation["messages"]}
    results = {m["tool_call_id"]: m for m in conversation["messages"] if m["role"] == "tool"}
    problems += _calls_made_twice(home, history)
    problems += _attempts(seen["attempts"], results if finished else None)
    problems += _nothing_announced_is_lost(history, messages, results, finished=finished)
    if finished:
        problems += conversation["history_problems"]
        problems += _settled(seen, conversation, history)
    return problems


def _calls_made_twice(home: Home, history: History) -> list[str]:
    counts = Counter(home.lines())
    return [
        f"“{line}” ran {count} times, with {history.run_again[line]} decisions to run it again"
        for line, count in counts.items()
        if count > 1 + history.run_again[line]
    ]


def _attempts(attempts: Sequence[dict[str, Any]], results: dict[str, Any] | None) -> list[str]:
    problems = []
    done: set[str] = set()
    for attempt in sorted(attempts, key=lambda row: (row["tool_call_id"], row["attempt"])):
        call = attempt["tool_call_id"]
        if call in done:
            problems.append(f"{call} was sent again after its result was recorded")
        if attempt["state"] == "finished":
            done.add(call)
            if results is not None and results.get(call, {}).get("tool_status") != "ok":
                problems.append(f"the recorded result of {call} is not in the thread: {results.get(call)}")
            if results is not None and attempt["result"] is not None:
                problems.append(f"the result of {call} is still in the journal beside the thread")
    return problems


def _nothing_announced_is_lost(
    history: History, messages: dict[str, Any], results: dict[str, Any], *, finished: bool
) -> list[str]:
    problems = []
    for event in history.printed:
        if event["type"] == "message" and event["message"]["id"] not in messages:
            problems.append(f"a message that was shown is gone: {event['message']['role']}")
        if event["type"] == "tool_result" and finished and event["status"] == "ok":
            kept = results.get(event["tool_call_id"])
            if kept is None or kept["text"] != event["text"]:
                problems.append(f"a result that was shown is gone: {event['tool_call_id']}")
    return problems


def _settled(seen: dict[str, Any], conversation: dict[str, Any], history: History) -> list[str]:
    problems = []
    stuck = [run["status"] for run in seen["runs"] if run["status"] in ("running", "waiting")]
    if stuck:
        problems.append(f"runs are stuck: {stuck}")
    if conversation["unfinished"]:
        problems.append("work is left although the last run completed")
    kept = [run["id"] for run in seen["runs"] if run["input_text"] is not None]
    if kept:
        problems.append(f"runs still hold their input beside the thread: {kept}")
    said = [message["text"] for message in conversation["messages"] if message["role"] == "user"]
    for text in history.asked:
        if said.count(text) + conversation["draft"].count(text) != 1:
            problems.append(
                f"“{text}” is {said.count(text)} times in the thread; draft {conversation['draft']!r}"
            )
    return problems
