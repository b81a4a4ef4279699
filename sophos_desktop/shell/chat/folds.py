"""What the reader opened and closed in the transcript.

Invariant: a block is as it is by default until the reader says otherwise; addresses made here never come from
an answer, whose links have other schemes.
"""

from dataclasses import dataclass, field

FOLD_SCHEME = "sophos-fold"
ALL_SCHEME = "sophos-all"


def fold_address(key: str) -> str:
    """The link that opens and closes the block of an item."""
    return f"{FOLD_SCHEME}:{key}"


def all_address(key: str) -> str:
    """The link that shows the whole of a long part."""
    return f"{ALL_SCHEME}:{key}"


@dataclass(slots=True)
class Folds:
    """Lives as long as one conversation is on the screen."""

    _said: dict[str, bool] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)

    def is_open(self, key: str, *, default: bool) -> bool:
        """Whether the block of an item is open."""
        return self._said.get(key, default)

    def shows_all(self, part: str) -> bool:
        """Whether a long part is shown whole."""
        return part in self._whole

    def set_open(self, key: str, *, is_open: bool) -> None:
        """The reader opened or closed a block."""
        self._said[key] = is_open

    def show_all(self, part: str) -> None:
        """The reader wants a long part whole."""
        self._whole.add(part)

    def clear(self) -> None:
        """Another conversation."""
        self._said.clear()
        self._whole.clear()
