"""A place in a text that is drawn anew."""

from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.selecting.following import followed

WORDS = ["one", "**two", "three**", "four", "`five`", "six", "[seven](http://x)", "eight", "nine", "ten"]


def both(old: str, new: str, word: str) -> str | None:
    """What is between the ends of a word after it was followed."""
    start = followed(old, new, old.index(word), is_start=True)
    end = followed(old, new, old.index(word) + len(word), is_start=False)
    return None if start is None or end is None else new[start:end]


def test_what_only_grew_stays_where_it_is() -> None:
    assert both("some words", "some words and more", "words") == "words"


def test_marks_that_are_drawn_no_longer_move_what_is_behind_them() -> None:
    assert both("**Important words here", "Important words here and so on", "words") == "words"
    assert both("see [the guide][g] and words", "see the guide and words", "words") == "words"
    assert both("see [the guide](http://x.org/a", "see the guide and more", "guide") == "guide"


def test_marks_at_an_end_are_dropped_with_it() -> None:
    assert both("**Important words", "Important words", "**Important") == "Important"


def test_an_end_in_what_became_something_else_is_nowhere() -> None:
    assert both("before $$ x^2 + y^2 = z $$ after it", "before \ufffc after it", "y^2") is None
    assert both("before $$ x^2 + y^2 = z $$ after it", "before \ufffc after it", "after") == "after"


def test_texts_that_have_nothing_in_common_share_no_place() -> None:
    assert followed("abcdefgh", "stuvwxyz", 4, is_start=True) is None


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.integers(0, 400), st.text(max_size=40))
def test_a_place_of_the_same_text_is_itself_whatever_follows(words: list[str], at: int, more: str) -> None:
    text = " ".join(words)
    place = min(at, len(text))
    for is_start in (True, False):
        assert followed(text, text + more, place, is_start=is_start) == place


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 60))
def test_a_kept_place_is_one_of_the_new_text(old: str, new: str, at: int) -> None:
    place = followed(old, new, min(at, len(old)), is_start=at % 2 == 0)
    assert place is None or 0 <= place <= len(new)
