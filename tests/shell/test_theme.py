"""The theme follows the system unless the user chose; its colours can be read, and no others are used."""

import ast
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.look_style import LookStyle
from sophos_desktop.shell.theme.style_sheet import style_sheet
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from tests.support.sources import parsed, python_files, relative

_PLAIN = "window paper raised sunken bubble hover selected"
TEXT_ON: dict[str, str] = {
    "text": f"{_PLAIN} pressed match accent_soft warning_soft danger_soft plum_soft",
    "text_2": f"{_PLAIN} accent_soft warning_soft danger_soft plum_soft",
    "text_3": "window paper raised sunken hover selected",
    "accent": "window paper raised sunken hover selected accent_soft",
    "on_accent": "accent accent_hover accent_pressed",
    "on_danger": "danger danger_hover",
    "success": "window paper raised hover success_soft",
    "warning": "window paper raised hover selected warning_soft",
    "danger": "window paper raised hover selected danger_soft",
    "plum": "window paper raised hover selected plum_soft",
    "on_tip": "tip",
    "code_text": "inline sunken raised",
    **dict.fromkeys(
        (
            "code_comment",
            "code_keyword",
            "code_string",
            "code_number",
            "code_function",
            "code_type",
            "code_deleted",
            "code_inserted",
        ),
        "sunken raised",
    ),
}
PARTS_ON: dict[str, str] = {
    "border_control": "window paper raised",
    "accent": "window paper raised selected pressed border",
    "text_3": "pressed border",
    "warning": "pressed",
    "danger": "pressed",
    **dict.fromkeys(
        ("bar_load", "bar_prompt", "bar_model", "bar_tool", "bar_failed", "bar_broken"), "window selected"
    ),
    "on_accent": "accent",
}
BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
_HEX = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_NAMED = re.compile(r"(?:color|background|border)[\w-]*:\s*(?:white|black|red|green|blue|gr[ae]y|rgb)", re.I)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = (QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(tokens: Tokens, front: str, ground: str) -> float:
    """The contrast of two tokens."""
    lighter, darker = sorted(
        (luminance(getattr(tokens, front)), luminance(getattr(tokens, ground))), reverse=True
    )
    return (lighter + 0.05) / (darker + 0.05)


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    """Each front with each of its grounds."""
    return [(front, ground) for front, grounds in table.items() for ground in grounds.split()]


@BOTH
@pytest.mark.parametrize(("front", "ground"), pairs(TEXT_ON))
def test_text_stands_out_from_its_ground(tokens: Tokens, front: str, ground: str) -> None:
    assert contrast(tokens, front, ground) >= 4.5


@BOTH
@pytest.mark.parametrize(("front", "ground"), pairs(PARTS_ON))
def test_parts_of_controls_stand_out_from_their_ground(tokens: Tokens, front: str, ground: str) -> None:
    assert contrast(tokens, front, ground) >= 3.0


def test_the_contrast_of_black_on_white_is_the_greatest_there_is() -> None:
    assert (luminance("#FFFFFF") + 0.05) / (luminance("#000000") + 0.05) == pytest.approx(21.0)


@BOTH
def test_every_token_is_a_colour_and_the_style_sheet_uses_nothing_else(tokens: Tokens) -> None:
    colours = set(tokens.colours.values())
    assert all(QColor(colour).isValid() for colour in colours)
    used = set(_HEX.findall(style_sheet(tokens)))
    assert len(used) > 20
    assert used <= colours
    assert not _NAMED.findall(style_sheet(tokens))


@BOTH
def test_every_rule_of_the_style_sheet_is_closed(tokens: Tokens) -> None:
    sheet = style_sheet(tokens)
    assert sheet.count("{") == sheet.count("}")
    assert "None" not in sheet


def test_both_themes_have_the_same_tokens_and_cannot_be_changed() -> None:
    assert LIGHT.colours.keys() == DARK.colours.keys()
    with pytest.raises(FrozenInstanceError):
        LIGHT.text = "#000000"  # type: ignore[misc]


def colour_literals(tree: ast.Module) -> list[str]:
    """Strings that hold a colour, colours made from figures, and Qt's named ones."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [
                f"{node.lineno} {word}" for word in _HEX.findall(node.value) + _NAMED.findall(node.value)
            ]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("QColor", "QColor.fromRgb"):
            figures = [part for part in node.args if isinstance(part, ast.Constant)]
            found += [f"{node.lineno} {ast.unparse(node)}" for _ in figures[:1]]
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("Qt.GlobalColor."):
            found += [] if node.attr == "transparent" else [f"{node.lineno} {node.attr}"]
    return found


def test_no_colour_is_named_outside_the_theme() -> None:
    found = {
        relative(path): literals
        for path in python_files("sophos_desktop")
        if "theme" not in Path(relative(path)).parts and (literals := colour_literals(parsed(path)))
    }
    assert found == {}


@pytest.mark.usefixtures("qapp")
def test_who_measures_hears_of_sizes_before_all_hear_of_the_change_and_not_of_colours() -> None:
    window = QWidget()
    theme = Theme(window)
    theme.choose("light")
    heard: list[str] = []
    theme.sizes_changed.connect(lambda: heard.append("sizes"))
    theme.changed.connect(lambda: heard.append("change"))

    theme.choose("dark")
    assert heard == ["change"]
    theme.choose_zoom(150)
    assert heard == ["change", "sizes", "change"]
    theme.choose_zoom(100)
    window.deleteLater()


@pytest.mark.parametrize(
    "source",
    ["x = '#1E6178'", "x = 'color: white'", "QColor(1, 2, 3)", "QColor('red')", "Qt.GlobalColor.red"],
)
def test_a_colour_outside_the_theme_would_be_found(source: str) -> None:
    assert colour_literals(ast.parse(source))


class Polishes(QObject):
    """Counts how often a widget was given another style."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Sees every event of the widget."""
        self.count += event.type() == QEvent.Type.StyleChange
        return super().eventFilter(watched, event)


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


def test_a_switch_polishes_the_window_once_and_a_choice_that_changes_nothing_not_at_all() -> None:
    window = QWidget()
    theme = Theme(window)
    theme.choose("light")
    window.ensurePolished()
    polishes = Polishes(window)
    theme.choose("dark")
    assert polishes.count == 1
    theme.choose("dark")
    assert polishes.count == 1
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


def test_the_application_has_the_looks_own_style_once_a_window_has_a_theme() -> None:
    window = QWidget()
    Theme(window)
    assert isinstance(QApplication.style(), LookStyle)
    window.deleteLater()
