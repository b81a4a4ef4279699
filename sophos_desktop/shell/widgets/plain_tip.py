"""Tooltips of words that somebody else wrote.

Invariant: they are shown letter by letter: nothing in them is read as markup.
"""

from html import escape


def plain_tip(text: str) -> str:
    """What to give to `setToolTip` so that `text` is shown: Qt takes for HTML what may look like it."""
    if "<" not in text and "&lt;" not in text:
        return text
    return f'<p style="white-space: pre-wrap">{escape(text)}</p>'
