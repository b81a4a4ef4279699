"""Where a tool server's trust comes from, in words.

Invariant: standard library only; the values are the contract's words.
"""

from enum import StrEnum


class Trust(StrEnum):
    """Where a server's trust comes from, or why it has none."""

    BUILT_IN = "built_in"
    FILE = "file"
    USER = "user"
    CHANGED = "changed"
    NONE = "none"

    @property
    def counts(self) -> bool:
        """True if the server's own hints count."""
        return self in (Trust.BUILT_IN, Trust.FILE, Trust.USER)

    @property
    def words(self) -> str:
        """What a person reads."""
        return _WORDS[self]


_WORDS = {
    Trust.BUILT_IN: "built in",
    Trust.FILE: "trusted in mcp.json",
    Trust.USER: "trusted",
    Trust.CHANGED: "no longer trusted, it has changed",
    Trust.NONE: "not trusted",
}
