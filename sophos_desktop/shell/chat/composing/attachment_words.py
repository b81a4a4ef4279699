"""What is said of an attachment.

Invariant: pure; a size that is estimated has a tilde before it.
"""

from typing import Final

from sophos_desktop.core.domain.attaching import is_image
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.tool_parts import words_of_size

_BYTES_PER_TOKEN: Final = 4
"""Of English text and of code in UTF-8, as tokenizers of chat models have it; other scripts take more."""


def size_words(attachment: AttachmentRef) -> str:
    """`12 kB · ~3,100 tokens`; of an image the size alone, since each model counts it in its own way."""
    size = words_of_size(attachment.size_bytes)
    if is_image(attachment):
        return size
    tokens = _rounded(-(-attachment.size_bytes // _BYTES_PER_TOKEN))
    return f"{size} · ~{tokens:,} token" + ("" if tokens == 1 else "s")


def blind_words(model: str, names: list[str]) -> str:
    """Why these images do not reach the model."""
    if len(names) == 1:
        told, wish = f"{names[0]} was left out", "send it"
    else:
        told, wish = f"{len(names)} were left out", "send them"
    return f"{model} cannot see images; it will be told that {told}. Choose a model with vision to {wish}."


def _rounded(tokens: int) -> int:
    """To two figures: no more is known."""
    if tokens < 100:
        return tokens
    step = int(10 ** (len(str(tokens)) - 2))
    return round(tokens / step) * step
