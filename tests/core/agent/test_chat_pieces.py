"""Calls as they come off the wire: whatever the arguments are, they are a call or a call with a problem."""

import pytest

from sophos_desktop.core.agent.chat_pieces import call_piece


@pytest.mark.parametrize("depth", [90, 300, 10_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ('{"a":[', "]}")])
def test_arguments_of_any_depth_are_taken_or_refused(depth: int, opening: str, closing: str) -> None:
    piece = call_piece("tool", opening * depth + "1" + closing * depth)
    fits = depth * len(closing) <= 100
    assert (piece.args is not None) == fits
    assert bool(piece.problem) != fits
    assert fits or "nested too deeply" in str(piece.problem)
