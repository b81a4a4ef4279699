"""Knows what the segments of one answer say about each other: link definitions and footnotes.

Invariant: they hold for the whole answer, whichever segment they stand in and however late they come, and the
same segments always give the same readings. No Qt.
"""

import re
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sophos_desktop.shell.transcript.markdown.piece_reading import read_segment
from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.text.drawable_text import drawable

if TYPE_CHECKING:
    from markdown_it.token import Token

_LABEL = re.compile(r"\[([^\[\]]{1,300})\]")


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What a segment says that concerns others, and what in it others may change. `silent_end`: where one
    ends that shows nothing, since it is definitions alone."""

    labels: frozenset[str] = frozenset()
    definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    footnotes: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    silent_end: int | None = None

    @property
    def notes(self) -> tuple[object, ...]:
        return (self.footnotes, self.references)


_NOTHING = _Mentions()


class MarkdownEnvironment:
    """Lives as long as its answer is shown."""

    def __init__(self, reader: MarkdownReader | None = None) -> None:
        """Empty; all answers may share a reader."""
        self._reader = reader or MarkdownReader()
        self._mentions: dict[int, _Mentions] = {}
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._definers: dict[str, list[int]] = {}  # the segments that define a label, ascending
        self._numbers: dict[str, int] = {}
        self._places: dict[str, int] = {}
        self._lead: tuple[str, list[Token]] = ("", [])

    def update(self, segments: Sequence[Segment], changed: Iterable[int]) -> frozenset[int]:
        """Learn what `changed` segments (indices) say; call it before they are built.

        Gives the indices of other segments that must be built again.
        """
        labels: set[str] = set()
        are_notes_told = False
        looked_at = set(changed)
        for index in looked_at:
            before = self._mentions.get(index, _NOTHING)
            now = self._mentions_of(segments[index]) if index < len(segments) else _NOTHING
            if now is _NOTHING:
                self._mentions.pop(index, None)
            else:
                self._mentions[index] = now
            if before.definitions != now.definitions:
                labels |= self._redefine(index, before.definitions, now.definitions)
            are_notes_told = are_notes_told or before.notes != now.notes
        if are_notes_told:
            labels |= self._count_notes()
        if not labels:
            return frozenset()
        return frozenset(
            index
            for index, mentions in self._mentions.items()
            if index not in looked_at and not labels.isdisjoint(mentions.labels)
        )

    def footnote_number(self, label: str) -> int | None:
        """Counted from 1 in the order of the references; None while there is no such footnote."""
        return self._numbers.get(label)

    def footnote_place(self, label: str) -> int | None:
        """The index of the segment that holds the footnote."""
        return self._places.get(label)

    def shows_nothing(self, segment: Segment) -> bool:
        """Whether a segment is known to be blank lines or definitions alone: a view looks through thousands
        of them for something to show."""
        if segment.kind not in (SegmentKind.BLOCKS, SegmentKind.TEXT) or segment.containers:
            return False
        silent_end = self._mentions.get(segment.index, _NOTHING).silent_end
        return silent_end == segment.end or not segment.text.strip()

    def read(self, segment: Segment) -> "list[Token]":
        """The block tokens of a segment; later pieces of a table have its head again."""
        if self.shows_nothing(segment):
            return []
        return self._reader.readings.tokens(
            self, segment, lambda: read_segment(self._reader, segment, self._definitions)
        )

    def read_lead(self, segment: Segment) -> "list[Token]":
        """The tokens of the first piece of a table, for one of its later pieces."""
        lead, tokens = self._lead
        if lead != segment.lead:
            source = segment.lead.replace("\r\n", "\n").replace("\r", "\n")
            tokens = self._reader.blocks(source, {"references": self._definitions})
            self._lead = (segment.lead, tokens)
        return tokens

    def _redefine(
        self, index: int, before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
    ) -> set[str]:
        """A segment defines other labels than before; gives those whose meaning changed."""
        changed: set[str] = set()
        for label in before.keys() | now.keys():
            definers = self._definers.setdefault(label, [])
            if label in before:
                definers.remove(index)
            if label in now:
                insort(definers, index)
            was = self._definitions.pop(label, None)
            if definers:
                self._definitions[label] = self._mentions[definers[0]].definitions[label]
            else:
                del self._definers[label]
            if self._definitions.get(label) != was:
                changed.add(label)
        if changed:
            self._reader.readings.forget(self)
        return changed

    def _count_notes(self) -> set[str]:
        """Number the footnotes anew; gives the labels whose number changed."""
        places: dict[str, int] = {}
        for index in sorted(self._mentions):
            for label in self._mentions[index].footnotes:
                places.setdefault(label, index)
        numbers: dict[str, int] = {}
        for index in sorted(self._mentions):
            for label in self._mentions[index].references:
                if label in places:
                    numbers.setdefault(label, len(numbers) + 1)
        for label in places:
            numbers.setdefault(label, len(numbers) + 1)
        labels = {_normalized("^" + label) for label in _differing(self._numbers, numbers)}
        self._numbers, self._places = numbers, places
        return labels

    def _mentions_of(self, segment: Segment) -> _Mentions:
        text = segment.text
        if segment.kind is SegmentKind.CODE or "[" not in text:
            return _NOTHING
        labels = frozenset(_normalized(found) for found in set(_LABEL.findall(drawable(text))))
        inline_only = segment.kind is SegmentKind.TEXT
        # What goes on with a paragraph defines nothing.
        if "[^" not in text and (inline_only or "]:" not in text):
            return _Mentions(labels) if labels else _NOTHING
        environment: dict[str, Any] = {}
        if inline_only or "]:" not in text:
            tokens = self.read(segment)  # what refers to a footnote does so whatever is defined
        else:
            tokens = self._reader.blocks(segment.body, environment)
        found = {
            label: {"href": definition["href"], "title": definition["title"]}
            for label, definition in environment.get("references", {}).items()
        }
        all_tokens = list(_walk(tokens))
        return _Mentions(
            labels,
            found,
            _labels(all_tokens, "footnote_reference_open"),
            _labels(all_tokens, "footnote_ref"),
            None if tokens or inline_only or segment.containers else segment.end,
        )


def _walk(tokens: "Iterable[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        if token.children:
            yield from _walk(token.children)


def _labels(tokens: "Iterable[Token]", kind: str) -> tuple[str, ...]:
    """Each once, in the order that they are first met in."""
    return tuple(dict.fromkeys(token.meta["label"] for token in tokens if token.type == kind))


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def _normalized(label: str) -> str:
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)
