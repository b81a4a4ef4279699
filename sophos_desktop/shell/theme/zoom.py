"""How far the window can be zoomed, and in which steps.

Invariant: every step lies within the bounds; stepping in and out again comes back to 100 %.
"""

from typing import Final

FULL_ZOOM: Final = 100
# Below it the window's text of 13 pixels has less than 9 where a person took the smallest interface size too.
SMALLEST_ZOOM: Final = 80
LARGEST_ZOOM: Final = 200
STEPS: Final = (80, 90, 100, 110, 125, 150, 175, 200)


def within_bounds(percent: int) -> int:
    """The nearest zoom that is allowed."""
    return max(SMALLEST_ZOOM, min(LARGEST_ZOOM, percent))


def next_zoom(percent: int, *, is_larger: bool) -> int:
    """The next step from a zoom that need be none of them; at the end it stays."""
    if is_larger:
        return next((step for step in STEPS if step > percent), LARGEST_ZOOM)
    return next((step for step in reversed(STEPS) if step < percent), SMALLEST_ZOOM)


def zoom_of(text: str | None) -> int:
    """The zoom that was stored as a text; what cannot be read is 100 %."""
    if text is None or not text.isdecimal() or len(text) > 4:
        return FULL_ZOOM
    return within_bounds(int(text))
