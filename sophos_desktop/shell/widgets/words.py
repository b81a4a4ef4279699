"""Makes words fit for labels."""

import re

_ZERO_WIDTH_SPACE = "\u200b"


def breakable(text: str, longest: int = 24) -> str:
    """Let words over `longest` characters break: a label cannot wrap inside one. Not for what is copied.

    Those of ASCII break anywhere, so that lines are full; elsewhere a letter may need its neighbour."""
    text = re.sub(rf"[!-~]{{{longest + 1},}}", lambda found: _ZERO_WIDTH_SPACE.join(found[0]), text)
    return re.sub(rf"([^\s{_ZERO_WIDTH_SPACE}]{{{longest}}})(?=\S)", rf"\1{_ZERO_WIDTH_SPACE}", text)
