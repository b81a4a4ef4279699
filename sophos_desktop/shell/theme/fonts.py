"""Chooses fonts: the families of the look where they are installed, the system's otherwise."""

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from sophos_desktop.shell.theme.tokens import CODE_FAMILIES, TEXT_FAMILIES


def text_font(size: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of running text, `size` in pixels."""
    font = QFont(_first_installed(TEXT_FAMILIES, QFontDatabase.SystemFont.GeneralFont))
    font.setPixelSize(size)
    font.setWeight(weight)
    return font


def code_font(size: int) -> QFont:
    """The monospaced font, `size` in pixels."""
    font = QFont(_first_installed(CODE_FAMILIES, QFontDatabase.SystemFont.FixedFont))
    font.setPixelSize(size)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


@cache
def _first_installed(families: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> str:
    installed = set(QFontDatabase.families())
    for family in families:
        if family in installed:
            return family
    return QFontDatabase.systemFont(fallback).family()
