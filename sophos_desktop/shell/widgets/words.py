"""Makes words fit for labels."""

import re

_ZERO_WIDTH_SPACE = "\u200b"


def breakable(text: str, longest: int = 24) -> str:
    """Let words over `longest` characters break: a label cannot wrap inside one. Not for what is copied."""
    return re.sub(rf"(\S{{{longest}}})(?=\S)", rf"\1{_ZERO_WIDTH_SPACE}", text)
