"""What the reader opened and closed in the cards of a conversation.

Invariant: a part is as it is by default until the reader says otherwise. It outlives the widgets, which come
and go with scrolling.
"""

from sophos_desktop.shell.transcript.cards.json_text import Path


class CardStates:
    """Lives as long as its conversation is on the screen."""

    def __init__(self) -> None:
        """Nothing said yet."""
        self._open: dict[str, bool] = {}
        self._whole: set[str] = set()
        self._folds: dict[str, frozenset[Path]] = {}

    def clear(self) -> None:
        """Another conversation."""
        self._open.clear()
        self._whole.clear()
        self._folds.clear()

    def is_open(self, key: str, *, default: bool = False) -> bool:
        """Whether a part is open."""
        return self._open.get(key, default)

    def set_open(self, key: str, *, is_open: bool) -> None:
        """The reader opened or closed a part."""
        self._open[key] = is_open

    def shows_all(self, key: str) -> bool:
        """Whether the whole of a long part is shown."""
        return key in self._whole

    def show_all(self, key: str, *, is_whole: bool = True) -> None:
        """Show the whole of a long part, or its beginning again."""
        if is_whole:
            self._whole.add(key)
        else:
            self._whole.discard(key)

    def folds(self, key: str) -> frozenset[Path] | None:
        """What is folded in a part; None if the reader did not fold there."""
        return self._folds.get(key)

    def set_folds(self, key: str, folds: frozenset[Path]) -> None:
        """What is folded in a part now."""
        self._folds[key] = folds
