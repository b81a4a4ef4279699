"""Where bullets and numbers stand if something else than a sentence follows them."""

import pytest
from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.theme.tokens import LIGHT as LIGHT_TOKENS
from sophos_desktop.shell.transcript.copying.clipboard import Span, copied_markdown
from sophos_desktop.shell.transcript.drawing.built import text_rectangles
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.view.hit_areas import box_rectangle, image_rectangle
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from tests.shell.transcript.answers import LIGHT, WIDTH, one
from tests.shell.transcript.viewing import answer, shown, until_idle


def middle(document: QTextDocument, words: str) -> float:
    at = document.toPlainText().index(words)
    return text_rectangles(document, at, at + len(words))[0].center().y()


def left(document: QTextDocument, words: str) -> float:
    at = document.toPlainText().index(words)
    return text_rectangles(document, at, at + len(words))[0].left()


@pytest.mark.parametrize("mark", ["- ", "12. ", "- [x] "])
@pytest.mark.parametrize("begins", ["# ", "### ", "> ", "> > ", "- ", "- 3. ", "> - ", "> # "])
def test_a_mark_stands_in_the_line_of_what_follows(mark: str, begins: str) -> None:
    document, _ = one(f"{mark}{begins}words here\n")
    shown_blocks = [line for line in document.toPlainText().split("\n") if line]

    assert len(shown_blocks) == 1
    assert left(document, "words here") >= LIGHT.indent
    assert text_rectangles(document, 0, 1)[0].left() == pytest.approx(0, abs=0.5)


def test_text_stands_where_it_would_without_the_mark() -> None:
    for begins, inset in (("# ", 0), ("> ", LIGHT.quote_bar + LIGHT.quote_padding), ("- ", LIGHT.indent)):
        document, _ = one(f"- {begins}words\n")
        assert left(document, "words") == pytest.approx(LIGHT.indent + inset, abs=0.5)


def test_the_marks_of_lists_that_begin_together_are_all_there_once() -> None:
    document, built = one("- 1. - [ ] words\n     - more\n")

    assert document.toPlainText() == "•\t1.\t☐\twords\n▪\tmore"
    assert [task.is_checked for task in built.task_boxes] == [False]
    assert left(document, "words") == pytest.approx(left(document, "more"), abs=0.5)


def test_a_mark_before_code_stands_beside_its_bar() -> None:
    looks = Looks.of(LIGHT_TOKENS)
    for source in ("- ```python\n  code = 1\n  ```\n", "1. > ```\n   > code = 1\n   > ```\n"):
        document, built = one(source)
        (box,) = built.code_boxes
        frame = box_rectangle(document, box, WIDTH, looks)
        mark = text_rectangles(document, 0, 1)[0]
        assert frame.top() <= mark.top()
        assert mark.bottom() <= frame.top() + LIGHT.code_bar
        assert mark.right() < frame.left()
        assert frame.top() == -built.room_above, "no line is lost above it"


def test_a_mark_before_an_image_stands_beside_its_frame() -> None:
    document, built = one("- ![words](http://x.org/a.png)\n- next\n")
    (image,) = built.blocked_images
    frame = image_rectangle(document, image, WIDTH, Looks.of(LIGHT_TOKENS))

    assert document.toPlainText().startswith("•\tImage: words")
    assert frame.left() == LIGHT.indent
    assert frame.top() <= text_rectangles(document, 0, 1)[0].top() <= frame.bottom()


def test_an_item_without_anything_keeps_its_mark() -> None:
    document, _ = one("-\n- - \n- words\n")

    assert document.toPlainText().split("\n") == ["•\t", "•\t◦\t", "•\twords"]


@pytest.mark.parametrize("text", ["- > מילים\n", "- - # מילים\n"])
def test_marks_stand_at_the_right_of_text_that_runs_to_the_left(text: str) -> None:
    document, _ = one(text)

    marks = text_rectangles(document, 0, 1)[0]
    words = document.toPlainText().index("מ")
    assert text_rectangles(document, words, words + 5)[0].right() <= marks.left()
    assert marks.right() == pytest.approx(WIDTH, abs=1)


@pytest.mark.parametrize(
    "source",
    [
        "- # heading words\n- plain\n",
        "- > quoted words\n  > more of them\n- plain\n",
        "- - nested words\n  - others\n- plain\n",
        "1. ```py\n   words = 1\n   ```\n2. plain\n",
        "- ![words](http://x.org/a.png)\n- plain\n",
        "> - > words of both\n> - plain\n",
    ],
)
def test_a_part_that_begins_with_marks_is_copied_with_them(source: str) -> None:
    with shown([answer("a", source)]) as view:
        until_idle(view)
        document_of = ScratchDocuments(view).document
        end = document_of(0, 0).toPlainText().index("lain")
        span = Span(TextPosition(0, 0, 0), TextPosition(0, 0, end))
        wanted = source[: source.index("lain")]
        assert copied_markdown(view.model, document_of, span) == wanted.strip()
