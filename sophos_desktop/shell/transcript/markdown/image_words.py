"""What an image that is not loaded says of itself.

Invariant: the words are text that a person sees as it is: bounded, in one line, and with the escapes of JSON
for what is not seen or turns the direction. No Qt.
"""

from typing import TYPE_CHECKING

from sophos_desktop.shell.transcript.text.drawable_text import as_written, escaped

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_WORDS = 300  # characters
_LONGEST_ADDRESS = 80


def image_words(token: "Token") -> str:
    """The words that stand for the image of a token, without the marks around them; empty if it has none."""
    text = token.content if token.children is None else "".join(_text_of(child) for child in token.children)
    words = " ".join(escaped(as_written(" ".join(text.split()))).split())
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1].rstrip()}…"


def shown_address(address: str) -> str:
    """An address without its middle, if it is long."""
    shown = escaped(as_written(address))
    if len(shown) <= _LONGEST_ADDRESS:
        return shown
    half = _LONGEST_ADDRESS // 2
    return f"{shown[:half]}…{shown[-half:]}"


def _text_of(token: "Token") -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return image_words(token)
    return token.content
