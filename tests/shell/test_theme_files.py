"""Fonts and icons are the shipped ones, drawn as the look wants them."""

import gc
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QIcon,
    QImage,
    QPainter,
    QPixmap,
    QTextLayout,
)

from sophos_desktop.foundation.resources import resource
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import FILES, Mark, icon, mark_pixmap, paint_mark
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.theme.type_scale import TYPE

LIMIT_BYTES = 4_000_000


@dataclass
class Chosen:
    """Who knows a theme."""

    tokens: Tokens = LIGHT


def ink(image: QImage) -> set[str]:
    """The colours of all pixels that are fully painted."""
    return {
        image.pixelColor(x, y).name().upper()
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).alpha() == 255
    }


def test_text_and_code_are_set_in_the_shipped_families() -> None:
    assert QFontInfo(role_font(TYPE.reading)).family() == "Inter"
    assert QFontInfo(role_font(TYPE.code)).family() == "JetBrains Mono"


@pytest.mark.parametrize("weight", [400, 500, 600])
def test_each_weight_of_the_look_has_a_file_of_its_own(weight: int) -> None:
    font = role_font(TYPE.interface)
    font.setWeight(QFont.Weight(weight))
    assert QFontInfo(font).weight() == weight


def test_the_fonts_are_few_and_small_enough_to_be_shipped() -> None:
    sizes = [file.stat().st_size for file in resource("fonts").iterdir()]
    assert 0 < sum(sizes) < LIMIT_BYTES


def test_every_shipped_family_has_its_licence_beside_it() -> None:
    for name, word in (
        ("inter", "SIL OPEN FONT LICENSE"),
        ("jetbrains-mono", "SIL OPEN FONT LICENSE"),
        ("lucide", "ISC License"),
    ):
        assert word in resource(f"licences/{name}.txt").read_text(encoding="utf-8")


def test_figures_that_stand_in_columns_are_of_one_width() -> None:
    metrics = QFontMetricsF(role_font(TYPE.small))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("0000")
    reading = QFontMetricsF(role_font(TYPE.reading))
    assert reading.horizontalAdvance("1111") < reading.horizontalAdvance("0000")


def glyphs(text: str) -> list[int]:
    """What a text is drawn with in the font of code."""
    layout = QTextLayout(text, role_font(TYPE.code))
    layout.beginLayout()
    layout.createLine().setPosition(QPointF(0, 0))
    layout.endLayout()
    return [index for run in layout.glyphRuns() for index in run.glyphIndexes()]


@pytest.mark.parametrize("text", ["!=", "->", "===", "www"])
def test_code_is_drawn_letter_by_letter(text: str) -> None:
    assert glyphs(text) == [index for letter in text for index in glyphs(letter)]


def test_every_icon_that_is_shipped_is_used_and_every_used_one_is_shipped() -> None:
    assert {file.stem for file in resource("icons").iterdir()} == FILES


@pytest.mark.parametrize("mark", list(Mark))
def test_a_mark_is_drawn_in_the_colour_it_is_given(mark: Mark) -> None:
    drawn = ink(mark_pixmap(mark, 96, LIGHT.accent, 1.0).toImage())
    assert drawn == {LIGHT.accent}


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_an_icon_has_as_many_pixels_as_it_covers_on_the_device(ratio: float) -> None:
    pixmap = icon(Mark.WAITING, Chosen()).pixmap(QSize(16, 16), ratio)
    assert pixmap.size() == QSize(round(16 * ratio), round(16 * ratio))
    assert pixmap.devicePixelRatio() == ratio


def test_a_mark_is_painted_at_the_real_size_of_a_fine_device() -> None:
    image = QImage(48, 48, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(2.0)
    image.fill(0)
    painter = QPainter(image)
    paint_mark(painter, Mark.DONE, QRectF(0, 0, 24, 24), QColor(LIGHT.success))
    painter.end()
    alone = mark_pixmap(Mark.DONE, 24, LIGHT.success, 2.0).toImage()
    assert image.convertToFormat(alone.format()) == alone


def test_an_icon_follows_the_theme_without_being_made_again() -> None:
    chosen = Chosen()
    made = icon(Mark.STOP, chosen, "danger")
    assert ink(made.pixmap(QSize(24, 24)).toImage()) == {LIGHT.danger}
    chosen.tokens = DARK
    assert ink(made.pixmap(QSize(24, 24)).toImage()) == {DARK.danger}
    assert ink(made.pixmap(QSize(24, 24), QIcon.Mode.Disabled).toImage()) == {DARK.disabled}


def test_a_copied_icon_that_is_changed_outlives_the_first() -> None:
    made = icon(Mark.STOP, Chosen(), "text")
    copied = QIcon(made)
    copied.addPixmap(QPixmap(16, 16), QIcon.Mode.Active)  # makes Qt clone the engine
    del made
    gc.collect()
    assert ink(copied.pixmap(QSize(24, 24)).toImage()) == {LIGHT.text}
