"""Colours the arguments of a call.

Invariant: only formats change, never the text.
"""

import re

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from sophos_desktop.shell.theme.follower import Theme

_PARTS = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<string>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>\b(?:true|false|null)\b)"
)
_COLOURS = {"key": "code_type", "string": "code_string", "number": "code_number", "word": "code_keyword"}
_LONGEST_LINE = 20_000


class JsonColours(QSyntaxHighlighter):
    """Lives as long as its document."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        """Follows the theme."""
        super().__init__(document)
        self._theme = theme
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        """One line; a very long one stays plain."""
        if len(text) > _LONGEST_LINE:
            return
        for match in _PARTS.finditer(text):
            if match.lastgroup is None:
                continue
            coloured = QTextCharFormat()
            coloured.setForeground(QColor(getattr(self._theme.tokens, _COLOURS[match.lastgroup])))
            self.setFormat(match.start(), match.end() - match.start(), coloured)
