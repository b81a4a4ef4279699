"""The model tells each change once, and its segments are those of the whole text."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sophos_desktop.shell.transcript.model.message_text import READ_AT_ONCE, plain_segments
from sophos_desktop.shell.transcript.model.transcript_model import MessageMeta, TranscriptModel
from tests.shell.transcript.samples import CORPUS, segments_of
from tests.shell.transcript.viewing import answer, user


@pytest.fixture
def model() -> Iterator[TranscriptModel]:
    made = TranscriptModel()
    yield made
    made.deleteLater()


def told(model: TranscriptModel) -> list[str]:
    """What is told from now on."""
    words: list[str] = []
    model.inserted.connect(lambda first, last: words.append(f"inserted {first} {last}"))
    model.removed.connect(lambda first, last: words.append(f"removed {first} {last}"))
    model.changed.connect(lambda index: words.append(f"changed {index}"))
    model.grew.connect(lambda index, _segments: words.append(f"grew {index}"))
    return words


@pytest.mark.parametrize("text", CORPUS)
def test_an_answer_that_came_in_pieces_has_the_segments_of_the_whole(
    model: TranscriptModel, text: str
) -> None:
    model.reset([answer("a", "", is_open=True)])
    assert list(model.segments(0)) == []
    for start in range(0, len(text), 5):
        model.append(0, text[start : start + 5])
    model.close(0)
    assert list(model.segments(0)) == segments_of(text)
    assert model.source(0) == text
    assert not model.is_open(0)


def test_a_huge_answer_shows_all_of_itself_raw_until_it_is_read(model: TranscriptModel) -> None:
    text = "A paragraph of a few words.\n\n" * (READ_AT_ONCE // 10)
    model.reset([answer("a", text)])
    shown = model.segments(0)
    assert model.is_raw(0)
    assert "".join(piece.text for piece in shown) == text
    assert max(len(piece.text) for piece in shown) <= 3_000
    assert [text[piece.start : piece.end] for piece in shown] == [piece.text for piece in shown]
    words = told(model)
    slices = 0
    while not model.read_on(0, 0.001):
        slices += 1
        assert slices < 10_000
    assert slices > 1
    assert words == ["changed 0"]
    assert list(model.segments(0)) == segments_of(text)


def test_what_arrives_while_a_huge_answer_is_read_is_not_lost(model: TranscriptModel) -> None:
    text = "Some words.\n\n" * (READ_AT_ONCE // 5)
    model.reset([answer("a", text, is_open=True)])
    assert model.segments(0)
    assert model.is_raw(0)
    model.append(0, "## More\n\nat the end")
    model.close(0)
    for _ in range(10_000):
        if model.read_on(0, 0.005):
            break
    assert list(model.segments(0)) == segments_of(text + "## More\n\nat the end")


def test_a_message_that_only_grew_is_told_as_growth(model: TranscriptModel) -> None:
    model.reset([user("u", "question"), answer("a", "first", is_open=True)])
    model.segments(1)
    words = told(model)
    model.replace(1, answer("a", "first second", is_open=True))
    model.replace(1, answer("a", "first second", is_open=True))
    model.replace(1, answer("a", "first second third"))
    assert words == ["grew 1", "grew 1"]
    model.replace(1, replace(answer("a", "first second third"), meta=MessageMeta(model="qwen")))
    assert words[2:] == ["changed 1"]
    model.replace(1, answer("a", "another"))
    assert words[3:] == ["changed 1"]
    assert model.source(1) == "another"


def test_messages_keep_their_keys_while_others_come_and_go(model: TranscriptModel) -> None:
    model.reset([user("b", "b"), user("d", "d")])
    keys = [model.key(0), model.key(1)]
    words = told(model)
    model.insert(0, [user("a", "a")])
    model.insert(2, [user("c", "c")])
    assert [model.index_of(name) for name in "abcd"] == [0, 1, 2, 3]
    assert [model.key(1), model.key(3)] == keys
    model.remove(1, 2)
    assert [model.index_of(name) for name in "abcd"] == [0, None, None, 1]
    assert words == ["inserted 0 0", "inserted 2 2", "removed 1 2"]


def test_only_an_open_answer_grows(model: TranscriptModel) -> None:
    model.reset([user("u", "x"), answer("a", "y")])
    for index in (0, 1):
        with pytest.raises(ValueError, match="open answer"):
            model.append(index, "more")


@pytest.mark.parametrize(
    "text", ["", "one line", "\n\n", "a\n" * 500, "x" * 10_000, "word " * 3_000, "😀" * 3_000, "a\r\nb"]
)
def test_plain_text_is_cut_into_pieces_that_are_the_text(text: str) -> None:
    pieces = plain_segments(text)
    assert "".join(piece.text for piece in pieces) == text
    assert all(0 < len(piece.text) <= 2_001 for piece in pieces)
    assert [piece.goes_on for piece in pieces] == [True] * (len(pieces) - 1) + [False] * bool(pieces)
