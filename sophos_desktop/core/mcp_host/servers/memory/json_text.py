"""JSON as `JSON.stringify` writes it, because the reference server does.

Invariant: the texts are what JavaScript gives, byte for byte once encoded: no escape that is not needed, half
of a surrogate pair as `\\udXXX`. So a text made here always encodes as UTF-8.
"""

import json
from collections.abc import Iterable
from json.encoder import encode_basestring


def compact(value: object) -> str:
    """A value without white space."""
    return mended(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def pretty(value: object) -> str:
    """A value indented by two. Slow: Python's own encoder serves no indentation."""
    return mended(json.dumps(value, ensure_ascii=False, indent=2))


def quoted(text: str) -> str:
    """A text in quotation marks."""
    return mended(encode_basestring(text))


def mended(text: str) -> str:
    """JSON text with halves of surrogate pairs escaped, as JavaScript does."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def pretty_list(items: Iterable[str], pad: str) -> str:
    """Items that are indented already, in brackets; the closing one stands at `pad`."""
    joined = ",\n".join(items)
    return f"[\n{joined}\n{pad}]" if joined else "[]"
