"""Makes text of servers safe to show: names, descriptions, log lines.

Invariant: what comes out has no character that moves, hides or reorders other text (control characters,
terminal sequences, bidirectional overrides, invisible ones), and has the length that was asked for.
"""

import hashlib
import re

_TERMINAL_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_HASH_LENGTH = 10


def shown(text: str, length: int | None = None) -> str:
    """The text without what is hidden in it, at most so many characters; line breaks and tabs stay."""
    if length is not None:
        text = text[: 2 * length]  # cut before the search too: the text may have 60 MB
    cleaned = _HIDDEN.sub("", _TERMINAL_SEQUENCE.sub("", text.replace("\r\n", "\n")))
    return cleaned if length is None or len(cleaned) <= length else cleaned[: length - 1] + "…"


def shown_line(text: str, length: int | None = None) -> str:
    """The same on one line."""
    return shown(" ".join(text.split()) if "\n" in text or "\t" in text or "\r" in text else text, length)


def shown_name(name: str) -> str:
    """A name to show and to refer to. It is the name itself, or, where that hides something, what can be
    seen of it with a hash of the whole: a function of the name, so two names never share one."""
    visible = shown_line(name)
    if visible == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    return f"{visible.strip()}_{digest}"
