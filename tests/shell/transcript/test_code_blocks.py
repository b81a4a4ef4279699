"""Code is coloured in steps, and stays on the screen meanwhile."""

import random

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from sophos_desktop.shell.theme.tokens import LIGHT as LIGHT_TOKENS
from sophos_desktop.shell.transcript.drawing.built import SegmentDocument
from sophos_desktop.shell.transcript.drawing.code_blocks import CodeHighlighter, language_name
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme

LIGHT = TranscriptTheme.of(LIGHT_TOKENS)
CODE = 'def name(x):\n    """Doc\n    string."""\n    return "é😀" + 12  # note\n\nclass Kind: ...\n'


def document_of(code: str) -> QTextDocument:
    document = SegmentDocument()
    document.setPlainText(code)
    document.setTextWidth(600)
    document.size()
    return document


def colours(document: QTextDocument, first: int = 0) -> dict[str, str]:
    """The coloured words, each with the last colour it has."""
    found = {}
    block = document.findBlockByNumber(first)
    while block.isValid():
        units = block.text().encode("utf-16-le")
        for part in block.layout().formats():
            word = units[part.start * 2 : (part.start + part.length) * 2].decode("utf-16-le")
            found[word] = part.format.foreground().color().name().upper()
        block = block.next()
    return found


def test_words_get_the_colours_of_their_kind() -> None:
    document = document_of(CODE)
    for _ in CodeHighlighter(LIGHT).steps(document, "python"):
        pass

    found = colours(document)
    assert found["def"] == LIGHT.code_keyword
    assert found["name"] == LIGHT.code_function
    assert found["é😀"] == LIGHT.code_string
    assert found['    string."""'] == LIGHT.code_string
    assert found["12"] == LIGHT.code_number
    assert found["# note"] == LIGHT.code_comment
    assert found["Kind"] == LIGHT.code_type


def test_differences_keep_their_signs_and_have_two_colours() -> None:
    document = document_of("- old\n+ new")
    for _ in CodeHighlighter(LIGHT).steps(document, "diff"):
        pass

    assert colours(document) == {"- old": LIGHT.code_deleted, "+ new": LIGHT.code_inserted}


def test_coloured_lines_stay_laid_out() -> None:
    document = document_of(CODE)
    height = document.size().height()
    for _ in CodeHighlighter(LIGHT).steps(document, "python"):
        block = document.begin()
        document.size()
        while block.isValid():
            document.documentLayout().blockBoundingRect(block)
            assert block.layout().lineCount() == 1
            block = block.next()

    assert document.size().height() == height


def test_long_code_takes_many_steps() -> None:
    document = document_of("x = call(1, 'a')  # why\n" * 80)

    assert sum(1 for _ in CodeHighlighter(LIGHT).steps(document, "py")) > 10


def test_only_the_lines_asked_for_are_coloured() -> None:
    document = document_of("def one\ndef two\ndef three")
    for _ in CodeHighlighter(LIGHT).steps(document, "py", 1, 1):
        pass

    formats = [document.findBlockByNumber(number).layout().formats() for number in range(3)]
    assert [bool(found) for found in formats] == [False, True, False]


def test_a_document_that_grew_meanwhile_is_no_trouble() -> None:
    document = document_of(CODE * 3)
    steps = CodeHighlighter(LIGHT).steps(document, "py")
    next(steps)
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertText("more = 1\n")
    for _ in steps:
        document.size()
    document.clear()
    steps = CodeHighlighter(LIGHT).steps(document_of("a = 1"), "py")
    for _ in steps:
        pass


@pytest.mark.parametrize("language", ["", "no-such-language", "py\0", "../x", "x" * 500, "ПИТОН"])
def test_an_unknown_language_stays_plain(language: str) -> None:
    document = document_of(CODE)

    assert list(CodeHighlighter(LIGHT).steps(document, language)) == []
    assert colours(document) == {}


def test_languages_have_names() -> None:
    assert [language_name(word) for word in ("py", "JSON", "c++", "", "mermaid-like")] == [
        *("Python", "JSON", "C++", "", "mermaid-like"),
    ]


def test_hostile_code_is_coloured_or_left() -> None:
    source = random.Random(2)
    for language in ("python", "json", "html", "bash", "sql", "js", "c", "yaml", "markdown", "css"):
        code = "".join(source.choices("\"'`([{}])\\/*#<>!-$%&\n\n aé😀", k=3_000))
        for _ in CodeHighlighter(LIGHT).steps(document_of(code), language):
            pass
    assert list(CodeHighlighter(LIGHT).steps(document_of("a" * 3_000), "py")) == []
