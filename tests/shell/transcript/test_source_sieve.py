"""What may be seen of a source: never a false no, and seldom a false yes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.finding.source_sieve import SourceSieve
from sophos_desktop.shell.transcript.text.text_search import places
from tests.shell.transcript.answers import Answer
from tests.shell.transcript.samples import CORPUS, PIECES

MARKED = (
    *("**", "*", "_", "~~", "`", "[", "](http://x.org/a_b)", "][a]", "[^1]", "\\", "\\*", "&amp;", "&#233;"),
    *(
        "<http://x.org/%C3%A9>",
        "<a@b.org>",
        "![",
        "3) ",
        "he",
        "llo",
        "É",
        "ß",
        "İ",
        "(",
        ")",
        ".",
        ":",
        "C:\\x",
    ),
)


def seen_words(source: str) -> list[tuple[str, str]]:
    """The words of each document, with the source of its segment."""
    answer = Answer(source)
    return [
        (word, segment.text)
        for segment, document in zip(answer.segments, answer.documents, strict=True)
        for word in document.toPlainText().split()
    ]


def assert_all_may_be_shown(source: str) -> None:
    for word, of_segment in seen_words(source):
        for part in (word, word[1:], word[:-1], word[1:-1], word.upper()):
            if not part or not places(word, part, 1):
                continue
            sieve = SourceSieve(part)
            assert sieve.may_show(of_segment), (part, of_segment)
            assert sieve.may_show(source), (part, source)


@pytest.mark.parametrize("source", CORPUS)
def test_whatever_is_seen_of_the_corpus_passes(source: str) -> None:
    assert seen_words(source)
    assert_all_may_be_shown(source)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(MARKED + PIECES), max_size=14).map("".join))
def test_whatever_is_seen_of_any_source_passes(source: str) -> None:
    assert_all_may_be_shown(source)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("**Note**: read", "Note:"),
        ("see [link](http://x.org).", "link."),
        ("he**ll**o", "hello"),
        ("a [w](http://x.org/a)ord", "word"),
        ("foot[^n].\n\n[^n]: x", "foot1."),
        ("1. a\n1. b", "2."),
        ("caf&eacute;", "café"),
        ("[e](http://x)\u0301", "é"),
        ("x" * 50 + "[y](http://x)" + "z" * 50, "x" * 50 + "y" + "z" * 50),
    ],
)
def test_marks_within_a_word_hide_it_from_nobody(source: str, word: str) -> None:
    assert SourceSieve(word).may_show(source)


def test_what_cannot_be_seen_does_not_pass() -> None:
    source = "Some *words* with [a link](http://x.org/abc), `code[1]` and (brackets). " * 20
    for needle in ("zebra", "wordless", "codes", "links", "x.orgs", "word swith"):
        assert not SourceSieve(needle).may_show(source), needle


def test_what_goes_on_in_the_next_piece_passes_only_if_it_can() -> None:
    sieve = SourceSieve("the end")
    assert sieve.may_span("words of the ", "end of it")
    assert not sieve.may_span("words of the ", "beginning of it")
    assert SourceSieve("word").may_span("a wo", "rd")
    assert not SourceSieve("word").may_span("a word ", "word")


def test_letters_are_folded_as_the_search_takes_them_as_equal() -> None:
    pairs = [
        ("i", "İ"),
        ("ı", "i"),
        ("s", "ſ"),
        ("k", "\u212a"),
        ("ς", "σ"),
        ("ss", "ß"),
        ("ẞ", "ß"),
        ("µ", "μ"),
    ]
    for one, other in pairs:
        for needle, text in ((one, other), (other, one)):
            if places(text, needle, 1):
                assert SourceSieve(needle).may_show(text), (needle, text)
    cased = [chr(code) for code in range(0x80, 0x2200) if re.match(r"\w", chr(code))]
    for letter in cased:
        for form in {letter.lower(), letter.upper(), letter.swapcase()}:
            if places(letter, form, 1):
                assert SourceSieve(form).may_show(letter), (letter, form)
