"""What the painter needs of a theme: the style of documents at a zoom, and the colours around them.

Invariant: all comes from the theme's tokens; nothing is named here twice.
"""

from dataclasses import dataclass, fields, replace

from PySide6.QtGui import QColor, QFont

from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme

_UNSCALED = frozenset({"pixel_ratio"})


@dataclass(frozen=True, slots=True)
class Looks:
    """`style` is for documents; `zoom` multiplies every length. `card_size` is the size of type in cards,
    which are widgets and follow the interface by themselves."""

    tokens: Tokens
    style: TranscriptTheme
    zoom: float = 1.0
    card_size: int = TYPE.interface.size

    @classmethod
    def of(cls, tokens: Tokens, zoom: float = 1.0, pixel_ratio: float = 1.0) -> "Looks":
        """The looks of a theme; `pixel_ratio` is the screen's."""
        role_font(tokens.type.reading)  # the shipped fonts are loaded with the first font
        card_size = tokens.type.interface.size
        tokens = tokens.at_full_size()  # what is painted has a zoom of its own
        style = TranscriptTheme.of(tokens)
        if zoom != 1.0:
            style = replace(
                style,
                **{
                    field.name: max(1, round(getattr(style, field.name) * zoom))
                    for field in fields(style)
                    if isinstance(getattr(style, field.name), int) and field.name not in _UNSCALED
                },
            )
        return cls(tokens, replace(style, pixel_ratio=pixel_ratio), zoom, card_size)

    def is_as_large_as(self, other: "Looks") -> bool:
        """Whether nothing needs another place because of these looks."""
        return self.zoom == other.zoom and self.card_size == other.card_size

    def scaled(self, length: float) -> int:
        """A length at this zoom."""
        return round(length * self.zoom)

    def font(self, role: TypeRole) -> QFont:
        """The font of a role at this zoom."""
        made = role_font(role)
        made.setPixelSize(max(1, self.scaled(role.size)))
        return made

    def colour(self, name: str) -> QColor:
        """The colour of a token."""
        return QColor(str(getattr(self.tokens, name)))
