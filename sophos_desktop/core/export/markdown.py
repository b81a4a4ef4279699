"""A conversation as a Markdown document, piece by piece.

Invariant: a pure function of what is stored: the same conversation gives the same bytes, with LF as line end
and one at the end of the document. No text of a model, a tool or a person can change what the parts around it
are (`safe_text`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Conversation,
    Message,
    MessageState,
    Role,
    ToolCall,
)
from sophos_desktop.core.domain.durations import between, duration
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.tool_parts import words_of_size
from sophos_desktop.core.export.safe_text import closed, code_span, escaped, fenced, quoted

_STATES = {
    MessageState.INCOMPLETE: "> **Incomplete** · the answer was cut off here",
    MessageState.STOPPED: "> **Stopped** · the answer was stopped here",
}
_OUTCOMES = {
    RunStatus.FAILED: "Run failed",
    RunStatus.CANCELLED: "Run stopped",
    RunStatus.INTERRUPTED: "Run interrupted",
    RunStatus.WAITING: "Run waiting for a decision",
    RunStatus.RUNNING: "Run in progress",
}


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the document is made of. `runs` and `attempts` in the order in which they began."""

    conversation: Conversation
    messages: Sequence[Message]
    runs: Sequence[RunRecord]
    attempts: Sequence[ToolAttempt]


def markdown_document(transcript: Transcript) -> Iterator[str]:
    """The document, a piece for each message; the pieces are to be put together as they come."""
    yield _head(transcript)
    outcomes = _outcomes_by_place(transcript)
    calls = _Calls(transcript.attempts)
    for record in outcomes.get(-1, ()):
        yield _block(_outcome(record))
    answered: set[str] = set()
    for index, message in enumerate(transcript.messages):
        if message.id not in answered:
            results = _results_behind(transcript.messages, index)
            answered.update(result.id for result in results.values())
            last = index + len(results) + 1 == len(transcript.messages)
            yield "".join(map(_block, [*_message(message), *calls.blocks(message, results, is_last=last)]))
        for record in outcomes.get(index, ()):
            if not _says_it_itself(record, message):
                yield _block(_outcome(record))


def _block(text: str) -> str:
    return f"\n{text}\n"


def _head(transcript: Transcript) -> str:
    conversation = transcript.conversation
    facts = {
        "Conversation": code_span(conversation.id),
        "Created": _moment(conversation.created_at),
        "Changed": _moment(conversation.updated_at),
        "Model": code_span(conversation.model or ""),
        "Tags": ", ".join(map(code_span, conversation.tags)),
        "Messages": str(len(transcript.messages)),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    title = escaped(" ".join(conversation.title.split()))
    return "\n".join([f"# {title}", "", *lines, ""])


def _moment(at: str | None) -> str:
    """A stored time without its milliseconds: UTC, ISO 8601."""
    return f"{at[:19]}Z" if at else ""


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _message(message: Message) -> list[str]:
    """The blocks of a message without its calls."""
    if message.role is Role.TOOL:
        # The call that it answers is not in front of it.
        status = message.tool_status.value if message.tool_status else ""
        heading = _joined(
            "### Tool result", code_span(message.tool_call_id or ""), status, _moment(message.at)
        )
        sent = [] if message.sent_args is None else ["Arguments:", _json(message.sent_args)]
        return [heading, *sent, *_result(message)]
    if message.role is Role.USER:
        blocks = [_joined("## You", _moment(message.at))]
    else:
        blocks = [_joined("## Assistant", code_span(message.model or ""), _moment(message.at))]
    if message.thinking:
        blocks.append(quoted("**Thinking**\n\n" + closed(message.thinking).strip("\n")))
    text = closed(message.text).strip("\n")
    if text:
        blocks.append(text)
    blocks += [_attached(kept) for kept in message.attachments]
    if message.state in _STATES:
        blocks.append(_STATES[message.state])
    elif not text and not message.tool_calls and not message.attachments:
        blocks.append("*No text*")
    return blocks


def _attached(kept: AttachmentRef) -> str:
    size = words_of_size(kept.size_bytes)
    return escaped(f"[attached: {kept.name}, {size}, attachment {kept.sha256[:8]}]")


def _result(message: Message) -> Iterator[str]:
    """What a call gave, as far as the thread has it, and where the whole of it is."""
    yield "Result:"
    yield fenced(message.text, "text")
    for kept in message.attachments:
        size = words_of_size(kept.size_bytes)
        yield escaped(f"[result of {size}, kept whole as attachment {kept.sha256[:8]}]")


def _results_behind(messages: Sequence[Message], index: int) -> Mapping[str, Message]:
    """The results that follow an answer directly, by the call that they belong to."""
    asked = {call.id for call in messages[index].tool_calls}
    found: dict[str, Message] = {}
    for message in messages[index + 1 :] if asked else ():
        if message.role is not Role.TOOL:
            break
        if message.tool_call_id in asked and message.tool_call_id not in found:
            found[message.tool_call_id] = message
    return found


class _Calls:
    """Tool calls with what became of them; lives for one document."""

    def __init__(self, attempts: Sequence[ToolAttempt]) -> None:
        self._attempts: dict[str, list[ToolAttempt]] = {}
        for attempt in attempts:
            self._attempts.setdefault(attempt.tool_call_id, []).append(attempt)

    def blocks(self, message: Message, results: Mapping[str, Message], *, is_last: bool) -> Iterator[str]:
        """The calls of an answer. `is_last`: nothing follows it but its results."""
        for call in message.tool_calls:
            yield from self._call(call, results.get(call.id), is_last=is_last)

    def _call(self, call: ToolCall, result: Message | None, *, is_last: bool) -> Iterator[str]:
        attempts = self._attempts.get(call.id, [])
        latest = attempts[-1] if attempts else None
        server, tool = (latest.server, latest.tool) if latest else (call.server, call.tool)
        took = duration(between(latest.started_at, latest.finished_at)) if latest else ""
        tried = f"{len(attempts)} attempts" if len(attempts) > 1 else ""
        status = result.tool_status.value if result and result.tool_status else ""
        if result is None:
            status = "no result yet" if is_last else "no result"
        name = code_span(".".join(filter(None, (server, tool)))) or "without a name"
        yield _joined("### Tool call", name, status, took, tried)
        sent = result.sent_args if result is not None else None
        if sent is None:
            sent = latest.args if latest is not None else call.args
        if dict(sent) == dict(call.args):
            yield "Arguments:"
            yield _json(sent)
        else:
            yield "Arguments as they were sent:"
            yield _json(sent)
            yield "The model had asked for:"
            yield _json(call.args)
        if result is not None:
            yield from _result(result)


def _json(value: Mapping[str, Any]) -> str:
    return fenced(json.dumps(dict(value), ensure_ascii=False, indent=2, default=str), "json")


def _outcomes_by_place(transcript: Transcript) -> Mapping[int, Sequence[RunRecord]]:
    """The runs that did not complete, by the message that they come after: their own last one, or where the
    run before them ended; -1 is in front of all messages."""
    last_of = {m.run_id: index for index, m in enumerate(transcript.messages) if m.run_id is not None}
    places: dict[int, list[RunRecord]] = {}
    place = -1
    for record in transcript.runs:
        place = max(place, last_of.get(record.id, -1))
        if record.status in _OUTCOMES:
            places.setdefault(place, []).append(record)
    return places


def _says_it_itself(record: RunRecord, message: Message) -> bool:
    """A stopped answer is marked as such already."""
    stopped = record.status is RunStatus.CANCELLED and record.error_code is None
    return stopped and message.run_id == record.id and message.state is MessageState.STOPPED


def _outcome(record: RunRecord) -> str:
    heading = _joined(
        f"**{_OUTCOMES[record.status]}**", code_span(record.error_code or ""), _moment(record.finished_at)
    )
    words = escaped(record.error_message or "").strip()
    return quoted(f"{heading}\n\n{words}" if words else heading)
