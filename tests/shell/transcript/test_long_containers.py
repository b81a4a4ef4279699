"""Lists, quotes, tables and notes look the same however long they are and wherever they are cut."""

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.drawing.built import text_rectangles
from sophos_desktop.shell.widgets.plain_tip import plain_tip
from tests.shell.transcript.answers import Answer, one


def edges(document: QTextDocument, *words: str) -> list[float]:
    return [
        text_rectangles(document, cursor.selectionStart(), cursor.selectionEnd())[0].left()
        for cursor in (document.find(each) for each in words)
    ]


def test_the_text_of_all_items_of_a_list_begins_at_one_edge() -> None:
    document, _ = one("".join(f"{number}. word{number:03}\n" for number in range(8, 102)))

    assert len(set(edges(document, "word008", "word009", "word010", "word011", "word100"))) == 1
    assert edges(document, "100.") == [0.0]


def test_a_list_that_is_cut_keeps_its_edge() -> None:
    answer = Answer("".join(f"{number}. word{number:03} {'more ' * 20}\n" for number in range(1, 130)))

    assert len(answer.documents) > 3
    lefts = {block.blockFormat().leftMargin() for block in answer.blocks()}
    assert len(lefts) == 1


WORDS = "some words that fill the line "


def test_a_nested_list_that_is_cut_keeps_its_levels_bullets_and_numbers() -> None:
    answer = Answer(
        "1. top\n" + "".join(f"   - a{n} {WORDS}\n     - b{n}\n       1. c{n}\n" for n in range(60))
    )

    assert len(answer.documents) > 1
    for number in range(60):
        blocks = [answer.block_of(f"{letter}{number}") for letter in "abc"]
        assert [block.blockFormat().leftMargin() for block in blocks][1:] == [
            blocks[0].blockFormat().leftMargin() + 20 * level for level in (1, 2)
        ]
        assert [block.text().split("\t")[0] for block in blocks] == ["◦", "▪", "1."]
    assert len({answer.block_of(f"a{number} ").blockFormat().leftMargin() for number in range(60)}) == 1
    numbered = Answer("- a\n" + "".join(f"  {number}. s{number}\n" for number in range(1, 120)))
    assert numbered.text.split("\n")[1:] == [f"{number}.\ts{number}" for number in range(1, 120)]


@pytest.mark.parametrize("mark", ["> ", "  "], ids=["quote", "item"])
def test_a_table_in_a_container_that_is_cut_stays_a_table(mark: str) -> None:
    rows = "".join(f"{mark}| {number} | {WORDS} |\n" for number in range(160))
    answer = Answer(f"{'> ' if mark == '> ' else '- '}| a | b |\n{mark}|---|---|\n{rows}\nafter\n")

    assert "|" not in answer.text
    pieces = [document.rootFrame().childFrames() for document in answer.documents]
    widths = {
        tuple(length.rawValue() for length in frame.frameFormat().toTableFormat().columnWidthConstraints())
        for frames in pieces
        for frame in frames
    }
    assert sum(len(frames) for frames in pieces) > 1
    assert len(widths) == 1


@pytest.mark.parametrize(("first", "mark"), [("> ", "> "), ("- ", "  ")], ids=["quote", "item"])
def test_code_in_a_container_that_is_cut_is_one_card(first: str, mark: str) -> None:
    lines = [f"line {number} {WORDS * 4}" for number in range(150)]
    code = "".join(f"{mark}{line}\n" for line in lines)
    answer = Answer(f"{first}intro\n{mark}\n{mark}```js\n{code}{mark}```\n{mark}\n{mark}after code\n\nout\n")

    boxes = [box for built in answer.built for box in built.code_boxes]
    assert len(boxes) > 2
    assert [box.is_first for box in boxes] == [True] + [False] * (len(boxes) - 1)
    assert [box.is_last for box in boxes] == [False] * (len(boxes) - 1) + [True]
    assert len({box.left for box in boxes}) == 1
    assert "\n".join(box.source for box in boxes).split("\n") == lines
    assert {block.blockFormat().nonBreakableLines() for block in answer.blocks()} == {False}
    if first == "> ":
        assert all(built.quote_bars for built, box in zip(answer.built, boxes, strict=False) if box)


@pytest.mark.parametrize(
    ("first", "mark"), [("> ", "> "), ("- ", "  "), ("12. ", "    "), ("- - ", "    "), ("> - ", ">   ")]
)
def test_indented_code_in_a_container_that_is_cut_is_one_card(first: str, mark: str) -> None:
    lines = [f"  line {number} {WORDS}" if number % 7 else "" for number in range(1, 250)]
    code = "".join(f"{mark}    {line}".rstrip() + "\n" for line in lines)
    answer = Answer(f"{first}intro\n{mark}\n{code}{mark}\n{mark}after code\n\nout\n")

    boxes = [box for built in answer.built for box in built.code_boxes]
    assert len(boxes) > 2
    assert [box.is_first for box in boxes] == [True] + [False] * (len(boxes) - 1)
    assert [box.is_last for box in boxes] == [False] * (len(boxes) - 1) + [True]
    assert len({box.left for box in boxes}) == 1
    assert "\n".join(box.source for box in boxes).split("\n") == [line.rstrip() for line in lines]
    assert "after code" in answer.text


def test_a_footnote_that_is_cut_stays_small() -> None:
    paragraphs = "".join(f"    para{number:02} {WORDS * 3}\n\n" for number in range(70))
    answer = Answer(f"x[^1]\n\n[^1]: note\n\n{paragraphs}out\n")

    assert len(answer.documents) > 2
    sizes = {answer.block_of(f"para{number:02}").charFormat().font().pixelSize() for number in range(70)}
    assert sizes == {13}


def test_no_word_of_a_table_is_broken_that_has_room() -> None:
    long = "words that go on " * 30
    document, _ = one(
        f"| name | **A bold heading** | c |\n|---|---|---|\n| `a_function_name` | {long} | **important** |\n"
        f"| العربية | x | incomprehensibilities |\n| z | {long} | {long} |\n"
    )

    for word in ("a_function_name", "important", "العربية", "incomprehensibilities", "heading"):
        assert len(text_rectangles(document, *_span(document.find(word)))) == 1


def _span(cursor: QTextCursor) -> tuple[int, int]:
    return cursor.selectionStart(), cursor.selectionEnd()


def test_an_image_of_html_and_a_windows_path_are_placeholders_with_their_address_as_written() -> None:
    answer = Answer(
        'a <IMG alt="two\nwords" src="http://x.org/a.png?b&amp;c"> b\n\n<img src=/y.png>\n\n'
        '<img alt="none">\n\n'
        "![unc](\\\\\\\\host\\\\share\\\\a.png)\n\n<big>bold</big>\n"
    )

    images = [image for built in answer.built for image in built.blocked_images]
    assert [(image.address, image.words) for image in images] == [
        ("http://x.org/a.png?b&c", "two words"),
        ("/y.png", ""),
        ("\\\\host\\share\\a.png", "unc"),
    ]
    assert '<img alt="none">' in answer.text
    assert "<big>bold</big>" in answer.text


@pytest.mark.parametrize("text", ["<h1>x</h1>", "https://x.org/<b>y", 'a & b <img src="file:///x">'])
def test_a_tooltip_shows_foreign_words_letter_by_letter(text: str) -> None:
    document = QTextDocument()
    document.setHtml(plain_tip(text))
    assert document.toPlainText() == text
    assert plain_tip("https://x.org/a?b&c") == "https://x.org/a?b&c"
