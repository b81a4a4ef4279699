"""Sums of heights are those of the heights that are there, whatever changed."""

from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.view.heights import PrefixSums

HEIGHTS = st.lists(st.integers(0, 500), max_size=12)


@given(HEIGHTS, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), HEIGHTS), max_size=8))
def test_sums_follow_every_change(heights: list[int], changes: list[tuple[int, int, list[int]]]) -> None:
    sums = PrefixSums(heights)
    for first, length, new in changes:
        first = min(first, len(heights))
        heights[first : first + length] = new
        sums.replace(first, first + length, iter(new))
        if heights:
            place = first % len(heights)
            heights[place] += 1
            sums[place] = heights[place]

        assert sums.total == sum(heights)
        assert [sums.top(index) for index in range(len(heights) + 1)] == [
            sum(heights[:index]) for index in range(len(heights) + 1)
        ]


def test_the_height_that_covers_an_offset_is_found() -> None:
    sums = PrefixSums([10, 0, 5])

    assert [sums.at(offset) for offset in (-3, 0, 9, 10, 14, 99)] == [0, 0, 0, 2, 2, 2]
