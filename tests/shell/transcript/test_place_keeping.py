"""A reader who has scrolled up keeps what he reads where it is, whatever the text around it becomes."""

import pytest

from sophos_desktop.shell.transcript.text.text_alignment import place_in
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import (
    answer,
    conversation,
    is_same_picture,
    on_screen,
    painted_anew,
    settle,
    shown,
    until_idle,
    user,
)

CHANGES = {
    "a tight list gets loose": ("".join(f"- item {n}\n" for n in range(60)), "\n- later\n"),
    "an item gets a paragraph": ("".join(f"- item {n}\n" for n in range(60)), "\n  more of it\n"),
    "a paragraph gets a heading": ("".join(f"word{n} " for n in range(400)), "\n===\n\nmore\n"),
    "definitions come late": (
        "".join(f"w{n} [with some more][of a long label]\n" for n in range(150)),
        "\n[of a long label]: http://x.org\n",
    ),
    "emoji and Chinese": ("".join(f"- 项目{n}的**文字**😀\n" for n in range(60)), "\n- later\n"),
}


def top_line(view: TranscriptView) -> tuple[str, int]:
    """The first word of the first line that is in the view, and where that line is."""
    geometry, placed = view.geometry_of_text, view.transcript_layout.placed[0]
    part = geometry.text_part(placed)
    assert part is not None
    place = geometry.first_visible(part)
    line = geometry.line_top(place)
    assert line is not None
    gap = view.transcript_layout.rows.gap(placed.message, placed.part)
    text = part.drawn.document.toRawText().encode("utf-16-le")[place.character * 2 :].decode("utf-16-le")
    words = text.replace("•", " ").replace("[", " ").split()
    return words[0], placed.top - gap + line


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("is_held", [False, True], ids=["scrolled up", "held"])
def test_the_top_line_stays_when_the_open_block_becomes_another_one(name: str, *, is_held: bool) -> None:
    before, more = CHANGES[name]
    with shown([*conversation(3), answer("open", before, is_open=True)]) as view:
        until_idle(view)
        if is_held:
            view.set_held("selection", is_held=True)
        else:
            view.scroll_by(-120)
        until_idle(view)
        word, y = top_line(view)
        for start in range(0, len(more), 4):
            view.model.append(len(view.model) - 1, more[start : start + 4])
            settle()
        until_idle(view)
        now, now_y = top_line(view)
        assert now_y == y
        if "definitions" not in name:  # there the line has other words before the same one
            assert now == word
        assert is_same_picture(on_screen(view), painted_anew(view))


@pytest.mark.parametrize("is_held", [False, True], ids=["scrolled up", "held"])
def test_a_reader_of_a_raw_answer_stays_where_he_is_when_it_is_read(*, is_held: bool) -> None:
    text = "".join(f"para{n} with words\n\n" for n in range(5_000))
    with shown([user("u", "?"), answer("a", text)]) as view:
        assert view.model.is_raw(1)
        if is_held:
            view.set_held("selection", is_held=True)
            settle()
        else:
            view.scroll_by(-1_000)
        assert view.model.is_raw(1)
        before = top_line(view)
        until_idle(view)
        assert not view.model.is_raw(1)
        assert top_line(view) == before


def test_the_bar_reaches_the_middle_of_an_answer_that_nobody_has_read() -> None:
    text = "".join(f"para{n} with words\n\n" for n in range(20_000))
    with shown([user("u", "?"), answer("a", text), *conversation(20)]) as view:
        until_idle(view)
        bar = view.verticalScrollBar()
        bar.setValue(bar.maximum() // 2)
        assert view.model.is_raw(1)
        word, y = top_line(view)
        assert 5_000 < int(word.removeprefix("para")) < 15_000
        until_idle(view)
        assert not view.model.is_raw(1)
        assert top_line(view) == (word, y)


def test_columns_stay_under_a_reader_and_are_those_of_a_fresh_rendering_at_the_end() -> None:
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 12
    wide = "| a much longer cell than all before it, with words | x |\n" + "| 3 | 4 |\n" * 8
    with shown([*conversation(3), answer("open", table, is_open=True)]) as view:
        last = len(view.model) - 1
        view.scroll_by(-60)
        until_idle(view)
        view.pill.hide()
        before = on_screen(view)
        for start in range(0, len(wide), 8):
            view.model.append(last, wide[start : start + 8])
            settle()
        until_idle(view)
        view.pill.hide()
        settle()
        seen = before.height() - 40  # below are the last row and what came
        assert on_screen(view).copy(0, 0, before.width(), seen) == before.copy(0, 0, before.width(), seen)
        view.model.close(last)
        view.jump_to_latest()
        until_idle(view)
        streamed = on_screen(view)
    with shown([*conversation(3), answer("open", table + wide)]) as view:
        until_idle(view)
        assert is_same_picture(on_screen(view), streamed)


def test_room_that_a_shorter_text_leaves_goes_when_the_reader_moves() -> None:
    long = "".join(f"[word {n}][of a label] " for n in range(90))
    with shown([*conversation(3), answer("open", long, is_open=True)]) as view:
        until_idle(view)
        view.scroll_by(-40)
        until_idle(view)
        word, y = top_line(view)
        view.model.append(len(view.model) - 1, "\n\n[of a label]: http://x.org\n")
        until_idle(view)
        assert (top_line(view), view.transcript_layout.may_follow) == ((word, y), False)
        view.scroll_by(1)
        until_idle(view)
        assert view.transcript_layout.placed[-1].bottom == view.viewport().height() - 8
        assert view.transcript_layout.may_follow


@pytest.mark.parametrize(
    ("before", "place", "after", "wanted"),
    [
        ("one two three", 4, "one two three four", 4),
        ("- one\n- two", 8, "•\tone\n•\ttwo", 8),
        ("see [the word][label] and more", 22, "see the word and more", 13),
        ("a **bold** end", 4, "a bold end", 2),
        ("gone here", 0, "here", 0),
        ("", 0, "anything", 0),
        ("anything", 3, "", 0),
    ],
)
def test_a_place_is_found_again_in_another_text(before: str, place: int, after: str, wanted: int) -> None:
    assert place_in(before, place, after) == wanted


def test_places_of_long_repetitive_texts_are_found() -> None:
    source, drawn = "[word] " * 430, "word " * 430
    assert place_in(source, 7 * 300 + 1, drawn) == 5 * 300
