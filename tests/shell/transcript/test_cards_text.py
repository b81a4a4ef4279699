"""Rows, JSON and short words of the cards: pure functions."""

import json
import random
from time import perf_counter

import pytest

from sophos_desktop.shell.transcript.cards.facts import (
    LOOKS,
    CallFacts,
    CallState,
    duration_words,
    running_words,
    short_argument,
    size_words,
)
from sophos_desktop.shell.transcript.cards.json_text import colours_of, first_folds, lay_out, read_json
from sophos_desktop.shell.transcript.cards.text_rows import TextRows
from sophos_desktop.shell.transcript.text.text_search import Searched, places
from sophos_desktop.shell.transcript.text.words_at import word_around


def rows_of(text: str, columns: int) -> list[str]:
    rows = TextRows(text, columns)
    assert rows.find()
    return [rows.row_text(number) for number in range(rows.count)]


def test_rows_are_the_lines_where_they_fit() -> None:
    assert rows_of("one\ntwo\r\n\nfour", 20) == ["one", "two", "", "four"]
    assert rows_of("last\n", 20) == ["last"]
    assert rows_of("", 20) == [""]


def test_a_long_line_is_broken_behind_a_blank_and_nothing_of_it_is_lost() -> None:
    text = "some words that go on for longer than the row is wide"
    rows = rows_of(text, 20)
    assert len(rows) > 2
    assert "".join(rows) == text
    assert all(len(row) <= 21 for row in rows)
    assert all(row.endswith(" ") for row in rows[:-1])


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert rows_of("漢" * 20, 20) == ["漢" * 10, "漢" * 10]
    assert rows_of("e\u0301" * 20, 20) == ["e\u0301" * 20]


def test_rows_of_any_text_hold_all_of_it() -> None:
    chance = random.Random(5)
    for _ in range(300):
        text = "".join(chance.choice("ab \t\n漢é\u0301😀") for _ in range(chance.randrange(200)))
        rows = TextRows(text, chance.randrange(8, 30))
        while not rows.find(perf_counter()):
            pass
        assert "".join(rows.row_text(number) for number in range(rows.count)) == text.replace("\n", "")
        for number in range(rows.count):
            start, end = rows.row(number)
            if start < end:
                assert rows.row_at(start) == number


def test_rows_are_found_as_far_as_they_are_wanted() -> None:
    rows = TextRows("line\n" * 1_000_000, 80)
    assert not rows.find(most=12)
    assert rows.count == 12
    assert rows.line_count == 12


def test_json_that_fits_into_a_few_lines_is_not_laid_out() -> None:
    value = {"entities": [{"name": "orders.csv", "observations": ["delimiter ;", "decimal comma", "x"]}]}
    laid = lay_out(value, 60)
    assert laid.folds == ()
    assert 1 < laid.text.count("\n") + 1 <= 3
    assert all(len(line) <= 60 for line in laid.text.split("\n"))
    assert json.loads(laid.text) == value


def test_long_json_is_laid_out_so_that_it_is_still_the_same_value() -> None:
    value = {"a": list(range(30)), "b": {"c": "x" * 70, "d": [None, True, 1.5e10]}, "e": {}, "f": []}
    laid = lay_out(value, 40, frozenset())
    assert json.loads(laid.text) == value
    lines = laid.text.split("\n")
    assert all(lines[fold.line].rstrip().endswith(("{", "[")) for fold in laid.folds)


def test_a_folded_part_says_how_much_is_in_it_and_opens_again() -> None:
    value = {"many": list(range(100)), "rest": "x" * 300}
    assert first_folds(value) == {(0,)}
    folded = lay_out(value, 60)
    assert '"many": [ … 100 items ],' in folded.text
    fold = next(fold for fold in folded.folds if fold.is_folded)
    assert fold.path == (0,)
    assert json.loads(lay_out(value, 60, frozenset()).text) == value


def test_what_is_no_json_or_too_long_stays_as_it_is() -> None:
    assert read_json("plain words") is None
    assert read_json('{"a": ') is None
    assert read_json("12") is None
    assert read_json("[" * 5_000 + "]" * 5_000) is None
    assert read_json("[" + "1," * 300_000 + "1]") is None


def test_deeply_nested_json_is_bounded() -> None:
    value: list[object] = ["bottom"]
    for _ in range(300):
        value = [value, "x" * 50]
    laid = lay_out(value, 40, frozenset())
    assert max(len(line) for line in laid.text.split("\n")) < 250


def test_keys_strings_numbers_and_words_have_colours_of_their_own() -> None:
    line = '"key": ["text", 12, true]'
    found = [(line[start:end], name) for start, end, name in colours_of(line)]
    assert found == [
        ('"key"', "code_type"),
        ('"text"', "code_string"),
        ("12", "code_number"),
        ("true", "code_keyword"),
    ]


def test_every_state_has_a_mark_and_a_word_of_its_own() -> None:
    assert set(LOOKS) == set(CallState)
    assert len({look.mark for look in LOOKS.values()}) == len(CallState)
    assert len({look.word for look in LOOKS.values()}) == len(CallState)


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (9, "9 ms"),
        (2_600, "2.6 s"),
        (59_980, "1 min"),
        (200_000, "3 min 20 s"),
        (7_380_000, "2 h 3 min"),
    ],
)
def test_durations_are_said_shortly(milliseconds: int, words: str) -> None:
    assert duration_words(milliseconds) == words


def test_a_running_call_counts_in_tenths() -> None:
    assert running_words(0.21) == "0.2 s"
    assert running_words(2.14) == "2.1 s"
    running = CallFacts("k", "s", "t", state=CallState.RUNNING, running_since=10.0)
    assert running.duration_at(12.1) == "2.1 s"


def test_sizes_are_said_shortly() -> None:
    words = [size_words(count) for count in (1, 18, 18_000, 4_200_000)]
    assert words == ["1 byte", "18 bytes", "18.0 kB", "4.2 MB"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"names": ["orders.csv"]}', "orders.csv"),
        ('{"url": "https://data.example.org/a?b=c"}', "data.example.org"),
        ('{"command": "rm -r build"}', '"rm -r build"'),
        ('{"count": 3}', "3"),
        ('{"deep": {"er": ["x"]}}', "x"),
        ("{}", ""),
        ("no json", ""),
        ('{"url": "http://[broken"}', "http://[broken"),
    ],
)
def test_the_short_argument_is_the_first_that_says_something(arguments: str, words: str) -> None:
    assert short_argument(arguments) == words


def test_words_are_found_whatever_their_case_and_the_blanks_between_them() -> None:
    text = "One STRASSE and one Straße,\n  ONE  strasse."
    assert [text[start:end] for start, end in places(text, "straße", 9)] == ["STRASSE", "Straße", "strasse"]
    assert len(places(text, "one strasse", 9)) == 3
    assert places(text, "", 9) == []
    assert places("a.b axb", "a.b", 9) == [(0, 3)]


@pytest.mark.parametrize("needle", ["NEEDLE", "needle behind", "strasse", "Nädel"])
def test_the_search_goes_on_and_back_over_long_texts(needle: str) -> None:
    words = f" {needle.lower()} "
    text = "x" * 2_500_000 + words + "y" * 2_500_000 + words
    searched = Searched(text)
    first = searched.first_after(needle, 0)
    assert first == (2_500_001, 2_500_001 + len(needle))
    second = searched.first_after(needle, first[1])
    assert second == searched.last_before(needle, len(text))
    assert second is not None
    assert searched.last_before(needle, second[0]) == first
    assert searched.last_before(needle, first[0]) is None
    assert searched.first_after(needle, second[1]) is None


@pytest.mark.parametrize(
    ("text", "position", "word"),
    [
        ("one two_2", 6, "two_2"),
        ("a, b", 1, ","),
        ("a  b", 2, "  "),
        ("end\nnext", 3, "end"),
        ("", 0, ""),
    ],
)
def test_a_double_click_takes_the_word_or_the_sign(text: str, position: int, word: str) -> None:
    start, end = word_around(text, position)
    assert text[start:end] == word
