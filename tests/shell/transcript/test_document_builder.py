"""A segment's document shows all of its text, asks for nothing, and tells the view what to paint."""

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QTextCursor, QTextDocument

from sophos_desktop.shell.theme.tokens import DARK
from sophos_desktop.shell.transcript.drawing.built import LinkKind, text_rectangles
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme
from tests.shell.transcript.answers import LIGHT, WIDTH, Answer, one


def slice_of(document: QTextDocument, start: int, end: int) -> str:
    return plain_text(document, start, end)


def test_headings_have_their_size_weight_and_gap() -> None:
    answer = Answer("text\n\n# One\n\n## Two\n\n### Three\n")

    fonts = [answer.block_of(words).charFormat().font() for words in ("One", "Two", "Three")]
    assert [font.pixelSize() for font in fonts] == [20, 17, 15]
    assert {font.weight() for font in fonts} == {600}
    assert [answer.block_of(words).blockFormat().lineHeight() for words in ("One", "Two")] == [28, 24]
    assert answer.block_of("One").blockFormat().topMargin() == 16
    assert answer.block_of("Two").blockFormat().headingLevel() == 2


def test_the_gap_above_the_first_block_is_left_to_the_view() -> None:
    document, built = one("# One\n")

    assert built.gap_before == 16
    assert document.begin().blockFormat().topMargin() == 0
    assert document.size().height() == 28


def test_lists_are_marked_indented_and_counted() -> None:
    document, built = one("3. a\n   - b\n     - c\n4. d\n\n- [x] e\n- [ ] f\n")

    assert plain_text(document).split("\n") == ["3.\ta", "◦\tb", "▪\tc", "4.\td", "☑\te", "☐\tf"]
    lefts = [document.findBlockByNumber(number).blockFormat().leftMargin() for number in range(4)]
    assert lefts == [20, 40, 60, 20]
    assert [box.is_checked for box in built.task_boxes] == [True, False]
    assert [slice_of(document, box.position, box.position + 1) for box in built.task_boxes] == ["☑", "☐"]


def test_a_list_that_was_cut_goes_on_counting() -> None:
    answer = Answer("1. item\n" * 500)

    numbers = [line.split(".")[0] for line in answer.text.split("\n") if line]
    assert numbers == [str(number) for number in range(1, 501)]
    assert answer.built[1].gap_before == 0


def test_links_lead_to_web_and_mail_only() -> None:
    document, built = one(
        "[good](https://x.org/a) <mailto:a@x.org> [local](file:///etc/passwd) [script](javascript:alert(1)) "
        "[bare](/etc/passwd) see https://y.org/b(c)."
    )

    assert [(slice_of(document, link.start, link.end), link.target) for link in built.links] == [
        ("good", "https://x.org/a"),
        ("mailto:a@x.org", "mailto:a@x.org"),
        ("https://y.org/b(c)", "https://y.org/b(c)"),
    ]
    assert plain_text(document).endswith("local script bare see https://y.org/b(c).")
    assert text_rectangles(document, built.links[0].start, built.links[0].end)[0].width() > 10


def test_nothing_in_an_answer_makes_qt_ask_for_a_resource() -> None:
    answer = Answer(
        "![one](file:///etc/passwd) ![two](http://127.0.0.1:9/x.png) ![](//host/share/x.png)\n\n"
        "![ref][r] ![data](data:image/svg+xml,<svg/>) [![in](/a.png)](http://x.org)\n\n"
        "<img src='file:///etc/passwd'> <style>@import url(http://127.0.0.1:9/x.css)</style>\n\n"
        "| ![cell](\\\\host\\share) |\n|---|\n| $x$ |\n\n# ![head](x.png)\n\n[r]: file:///etc/group\n"
    )

    for document in answer.documents:
        document.size()
        document.toHtml()
    assert [document.asked for document in answer.documents] == [[]] * len(answer.documents)
    images = [image for built in answer.built for image in built.blocked_images]
    assert [image.address for image in images if image.is_card] == [
        *("file:///etc/passwd", "http://127.0.0.1:9/x.png", "//host/share/x.png", "file:///etc/group"),
        *("data:image/svg+xml,%3Csvg/%3E", "file:///etc/passwd"),
    ]
    assert [image.words for image in images if not image.is_card] == ["in", "cell", "head"]


def test_a_blocked_image_is_a_card_between_the_words() -> None:
    document, built = one("before ![chart](https://x.org/c.png) after")

    assert plain_text(document).split("\n") == [
        "before ",
        "Image: chart",
        "Not loaded: https://x.org/c.png",
        "after",
    ]
    card = built.blocked_images[0]
    assert (card.block, card.words) == (1, "chart")
    assert document.findBlockByNumber(1).blockFormat().topMargin() > 8, "its frame reaches above it"
    assert document.findBlockByNumber(2).blockFormat().topMargin() > 8, "and below it"


def test_an_image_without_words_is_a_card_of_one_line() -> None:
    document, _ = one("![](https://x.org/c.png)")

    assert plain_text(document) == "Image not loaded: https://x.org/c.png"


def test_a_block_of_code_has_its_box_language_and_source() -> None:
    document, built = one("```py\nif a:\n\tb()\n```\n")

    box = built.code_boxes[0]
    assert (box.first_block, box.last_block, box.language, box.source) == (0, 1, "Python", "if a:\n\tb()")
    assert built.room_above + built.room_below == 1 + 28 + 12 + 1
    assert document.size().height() == 2 * 18
    assert document.begin().blockFormat().nonBreakableLines()


def test_a_wide_line_of_code_sticks_out_instead_of_wrapping() -> None:
    document, built = one("```\n" + "wide " * 100 + "\n```\n")

    assert document.size().height() == 18
    assert built.natural_width > 2 * WIDTH


def test_pieces_of_one_block_of_code_are_one_card() -> None:
    answer = Answer("```py\n" + "x = 1\n" * 200 + "```\n")

    boxes = [built.code_boxes[0] for built in answer.built]
    assert [(box.is_first, box.is_last) for box in boxes] == [(True, False), (False, False), (False, True)]
    assert [built.room_above > 0 for built in answer.built] == [True, False, False]
    assert [built.room_below > 0 for built in answer.built] == [False, False, True]
    assert [built.gap_before for built in answer.built] == [8, 0, 0]


def test_code_in_a_list_and_in_a_quote_has_a_box_there() -> None:
    answer = Answer("1. a\n\n   ```sh\n   ls\n   ```\n\n> ```\n> x\n> ```\n")

    boxes = [box for built in answer.built for box in built.code_boxes]
    assert [(box.left, box.source) for box in boxes] == [(20, "ls"), (19, "x")]


def test_code_is_read_from_left_to_right_and_hides_nothing() -> None:
    answer = Answer("```\nעברית \u202e evil\n```\n\nעברית קודם\n\nenglish first\n\nنص")

    assert "\u202e" not in answer.text
    directions = {words: answer.block_of(words).textDirection() for words in ("evil", "קודם", "first", "نص")}
    assert directions == {
        "evil": Qt.LayoutDirection.LeftToRight,
        "קודם": Qt.LayoutDirection.RightToLeft,
        "first": Qt.LayoutDirection.LeftToRight,
        "نص": Qt.LayoutDirection.RightToLeft,
    }


def test_a_paragraph_from_right_to_left_begins_at_the_right_edge() -> None:
    document, built = one("> نص\n> - نص\n")

    first = document.begin().blockFormat()
    assert (first.rightMargin(), first.leftMargin()) == (19, 80)
    assert built.quote_bars[0].is_right


def test_quotes_have_bars_over_all_their_blocks() -> None:
    document, built = one("> a\n>\n> > b\n>\n> - c\n\nafter\n")

    bars = [(bar.first_block, bar.last_block, bar.inset) for bar in built.quote_bars]
    assert bars == [(1, 1, 19), (0, 2, 0)]
    assert document.findBlockByNumber(1).blockFormat().leftMargin() == 38


def test_a_table_has_its_alignments_and_fills_the_column() -> None:
    document, built = one("| a | b | c |\n|:--|--:|:-:|\n| 1 | **2** | $x$ |\n| `4` |\n")

    assert built.has_table
    assert plain_text(document) == "a\tb\tc\n1\t2\t$x$\n4\t\t"
    frames = document.rootFrame().childFrames()
    assert len(frames) == 1
    block = document.findBlock(document.find("2").position())
    assert block.blockFormat().alignment() & Qt.AlignmentFlag.AlignRight
    assert document.idealWidth() == pytest.approx(WIDTH, abs=2)


def test_later_pieces_of_a_table_stand_below_the_first() -> None:
    rows = "".join(f"| {number} | {'wide ' * (number % 20)} | x |\n" for number in range(40))
    answer = Answer("| number | words | mark |\n|--|--|--|\n" + rows)

    tables = [document.rootFrame().childFrames()[0].frameFormat() for document in answer.documents]
    widths = [
        [length.rawValue() for length in table.toTableFormat().columnWidthConstraints()] for table in tables
    ]
    assert len(widths) == 3
    assert widths[1:] == widths[:1] * 2
    assert sum(widths[0]) == WIDTH
    assert answer.text.count("number") == 1
    assert [built.gap_before for built in answer.built] == [8, 0, 0]


def test_a_table_with_too_many_columns_sticks_out_or_is_source() -> None:
    many = "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n|" + "1|" * 100 + "\n"
    some = "|" + "word|" * 30 + "\n|" + "-|" * 30 + "\n|" + "word|" * 30 + "\n"

    assert one(many)[1].code_boxes
    assert one(some)[1].natural_width > WIDTH


def test_formulas_are_drawn_and_copied_as_source() -> None:
    document, built = one("so $x^2$ and\n\n$$\ny\n$$\n\n\\(\\foo\\) costs $5 and $6\n")

    assert [(formula.tex, formula.is_drawn) for formula in built.formulas] == [
        ("x^2", True),
        ("y", True),
        ("\\foo", False),
    ]
    assert built.formulas[0].spoken == "x squared"
    assert plain_text(document).split("\n") == ["so $x^2$ and", "$$y$$", "\\(\\foo\\) costs $5 and $6"]
    assert document.resource(QTextDocument.ResourceType.ImageResource.value, QUrl("formula:1")) is not None


def test_footnotes_are_raised_numbers_that_lead_to_their_text() -> None:
    document, built = one("One[^b] and [^nowhere].\n\n[^b]: The note.\n")

    assert plain_text(document).split("\n") == ["One1 and [^nowhere].", "1.\tThe note."]
    link = built.links[0]
    assert (link.kind, link.target) == (LinkKind.FOOTNOTE, "b")
    assert document.findBlockByNumber(1).charFormat().font().pixelSize() == 13


def test_inline_code_is_left_to_the_view_to_fill() -> None:
    document, built = one("call `f(x)` or **`g`** now")

    assert [slice_of(document, run.start, run.end) for run in built.inline_code] == ["f(x)", "g"]


def test_there_is_air_around_inline_code_that_counts_for_nothing() -> None:
    with_code, built = one("call `f(x)`, now")
    plain, _ = one("call f(x), now")
    assert plain_text(with_code) == plain_text(plain)
    assert with_code.characterCount() == plain.characterCount()

    def left_of(document: QTextDocument, position: int) -> float:
        return text_rectangles(document, position, position + 1)[0].left()

    run = built.inline_code[0]
    air = LIGHT.code_air
    assert left_of(with_code, run.start) == left_of(plain, run.start) + air
    code = text_rectangles(with_code, run.start, run.end)[0]
    letter = text_rectangles(with_code, run.start, run.start + 1)[0]
    assert round(code.width()) == round(letter.width() * (run.end - run.start) + air)
    assert left_of(with_code, run.end) == code.right()


def test_the_ground_of_code_leaves_air_in_text_that_runs_to_the_left() -> None:
    with_code, built = one("מלה `code` מלה (`int`).")
    run = built.inline_code[0]
    before, behind = (text_rectangles(with_code, at, at + 1)[0] for at in (run.start - 1, run.end))
    code = text_rectangles(with_code, run.start, run.end)[0]
    plain = text_rectangles(with_code, run.end + 4, run.end + 5)[0]
    assert with_code.characterAt(run.end + 4) == " "
    air = LIGHT.code_air
    assert behind.width() == pytest.approx(plain.width() + air), "the ground reaches into it"
    assert before.width() == pytest.approx(plain.width())
    assert behind.right() == pytest.approx(code.left())
    assert before.left() == pytest.approx(code.right())


def test_joined_letters_before_code_are_not_torn_apart() -> None:
    document, built = one("كلمة`f`")
    start = built.inline_code[0].start
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    assert cursor.charFormat().fontLetterSpacing() == 0


def test_rules_and_empty_segments() -> None:
    _, built = one("a\n\n---\n\nb\n")
    assert built.rules == (1,)
    _, blank = one("\n\n\n")
    assert blank.is_empty
    assert blank.gap_before == 0


def test_text_is_narrower_than_the_column_and_fits_narrow_ones() -> None:
    words = "some words " * 40
    assert one(words)[0].begin().blockFormat().rightMargin() == WIDTH - 520
    assert one(words, width=300)[0].begin().blockFormat().rightMargin() == 0


def test_emoji_and_scripts_arrive_whole() -> None:
    text = "漢字 हिन्दी 👩\u200d👩\u200d👧 \ud83d\ude00 e\u0301"
    answer = Answer(text)

    assert answer.text == text.replace("\ud83d\ude00", "\U0001f600")


def test_what_qt_would_take_for_its_own_marks_is_replaced() -> None:
    document, _ = one("a\u2029b\ufdd0c\ufdd1d\ufffce\0f\ud83dg\x0bh")

    assert document.blockCount() == 1
    assert plain_text(document) == "a�b�c�d�e�f�g�h"


def test_a_part_of_the_text_can_be_copied() -> None:
    document, _ = one("😀 one $x$\n\ntwo\n")

    assert plain_text(document, 3, 8) == "one $x$"
    assert plain_text(document, 3, 11) == "one $x$\ntw"


def test_the_colours_are_those_of_the_theme() -> None:
    dark = TranscriptTheme.of(DARK)
    answer = Answer("text [link](http://x.org)\n", dark)

    colours = set()
    iterator = answer.documents[0].begin().begin()
    while not iterator.atEnd():
        colours.add(iterator.fragment().charFormat().foreground().color().name().upper())
        iterator += 1
    assert colours == {dark.text, dark.accent}
    assert QColor(LIGHT.text) != QColor(dark.text)
