"""Makes the fonts of the type roles from the files that are shipped, at the interface's size.

Invariant: the shipped files are loaded once a process, before the first font is made; where one is missing,
the first installed family of a list stands in. Scripts that Inter lacks are the system's. How large the
interface is stands in one place, the application's font: all that Qt sets by itself follows it too.
"""

from functools import cache, lru_cache
from math import ceil

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from sophos_desktop.foundation.resources import resource
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole, grown

_TEXT_FAMILIES = ("Inter", "Segoe UI", "SF Pro Text", "Noto Sans", "DejaVu Sans")
_CODE_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Noto Sans Mono", "DejaVu Sans Mono")
_TABULAR = "tnum"
_LIGATURES = ("liga", "calt", "clig")


def interface_scale() -> float:
    """How many times as large as at 100 % the interface is."""
    size = QGuiApplication.font().pixelSize()  # -1 before there is an application of ours
    return size / TYPE.interface.size if size > 0 else 1.0


def role_size(role: TypeRole) -> int:
    """The size of a role in the interface, in pixels."""
    return max(1, round(role.size * interface_scale()))


def role_line(role: TypeRole) -> int:
    """The line height of a role in the interface, in pixels."""
    return max(1, ceil(role.line * interface_scale()))


def row_height(measure: int, role: TypeRole = TYPE.interface) -> int:
    """The height of a row that is `measure` high at 100 % and holds a line of `role` (LOOK 10)."""
    return grown(measure, role.size, interface_scale())


def wide(measure: int) -> int:
    """The width of a part of the window that holds the interface's type, never less than at 100 %."""
    return round(measure * max(1.0, interface_scale()))


def role_font(role: TypeRole) -> QFont:
    """The font of a role (one of `TYPE`) at the interface's size; it is the caller's own."""
    return QFont(_role_font(role, QGuiApplication.font().pixelSize(), _hinting()))


@lru_cache(maxsize=64)  # asked for at each paint; a few roles at a few sizes
def _role_font(role: TypeRole, _interface_pixels: int, _hinting: QFont.HintingPreference) -> QFont:
    weight = QFont.Weight(role.weight)
    font = code_font(role.size, weight) if role.is_code else text_font(role.size, weight)
    if role.is_tabular:
        font.setFeature(QFont.Tag(_TABULAR), 1)
    if role.spacing:
        font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, role.spacing)
    return font


def application_font(size: int) -> QFont:
    """The font to give to the application when the interface is to have `size` pixels."""
    font = QFont(_first_installed(_TEXT_FAMILIES, QFontDatabase.SystemFont.GeneralFont))
    font.setPixelSize(size)
    font.setHintingPreference(_hinting())
    return font


def text_font(size: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of running text, `size` in pixels at 100 %."""
    font = application_font(max(1, round(size * interface_scale())))
    font.setWeight(weight)
    return font


def code_font(size: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The monospaced font without ligatures, `size` in pixels at 100 %: code is shown letter by letter."""
    font = QFont(_first_installed(_CODE_FAMILIES, QFontDatabase.SystemFont.FixedFont))
    font.setPixelSize(max(1, round(size * interface_scale())))
    font.setWeight(weight)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setHintingPreference(_hinting())
    for feature in _LIGATURES:
        font.setFeature(QFont.Tag(feature), 0)
    return font


def _hinting() -> QFont.HintingPreference:
    """None where a pixel is small enough; upright at 100 %, where stems would blur without it."""
    screen = QGuiApplication.primaryScreen()
    if screen is not None and screen.devicePixelRatio() > 1:
        return QFont.HintingPreference.PreferNoHinting
    return QFont.HintingPreference.PreferVerticalHinting


@cache
def _first_installed(families: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> str:
    _load_shipped()
    installed = set(QFontDatabase.families())
    for family in families:
        if family in installed:
            return family
    return QFontDatabase.systemFont(fallback).family()


@cache
def _load_shipped() -> None:
    """Make the shipped files known to Qt; one that cannot be read only leaves its family out."""
    for file in sorted(resource("fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(file))
