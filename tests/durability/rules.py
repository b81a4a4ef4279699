"""What must hold after a kill and a continuation; each broken rule is a sentence.

Invariant: judges by three independent witnesses: the file that the calls wrote, the database, and what the
killed program had printed. What the user decided is known from outside too: the starts that said so.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.durability.call_rules import broken_call_rules
from tests.durability.program import Finished
from tests.durability.scenario import Home


@dataclass(slots=True)
class History:
    """What happened in one home since it was made."""

    printed: list[dict[str, Any]] = field(default_factory=list)
    """Events that programs printed before they were killed or ended."""
    seen: dict[str, str] = field(default_factory=dict)
    """The messages, id and text, that the thread held when it was looked at."""
    decided: set[tuple[str, str]] = field(default_factory=set)
    """What the user chose, as call and kind; the start that said so may have been killed first."""
    decided_all: set[str] = field(default_factory=set)
    """Kinds that were chosen for whatever would be asked."""
    asked: list[str] = field(default_factory=list)
    """What the user wrote and the program took."""

    def copy(self) -> "History":
        """The same past for a second future."""
        return replace(
            self,
            printed=list(self.printed),
            seen=dict(self.seen),
            decided=set(self.decided),
            decided_all=set(self.decided_all),
            asked=list(self.asked),
        )

    def add(self, finished: Finished) -> None:
        """Remember what a program printed."""
        self.printed.extend(event for event in finished.events() if "type" in event)


def broken_rules(
    home: Home, seen: dict[str, Any], history: History, *, finished: bool, all_allowed: bool
) -> list[str]:
    """What is wrong; `finished`: the conversation was continued to its end; `all_allowed`: nobody is asked
    before a call is made."""
    problems = [f"the database is damaged: {found}" for found in seen["problems"]]
    if not seen["conversations"]:
        return [
            *problems,
            *(["the message was taken, and the conversation is gone"] if history.asked else []),
        ]
    conversation = seen["conversations"][0]
    messages = {message["id"]: message for message in conversation["messages"]}
    for identifier, text in history.seen.items():
        if identifier not in messages or messages[identifier]["text"] != text:
            problems.append(f"a message that was stored is gone: “{text}”")
    history.seen.update({identifier: message["text"] for identifier, message in messages.items()})
    problems += broken_call_rules(
        conversation["messages"],
        seen,
        home.lines(),
        decided=history.decided,
        decided_all=history.decided_all,
        finished=finished,
        all_allowed=all_allowed,
    )
    problems += _nothing_announced_is_lost(history, conversation, finished=finished)
    for text in history.asked:
        if (count := times_kept(seen, text)) != 1:
            problems.append(f"“{text}” is kept {count} times")
    if not any(run["status"] == "running" for run in seen["runs"]):
        problems += seen["disagreements"]
    if finished:
        problems += conversation["history_problems"]
        problems += _settled(seen, conversation)
    return problems


def _nothing_announced_is_lost(
    history: History, conversation: dict[str, Any], *, finished: bool
) -> list[str]:
    problems = []
    messages = {message["id"] for message in conversation["messages"]}
    results = {m["tool_call_id"]: m["text"] for m in conversation["messages"] if m["role"] == "tool"}
    for event in history.printed:
        if event["type"] == "message" and event["message"]["id"] not in messages:
            problems.append(f"a message that was shown is gone: {event['message']['role']}")
        is_result = event["type"] == "tool_result" and event["status"] == "ok"
        if finished and is_result and results.get(event["tool_call_id"]) != event["text"]:
            problems.append(f"a result that was shown is gone: {event['tool_call_id']}")
    return problems


def times_kept(seen: dict[str, Any], text: str) -> int:
    """How often a text of the user is kept: said, handed back, queued, or about to be said."""
    if not seen["conversations"]:
        return 0
    conversation = seen["conversations"][0]
    draft: str = conversation["draft"]
    said: dict[str, str] = {message["id"]: message["text"] for message in conversation["messages"]}
    about_to: list[Any] = [
        run
        for run in seen["runs"]
        if run["input_text"] == text and run["status"] == "running" and run["input_message_id"] not in said
    ]
    return (
        list(said.values()).count(text)
        + draft.split("\n\n").count(text)
        + sum(1 for queued in seen["queued"] if queued["text"] == text)
        + len(about_to)
    )


def _settled(seen: dict[str, Any], conversation: dict[str, Any]) -> list[str]:
    problems = []
    stuck = [run["status"] for run in seen["runs"] if run["status"] in ("running", "waiting")]
    if stuck:
        problems.append(f"runs are stuck: {stuck}")
    if conversation["unfinished"]:
        problems.append("work is left although the last run completed")
    if conversation["draft"] or seen["queued"]:
        problems.append(f"not sent: {conversation['draft']!r}, {seen['queued']}")
    kept = [run["id"] for run in seen["runs"] if run["input_text"] is not None]
    if kept:
        problems.append(f"runs still hold their input beside the thread: {kept}")
    return problems
