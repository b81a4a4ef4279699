"""What composers hold of one conversation, where several windows may be open on it.

Invariant: the shared draft is what is shown to whoever opens the conversation; a text that would take the
place of another one is kept beside it, by the process whose window holds it. Neither ends the other.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """`text`: what this process's composer is to hold; `shared`: the shared draft, the same text unless
    another window has written that."""

    text: str = ""
    shared: str = ""

    @property
    def other(self) -> str:
        """What another window has written that `text` does not hold; nothing where there is no `text`."""
        return self.shared if self.text.strip() and not holds(self.text, self.shared) else ""


def holds(text: str, part: str) -> bool:
    """True if nothing of `part` is lost where `text` takes its place: from the beginning of one of its lines
    on `text` says the same, empty lines and the blanks around lines aside. Nothing is held by everything."""
    return f"\n{_lines(part)}" in f"\n{_lines(text)}"


def together(first: str, second: str) -> str:
    """Both texts, one below the other, or the one that holds the other."""
    if holds(first, second):
        return first
    return second if holds(second, first) else f"{first}\n\n{second}"


def as_stored(text: str) -> str:
    """The text as the store gives it back: half a surrogate pair, which is no character, becomes `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _lines(text: str) -> str:
    return "\n".join(stripped for line in text.splitlines() if (stripped := line.strip()))
