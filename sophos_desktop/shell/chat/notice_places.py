"""Puts the lines that belong between messages into their places: notices, and why a question has no answer.

Invariant: pure, no Qt; a line stands where its run told of it, a failure at the end of its turn, whether it
was seen here or is read from the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sophos_desktop.core.domain.run import LeftFailure
from sophos_desktop.shell.chat.item_kinds import Item, NoticeItem, NoticeTone
from sophos_desktop.shell.chat.run_facts import PlacedNotice, message_of
from sophos_desktop.shell.chat.run_words import error_of_run


@dataclass(frozen=True, slots=True)
class PlacedFailure:
    """The line of a run that failed for good: before the message that was sent instead, if that is there,
    else after the last of what belongs to `after`."""

    item: NoticeItem
    after: str | None
    before: str | None = None


def failure_line(run_id: str, title: str, code: str) -> NoticeItem:
    """What stays of an error card."""
    return NoticeItem(f"{run_id}/failed", f"{title} · {code}", NoticeTone.FAILED)


def stored_failure(failure: LeftFailure) -> PlacedFailure:
    """As it is read from the store."""
    error = error_of_run(failure.error_code, failure.error_message)
    line = failure_line(failure.run_id, error.title, str(error.code))
    return PlacedFailure(line, failure.input_message_id, failure.next_message_id)


def offer_the_rest(items: list[Item], known: NoticeItem | None) -> NoticeItem | None:
    """Let the line that says that the last answer was cut ask for the rest, in `items`; gives it, `known` if
    it says the same."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if not isinstance(item, NoticeItem):
            return None
        if item.tone is NoticeTone.CUT:
            offer = replace(item, can_continue=True)
            if known == offer:
                offer = known  # the same object: the transcript shows anew what is another
            items[place] = offer
            return offer
    return None


def with_lines(
    items: dict[str, Item], notices: Sequence[PlacedNotice], failures: Sequence[PlacedFailure]
) -> list[Item]:
    """The items in their order with the lines between them; what belongs nowhere is at the end, and a failure
    whose turn is not there is left out."""
    last = {message_of(key): key for key in items}
    first = {message_of(key): key for key in reversed(items)}
    after: dict[str, list[Item]] = {}
    before: dict[str, list[Item]] = {}
    rest: list[Item] = []
    for failure in failures:
        if failure.before in first:
            before.setdefault(first[failure.before], []).append(failure.item)
    for placed in notices:
        if placed.after in last:
            here = after.setdefault(last[placed.after], [])
        elif placed.before in first:
            here = before.setdefault(first[placed.before], [])
        else:
            here = rest
        # Each sitting of a run tells again what it took over: once is enough at one place.
        if all(item.text != placed.item.text for item in here if isinstance(item, NoticeItem)):
            here.append(placed.item)
    for failure in failures:
        if failure.before not in first and failure.after in last:
            after.setdefault(last[failure.after], []).append(failure.item)
    found: list[Item] = []
    for key, item in items.items():
        found += (*before.get(key, ()), item, *after.get(key, ()))
    return found + rest
