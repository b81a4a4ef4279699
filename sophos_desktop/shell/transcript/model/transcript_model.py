"""The messages of one conversation, in the order they are read, and their segments.

Invariant: the model knows nothing of geometry; whoever changes a message does it here, and each change is
told by one signal. A message keeps its `key` while others come and go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import count
from time import perf_counter

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.model.message_text import MessageText, plain_segments

SLICE_SECONDS = 0.005


class MessageKind(Enum):
    """How a message is shown."""

    USER = "user"  # the text as it is, in a bubble
    ANSWER = "answer"  # the text as Markdown
    CARD = "card"  # a widget that the card factory makes from `payload`


@dataclass(frozen=True, slots=True)
class MessageMeta:
    """What the line below an answer says. `at`: ISO 8601; `reason`: why it ended early, in words;
    `can_continue`: one that was stopped can be gone on with."""

    model: str | None = None
    at: str | None = None
    tokens: int | None = None
    tokens_per_second: float | None = None
    reason: str = ""
    can_continue: bool = True


@dataclass(frozen=True, slots=True)
class MessageImage:
    """An image that a tool returned or the user attached; `key` is for the image provider. `is_thumbnail`: it
    is shown small, at the right."""

    key: str
    name: str = ""
    is_thumbnail: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One entry. `text` is the exact source as of when it was given (`TranscriptModel.source` has what was
    appended since). `payload`: of a card, whatever its factory needs (a tool call, a thinking, an error, a
    notice, a question). `has_footer`: a card (the meta line, chips of attachments) belongs below the text;
    the card factory makes it. `stands_apart`: a card that has nothing to do with the card before it.
    `ends_turn`: False for an answer that asked for tools, after which more is to come."""

    id: str
    kind: MessageKind
    text: str = ""
    is_open: bool = False
    state: MessageState = MessageState.COMPLETE
    meta: MessageMeta = field(default_factory=MessageMeta)
    payload: object = None
    has_footer: bool = False
    stands_apart: bool = False
    ends_turn: bool = True
    images: tuple[MessageImage, ...] = ()


class _Entry:
    """A message and what is known of its text."""

    __slots__ = ("answer", "key", "message", "plain")

    def __init__(self, key: int, message: TranscriptMessage, reader: MarkdownReader) -> None:
        self.key = key
        self.message = message
        self.plain: tuple[Segment, ...] | None = None
        self.answer: MessageText | None = None
        if message.kind is MessageKind.ANSWER:
            self.answer = MessageText(message.text, reader, is_open=message.is_open)

    @property
    def source(self) -> str:
        return self.message.text if self.answer is None else self.answer.source

    @property
    def segments(self) -> Sequence[Segment]:
        if self.answer is None:
            if self.message.kind is MessageKind.CARD:
                return ()
            if self.plain is None:
                self.plain = plain_segments(self.message.text)
            return self.plain
        return self.answer.segments

    def told(self, changed: frozenset[int]) -> frozenset[int]:
        """Of the segments that changed those that are shown: none while all is raw."""
        return frozenset() if self.answer is None or self.answer.is_raw else changed


class TranscriptModel(QObject):
    """Lives as long as its window or longer than one conversation (`reset`); GUI thread."""

    was_reset = Signal()
    inserted = Signal(int, int)  # first, last
    removed = Signal(int, int)  # first, last
    changed = Signal(int)  # anything of a message but text at its end
    grew = Signal(int, object)  # message, frozenset of the segments that are new or changed

    def __init__(self, parent: QObject | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._reader = MarkdownReader()
        self._keys = count(1)
        self._entries: list[_Entry] = []
        self._indices: dict[str, int] = {}

    # Reading.

    def __len__(self) -> int:
        """How many messages there are."""
        return len(self._entries)

    def message(self, index: int) -> TranscriptMessage:
        """The message at `index`; raises IndexError."""
        return self._entries[index].message

    def key(self, index: int) -> int:
        """A number that the message keeps when its index changes; never given twice."""
        return self._entries[index].key

    def index_of(self, message_id: str) -> int | None:
        """The index of a message, or None."""
        return self._indices.get(message_id)

    def index_of_key(self, key: int) -> int | None:
        """The index of the message that has a key, or None; looks through all."""
        return next((index for index, entry in enumerate(self._entries) if entry.key == key), None)

    def source(self, index: int) -> str:
        """The exact text, what was appended included."""
        return self._entries[index].source

    def length(self, index: int) -> int:
        """Characters of the source; cheap."""
        entry = self._entries[index]
        return len(entry.message.text) if entry.answer is None else entry.answer.length

    def segments(self, index: int) -> Sequence[Segment]:
        """The segments of a message; none of a card. Reads the text at once, unless it is huge: then they are
        raw pieces of what is there when they are first asked for, until all is read."""
        return self._entries[index].segments

    def environment(self, index: int) -> MarkdownEnvironment | None:
        """What the segments of an answer say about each other; None for what is no answer."""
        answer = self._entries[index].answer
        return answer.environment if answer is not None else None

    def is_open(self, index: int) -> bool:
        """More of an answer may come."""
        answer = self._entries[index].answer
        return answer is not None and answer.is_open

    def is_raw(self, index: int) -> bool:
        """The segments stand for a huge text that is still being read (`read_on`)."""
        answer = self._entries[index].answer
        return answer is not None and answer.is_raw

    def is_read(self, index: int) -> bool:
        """The segments are those of all that came so far."""
        answer = self._entries[index].answer
        return answer is None or answer.is_read

    # Changing.

    def reset(self, messages: Iterable[TranscriptMessage]) -> None:
        """Another conversation."""
        self._entries = [_Entry(next(self._keys), message, self._reader) for message in messages]
        self._index(0)
        self.was_reset.emit()

    def insert(self, index: int, messages: Sequence[TranscriptMessage]) -> None:
        """Put messages before `index`."""
        if not messages:
            return
        self._entries[index:index] = [_Entry(next(self._keys), message, self._reader) for message in messages]
        self._index(index)
        self.inserted.emit(index, index + len(messages) - 1)

    def remove(self, first: int, last: int) -> None:
        """Take away the messages from `first` to `last`, both included."""
        del self._entries[first : last + 1]
        self._index(first)
        self.removed.emit(first, last)

    def replace(self, index: int, message: TranscriptMessage) -> None:
        """A message changed. If its text only grew at the end, that costs what is new."""
        entry = self._entries[index]
        before = entry.message
        if before == message and entry.source == message.text:
            return
        entry.message = message
        if before.id != message.id:
            self._index(0)
        was_raw = self.is_raw(index)
        grown = self._grow_to(entry, before, message)
        if grown is None:
            self._entries[index] = made = _Entry(entry.key, message, self._reader)
            if made.message.kind is MessageKind.USER and before.text == message.text:
                made.plain = entry.plain
            self.changed.emit(index)
            return
        if grown:
            self._tell(index, grown, was_raw=was_raw)
        if replace(before, text="", is_open=False) != replace(message, text="", is_open=False):
            self.changed.emit(index)

    def append(self, index: int, text: str) -> None:
        """More of an open answer arrived. Raises ValueError for what is no open answer."""
        entry = self._entries[index]
        if entry.answer is None or not entry.answer.is_open:
            raise ValueError("only an open answer grows")
        if text:
            was_raw = entry.answer.is_raw
            changed = entry.answer.append(text, perf_counter() + SLICE_SECONDS)
            self._tell(index, changed, was_raw=was_raw)

    def close(self, index: int) -> None:
        """Nothing more of an answer will come."""
        entry = self._entries[index]
        if entry.answer is not None and entry.answer.is_open:
            entry.message = replace(entry.message, is_open=False, text=entry.source)
            self.grew.emit(index, entry.told(entry.answer.close()))

    def read_on(self, index: int, seconds: float) -> bool:
        """Read more of a huge answer, for about `seconds`; True when all of it is read."""
        answer = self._entries[index].answer
        if answer is None or answer.is_read:
            return True
        was_raw = answer.is_raw
        changed = answer.read(perf_counter() + seconds)
        if was_raw != answer.is_raw or (changed and not was_raw):
            self._tell(index, changed, was_raw=was_raw)
        return answer.is_read

    def _tell(self, index: int, changed: frozenset[int], *, was_raw: bool) -> None:
        """A text grew, or was read at last: then all of it is another one."""
        entry = self._entries[index]
        if was_raw and entry.answer is not None and not entry.answer.is_raw:
            self.changed.emit(index)
        else:
            self.grew.emit(index, entry.told(changed))

    def _grow_to(
        self, entry: _Entry, before: TranscriptMessage, message: TranscriptMessage
    ) -> frozenset[int] | None:
        """Let the text grow to that of `message`; None if it did not just grow."""
        answer = entry.answer
        if answer is None or message.kind is not before.kind:
            return None
        source = answer.source
        if message.text == source:
            grown: frozenset[int] = frozenset()
        elif answer.is_open and message.text.startswith(source):
            grown = answer.append(message.text[len(source) :], perf_counter() + SLICE_SECONDS)
        else:
            return None
        if answer.is_open and not message.is_open:
            grown |= answer.close()
        return None if message.is_open and not answer.is_open else grown

    def _index(self, first: int) -> None:
        if first == 0:
            self._indices = {entry.message.id: index for index, entry in enumerate(self._entries)}
            return
        self._indices = {key: index for key, index in self._indices.items() if index < first}
        for index in range(first, len(self._entries)):
            self._indices[self._entries[index].message.id] = index
