"""Remembers what was sent until the thread holds it.

Invariant: a text leaves this memory only when a stored message says it, or when it is given back.
"""

from sophos_desktop.shell.chat.items import TranscriptItems


class SentTexts:
    """Lives as long as its window; one text per conversation, since one run works there at a time."""

    def __init__(self) -> None:
        """Nothing sent yet."""
        self._sent: dict[str, tuple[str, int]] = {}  # the text, and how often the thread said it before

    def remember(self, conversation_id: str, text: str, items: TranscriptItems) -> None:
        """`text` was sent; `items` show the thread without it."""
        self._sent[conversation_id] = (text, items.count_user_text(text))

    def take_back(self, conversation_id: str, items: TranscriptItems) -> str:
        """The text that never reached the thread, or nothing; `items` show the thread after the run."""
        text, count = self._sent.pop(conversation_id, ("", 0))
        return "" if items.count_user_text(text) > count else text


def without_sent(held: str, sent: str) -> str:
    """What the composer holds beside the text that was sent: a draft before it, or more typed after it."""
    if held.startswith(sent):
        return held[len(sent) :].lstrip("\n")
    return held[: -len(sent)].rstrip("\n") if held.endswith(sent) else held
