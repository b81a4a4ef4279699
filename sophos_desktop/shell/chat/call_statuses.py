"""Says what the journal knows of calls that have no result.

Invariant: pure, no Qt; only what was decided or sent is said, and of a call that runs again the last attempt.
"""

from collections.abc import Collection, Mapping, Sequence

from sophos_desktop.core.domain.call_records import CallRecord
from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.shell.chat.cards.card_words import decided_status
from sophos_desktop.shell.chat.item_kinds import NOT_RUN, UNRESOLVED, Item, ToolItem
from sophos_desktop.shell.chat.run_facts import message_of


def is_unfinished(item: Item) -> bool:
    """True for a call without a result."""
    return isinstance(item, ToolItem) and (item.status in (None, UNRESOLVED, NOT_RUN) or item.is_asked)


def known_statuses(records: Mapping[str, CallRecord]) -> dict[str, str]:
    """Of calls without a result, while no run goes on: what was decided last, or `unresolved` for what was
    sent and did not come back. By the call's id."""
    known = {key: _status(record) for key, record in records.items()}
    return {key: status for key, status in known.items() if status is not None}


def never_sent(items: Sequence[Item], records: Mapping[str, CallRecord]) -> list[str]:
    """The calls that have no result, and of which the journal knows nothing."""
    unsent = (item for item in items if isinstance(item, ToolItem) and item.status is None)
    return [item.key for item in unsent if item.key not in records]


def unresolved(messages: Sequence[Message], records: Mapping[str, CallRecord]) -> list[str]:
    """The calls that were sent and have neither a result nor a decision."""
    answered = {message.tool_call_id for message in messages}
    found = known_statuses(records).items()
    return [key for key, status in found if status == UNRESOLVED and key not in answered]


def _status(record: CallRecord) -> str | None:
    latest = record.attempts[-1] if record.attempts else None
    number = 0 if latest is None else latest.attempt
    decided = [decision for decision in record.decisions if decision.attempt == number]
    if latest is not None and latest.state == "finished":
        return None  # its result is taken over
    if decided:
        return decided_status(decided[-1].decision)
    return None if latest is None else UNRESOLVED


def asked_together(
    items: Sequence[Item], waiting: Collection[str], records: Mapping[str, CallRecord]
) -> list[str]:
    """The calls of the turns of those that wait which somebody was asked whether they may run, in the order
    they are read."""
    turns = {message_of(key) for key in waiting}
    return [
        item.key
        for item in items
        if isinstance(item, ToolItem)
        and message_of(item.key) in turns
        and (item.status == "asked" or _was_approved(records.get(item.key)))
    ]


def _was_approved(record: CallRecord | None) -> bool:
    return record is not None and any(decision.why == "approval" for decision in record.decisions)
