"""Foreign text is shown without what it hides."""

from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.mcp_host.shown_text import shown, shown_line, shown_name
from sophos_desktop.core.mcp_host.stderr_tail import LINE_LENGTH, LINES, StderrTail


def test_terminal_sequences_and_hidden_characters_are_gone_and_the_rest_stays() -> None:
    text = "\x1b[31mred\x1b[0m \x1b]0;title\x07"
    text += "a\u202eb\u2066c\u200bd\ufeff\0\x7f\U000e0041\tend\r\nnext 👩\u200d🚀 é"
    assert shown(text) == "red abcd\tend\nnext 👩\u200d🚀 é"
    assert shown_line(text) == "red abcd end next 👩\u200d🚀 é"


@given(st.text(), st.integers(1, 50))
def test_no_text_is_longer_than_asked_for_or_hides_anything(text: str, length: int) -> None:
    line = shown_line(text, length)
    assert len(line) <= length
    assert not set(line) & {"\0", "\x1b", "\n", "\u202e", "\u2028", "\u200b"}


@given(st.text(), st.text())
def test_two_names_are_never_shown_alike(first: str, second: str) -> None:
    assert (shown_name(first) == shown_name(second)) == (first == second)


def test_the_tail_shows_no_terminal_sequence_and_counts_notes_that_repeat() -> None:
    tail = StderrTail()
    tail.feed(b"\x1b[1mbold\x1b[0m\xe2\x80\xae line\r\n")
    for _ in range(3):
        tail.note("again")
    tail.feed(b"other\n")
    tail.note("again")
    assert tail.lines() == ("bold line", "[again] (3 times)", "other", "[again]")


def test_the_tail_is_bounded_in_lines_and_characters() -> None:
    tail = StderrTail()
    tail.feed(b"x" * 100_000 + b"\n" + b"y\n" * 1_000)
    assert len(tail.lines()) == LINES
    tail.feed(b"z" * 100_000)
    assert max(map(len, tail.lines())) == LINE_LENGTH
