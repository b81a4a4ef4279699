"""What the reader opened and closed in the cards of a conversation.

Invariant: a part is as it is by default until the reader says otherwise. It outlives the widgets, which come
and go with scrolling.
"""

from dataclasses import dataclass, field

from sophos_desktop.shell.transcript.cards.json_text import Path


@dataclass(slots=True)
class Said:
    """What the reader said of the cards of one conversation, by their keys."""

    open: dict[str, bool] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    folds: dict[str, frozenset[Path]] = field(default_factory=dict)


class CardStates:
    """Lives as long as its view."""

    def __init__(self) -> None:
        """Nothing said yet."""
        self._said = Said()

    def exchange(self, said: Said) -> Said:
        """Another conversation; gives what was said of the one before."""
        before, self._said = self._said, said
        return before

    @property
    def opened(self) -> tuple[str, ...]:
        """The keys of what the reader opened."""
        return tuple(key for key, is_open in self._said.open.items() if is_open)

    def is_open(self, key: str, *, default: bool = False) -> bool:
        """Whether a part is open."""
        return self._said.open.get(key, default)

    def set_open(self, key: str, *, is_open: bool) -> None:
        """The reader opened or closed a part."""
        self._said.open[key] = is_open

    def shows_all(self, key: str) -> bool:
        """Whether the whole of a long part is shown."""
        return key in self._said.whole

    def show_all(self, key: str, *, is_whole: bool = True) -> None:
        """Show the whole of a long part, or its beginning again."""
        if is_whole:
            self._said.whole.add(key)
        else:
            self._said.whole.discard(key)

    def folds(self, key: str) -> frozenset[Path] | None:
        """What is folded in a part; None if the reader did not fold there."""
        return self._said.folds.get(key)

    def set_folds(self, key: str, folds: frozenset[Path]) -> None:
        """What is folded in a part now."""
        self._said.folds[key] = folds
