"""Keeps the transcript's model in step with the items of the open conversation.

Invariant: what did not change is not touched: an item that is the same object as before costs a look, and an
answer that grows costs what is new of it. The model is changed here alone; room at its end is no item's.
"""

from bisect import bisect_right
from collections.abc import Sequence

from sophos_desktop.shell.chat.item_kinds import PENDING_KEY, AnswerItem, Item
from sophos_desktop.shell.chat.transcript_rows import is_boundary, rows_of, rows_of_one
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage, TranscriptModel


class ShownRows:
    """Lives as long as its model."""

    def __init__(self, model: TranscriptModel) -> None:
        """`model` is empty."""
        self._model = model
        self._items: list[Item] = []
        self._starts: list[int] = []
        self._has_room = False

    @property
    def has_room(self) -> bool:
        """The last entry is room."""
        return self._has_room

    def show_room(self, room: TranscriptMessage | None) -> None:
        """Put this entry at the end, in the place of what was put there before; None takes it away."""
        had_room, self._has_room = self._has_room, room is not None
        last = len(self._model) - 1
        if room is None:
            if had_room:
                self._model.remove(last, last)
        elif had_room:
            self._model.replace(last, room)
        else:
            self._model.insert(last + 1, [room])

    def open(self, items: Sequence[Item]) -> None:
        """Another conversation."""
        rows, self._starts = rows_of(items)
        self._items = list(items)
        self._has_room = False
        self._model.reset(rows)

    def show(self, items: Sequence[Item]) -> None:
        """The conversation as it is now."""
        before, now = self._items, list(items)
        head = _common(before, now)
        if head == len(before) == len(now):
            return
        while head > 0 and not is_boundary(now[head - 1]):
            head -= 1
        most = min(len(before), len(now)) - head
        tail = _common(before[: -most - 1 : -1], now[: -most - 1 : -1]) if most else 0
        while tail > 0 and not is_boundary(now[-tail]):
            tail -= 1
        rows, starts = rows_of(now[head : len(now) - tail])
        first, last = self._start(head), self._start(len(before) - tail)
        moved = first + len(rows) - last
        kept = self._starts[len(before) - tail :]
        self._starts[head:] = [first + start for start in starts]
        self._starts += [start + moved for start in kept]
        self._items = now
        self._sync(first, last, rows)

    def _start(self, item: int) -> int:
        """How many entries stand before an item."""
        if item < len(self._starts):
            return self._starts[item]
        return len(self._model) - self._has_room

    def grow(self, item: AnswerItem) -> bool:
        """The last item grew at its end; False if more than that changed, and `show` has to look."""
        before = self._items[-1] if self._items else None
        if not isinstance(before, AnswerItem) or before.key != item.key or not before.live:
            return False
        if bool(before.text) != bool(item.text) or bool(before.thinking) != bool(item.thinking):
            return False
        self._items[-1] = item
        if len(item.thinking) != len(before.thinking):
            row = rows_of_one(item)[0]
            self._model.replace(self._starts[-1], row)
        index = self._model.index_of(item.key)
        if item.text and index is not None:
            self._model.append(index, item.text[self._model.length(index) :])
        return True

    def items_of(self, rows: range) -> Sequence[Item]:
        """The items that these entries belong to."""
        if not rows or not self._starts:
            return ()
        first = bisect_right(self._starts, rows.start) - 1
        while first > 0 and self._starts[first - 1] == self._starts[first]:
            first -= 1
        return self._items[max(0, first) : bisect_right(self._starts, rows.stop - 1)]

    def _sync(self, first: int, last: int, rows: Sequence[TranscriptMessage]) -> None:
        """Make the entries from `first` to before `last` those of `rows`, with the fewest changes."""
        model = self._model
        wanted = {row.id for row in rows}
        index, count = first, last - first
        for place, row in enumerate(rows):
            known = model.index_of(row.id)
            if known is not None and index < known < first + count:
                model.remove(index, known - 1)
                count -= known - index
            at = model.message(index).id if index < first + count else None
            if at == row.id or (at == PENDING_KEY and at not in wanted):
                model.replace(index, row)
                index += 1
                continue
            if at is None:
                model.insert(index, rows[place:])
                return
            model.insert(index, [row])
            index, count = index + 1, count + 1
        if index < first + count:
            model.remove(index, first + count - 1)


def _common(before: Sequence[Item], now: Sequence[Item]) -> int:
    """How many items at the beginning are the same objects."""
    count = 0
    for one, other in zip(before, now, strict=False):
        if one is not other:
            return count
        count += 1
    return count
