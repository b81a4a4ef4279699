"""The theme follows the system unless the user chose; its colours can be read."""

from dataclasses import fields

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.style_sheet import style_sheet
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens

PAIRS = (
    ("text", "paper"),
    ("text", "bubble"),
    ("text_2", "danger_soft"),
    ("text_2", "plum_soft"),
    ("text_2", "warning_soft"),
    ("text_2", "accent_soft"),
    ("text_3", "paper"),
    ("text_3", "selected"),
    ("accent", "paper"),
    ("on_accent", "accent"),
    ("danger", "selected"),
    ("plum", "selected"),
    ("warning", "selected"),
    ("code_text", "sunken"),
    ("on_tip", "tip"),
)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = (QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_stands_out_from_its_ground(tokens: Tokens, text: str, ground: str) -> None:
    lighter, darker = sorted(
        (luminance(getattr(tokens, text)), luminance(getattr(tokens, ground))), reverse=True
    )
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_every_token_is_a_colour_and_the_style_sheet_uses_nothing_else(tokens: Tokens) -> None:
    colours = {getattr(tokens, field.name) for field in fields(tokens) if field.name != "name"}
    assert all(QColor(colour).isValid() for colour in colours)
    words = style_sheet(tokens).replace(";", " ").split()
    used = {word for word in words if word.startswith("#") and len(word) == 7 and QColor(word).isValid()}
    assert used <= colours


def test_a_chosen_theme_is_applied_at_once_and_told() -> None:
    window = QWidget()
    theme = Theme(window)
    told: list[str] = []
    theme.changed.connect(lambda: told.append(theme.tokens.name))
    theme.choose("dark")
    theme.choose("light")
    assert told == ["dark", "light"]
    assert window.palette().color(QPalette.ColorRole.Window).name().upper() == LIGHT.window
    window.deleteLater()


def test_the_systems_scheme_is_followed_while_nothing_was_chosen() -> None:
    window = QWidget()
    theme = Theme(window)
    before = theme.tokens
    QGuiApplication.styleHints().colorSchemeChanged.emit(QGuiApplication.styleHints().colorScheme())
    assert theme.tokens is before
    theme.choose("dark")
    QGuiApplication.styleHints().colorSchemeChanged.emit(QGuiApplication.styleHints().colorScheme())
    assert theme.tokens is DARK
    window.deleteLater()
