"""Lines are as thick wherever they stand, on devices of every pixel ratio."""

import pytest
from PySide6.QtCore import QPoint, QSize

from sophos_desktop.shell.theme.device_lines import line_width, on_device

RATIOS = pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0])


@RATIOS
def test_every_edge_is_on_a_whole_pixel_and_no_pixel_lies_between_neighbours(ratio: float) -> None:
    for y in range(60):
        upper = on_device(QPoint(y, y), QSize(7, 5), ratio)
        lower = on_device(QPoint(y, y + 5), QSize(7, 3), ratio)
        for edge in (upper.left(), upper.right(), upper.top(), upper.bottom()):
            assert (y + edge) * ratio == pytest.approx(round((y + edge) * ratio), abs=1e-6)
        assert y + upper.bottom() == pytest.approx(y + 5 + lower.top())
        assert abs(upper.height() - 5) * ratio < 1


@RATIOS
def test_a_line_is_a_whole_number_of_pixels_and_fits_into_its_own(ratio: float) -> None:
    wide = line_width(ratio) * ratio
    assert wide == pytest.approx(int(ratio))
    assert all(on_device(QPoint(0, y), QSize(9, 1), ratio).height() * ratio >= wide - 1e-6 for y in range(60))


def test_at_100_percent_everything_stays_where_it_is() -> None:
    assert on_device(QPoint(3, 8), QSize(20, 10), 1.0).getRect() == (0, 0, 20, 10)
    assert line_width(1.0) == 1
