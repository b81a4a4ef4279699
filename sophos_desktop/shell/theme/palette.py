"""Fills Qt's palette from the tokens.

Invariant: what paints by the palette alone (Fusion, `LookStyle`) finds each colour it needs in a role.
"""

from typing import Final

from PySide6.QtGui import QColor, QPalette

from sophos_desktop.shell.theme.tokens import Tokens

_Role = QPalette.ColorRole
FIELD: Final = _Role.Light
HOVER: Final = _Role.Midlight
CONTROL_FRAME: Final = _Role.Mid
FRAME: Final = _Role.Dark
LINE: Final = _Role.Shadow


def palette(tokens: Tokens) -> QPalette:
    """The palette of a theme, for what style sheets do not reach."""
    roles = {
        _Role.Window: tokens.window,
        _Role.WindowText: tokens.text,
        _Role.Base: tokens.paper,
        _Role.AlternateBase: tokens.window,
        _Role.Text: tokens.text,
        _Role.Button: tokens.raised,
        _Role.ButtonText: tokens.text,
        _Role.BrightText: tokens.danger,
        _Role.Highlight: tokens.accent,
        _Role.HighlightedText: tokens.on_accent,
        _Role.Accent: tokens.accent,
        _Role.Link: tokens.accent,
        _Role.LinkVisited: tokens.accent,
        _Role.PlaceholderText: tokens.text_3,
        _Role.ToolTipBase: tokens.tip,
        _Role.ToolTipText: tokens.on_tip,
        FIELD: tokens.raised,
        HOVER: tokens.hover,
        CONTROL_FRAME: tokens.border_control,
        FRAME: tokens.border_strong,
        LINE: tokens.border,
    }
    made = QPalette()
    for role, colour in roles.items():
        made.setColor(role, QColor(colour))
    for role in (_Role.Text, _Role.ButtonText, _Role.WindowText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.disabled))
    return made
