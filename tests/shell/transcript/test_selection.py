"""The selection by mouse and by keyboard, in a real view."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest

from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.selecting.kept_ends import in_units
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.card_rig import mouse, wait_for
from tests.shell.transcript.samples import CORPUS
from tests.shell.transcript.viewing import PROSE, answer, conversation, on_screen, settle, shown, user

PRESS, MOVE, RELEASE = QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease
DOUBLE = QEvent.Type.MouseButtonDblClick
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@contextmanager
def selecting(
    messages: list[TranscriptMessage], width: int = 700, height: int = 500
) -> Iterator[tuple[TranscriptView, Selection]]:
    with shown(messages, width, height) as view:
        selection = Selection(view)
        view.window().activateWindow()
        view.setFocus()
        settle()
        yield view, selection


def point_of(view: TranscriptView, message: int, character: int, segment: int = 0) -> QPoint:
    """Just behind the left edge of a character that is in the view."""
    start = TextPosition(message, segment, character)
    (area, *_) = view.geometry_of_text.rectangles(start, TextPosition(message, segment, character + 1))
    return QPoint(round(area.left()) + 1, round(area.center().y()))


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    for kind, point in ((PRESS, start), (MOVE, end), (RELEASE, end)):
        mouse(view.viewport(), kind, point)


def test_a_drag_selects_across_messages_and_is_painted() -> None:
    with selecting([user("u", "Hello there"), answer("a", "General *words* here.")]) as (view, selection):
        blank = on_screen(view)
        drag(view, point_of(view, 0, 6), point_of(view, 1, 13))
        assert selection.text() == "there\n\nGeneral words"
        assert selection.markdown().startswith("there\n\nGeneral *words*")
        picture = on_screen(view)
        colour = QColor(view.looks.tokens.accent_line).rgb()
        ground = sum(
            picture.pixel(x, y) == colour for x in range(0, picture.width(), 2) for y in range(0, 120, 2)
        )
        assert ground > 100
        QTest.keyClick(view, Qt.Key.Key_Escape)
        assert selection.span is None
        assert on_screen(view) == blank


def test_a_drag_upwards_selects_the_same() -> None:
    with selecting([user("u", "Hello there"), answer("a", "General words here.")]) as (view, selection):
        drag(view, point_of(view, 1, 7), point_of(view, 0, 6))
        assert selection.text() == "there\n\nGeneral"
        assert selection.caret == TextPosition(0, 0, 6)


def test_two_presses_take_the_word_and_three_the_paragraph() -> None:
    with selecting([answer("a", "First line here.\n\nSecond paragraph of words.")]) as (view, selection):
        point = point_of(view, 0, 8)
        mouse(view.viewport(), PRESS, point)
        mouse(view.viewport(), RELEASE, point)
        assert selection.span is None
        mouse(view.viewport(), DOUBLE, point)
        mouse(view.viewport(), RELEASE, point)
        assert selection.text() == "line"
        mouse(view.viewport(), PRESS, point)
        mouse(view.viewport(), RELEASE, point)
        assert selection.text() == "First line here."


def test_a_drag_after_two_presses_goes_on_by_words() -> None:
    with selecting([answer("a", "alpha beta gamma delta epsilon")]) as (view, selection):
        mouse(view.viewport(), DOUBLE, point_of(view, 0, 12))
        mouse(view.viewport(), MOVE, point_of(view, 0, 19))
        assert selection.text() == "gamma delta"
        mouse(view.viewport(), MOVE, point_of(view, 0, 7))
        assert selection.text() == "beta gamma"
        mouse(view.viewport(), RELEASE, point_of(view, 0, 7))
        assert selection.text() == "beta gamma"


def test_a_press_with_shift_moves_the_end() -> None:
    with selecting([answer("a", "alpha beta gamma")]) as (view, selection):
        drag(view, point_of(view, 0, 0), point_of(view, 0, 5))
        mouse(view.viewport(), PRESS, point_of(view, 0, 10), SHIFT)
        mouse(view.viewport(), RELEASE, point_of(view, 0, 10), SHIFT)
        assert selection.text() == "alpha beta"


def test_a_drag_beyond_the_edge_scrolls_on_until_it_ends() -> None:
    with selecting(conversation(30)) as (view, selection):
        view.scroll_to_message(0)
        settle()
        mouse(view.viewport(), PRESS, QPoint(300, 200))
        mouse(view.viewport(), MOVE, QPoint(300, view.viewport().height() + 40))
        wait_for(lambda: view.transcript_layout.visible_messages.start >= 4)
        mouse(view.viewport(), RELEASE, QPoint(300, view.viewport().height() + 40))
        span = selection.span
        assert span is not None
        assert span.end.message - span.start.message >= 4
        here = view.transcript_layout.anchor
        settle()
        assert view.transcript_layout.anchor == here


def test_keys_with_shift_extend_by_characters_words_lines_and_messages() -> None:
    with selecting([user("u", "one two"), answer("a", "three four\n\nfive")]) as (view, selection):
        selection.select(TextPosition(0, 0, 4), TextPosition(0, 0, 4))
        steps = [
            (Qt.Key.Key_Right, SHIFT, "t"),
            (Qt.Key.Key_End, SHIFT, "two"),
            (Qt.Key.Key_Right, SHIFT, "two"),
            (Qt.Key.Key_Right, SHIFT | CONTROL, "two\n\nthree "),
            (Qt.Key.Key_Down, SHIFT, "two\n\nthree four\n\nfive"),
            (Qt.Key.Key_Home, SHIFT, "two\n\nthree four"),
        ]
        for key, modifiers, text in steps:
            QTest.keyClick(view, key, modifiers)
            assert selection.text() == text, key
        QTest.keyClick(view, Qt.Key.Key_End, SHIFT | CONTROL)
        assert selection.text() == "two\n\nthree four\n\nfive"
        QTest.keyClick(view, Qt.Key.Key_Home, SHIFT | CONTROL)
        assert selection.text() == "one "


def test_everything_is_selected_and_copied_whatever_is_laid_out() -> None:
    messages = conversation(60)
    with selecting(messages) as (view, selection):
        QTest.keyClick(view, Qt.Key.Key_A, CONTROL)
        copied: list[bool] = []
        selection.copied.connect(lambda: copied.append(True))
        QTest.keyClick(view, Qt.Key.Key_C, CONTROL)
        wait_for(lambda: bool(copied))
        text = QGuiApplication.clipboard().text()
        assert text.startswith("Question 0?")
        assert all(f"Answer {turn}." in text for turn in range(60))
        copied.clear()
        QTest.keyClick(view, Qt.Key.Key_C, CONTROL | SHIFT)
        wait_for(lambda: bool(copied))
        assert "```python\nvalue_0 = 0" in QGuiApplication.clipboard().text()
        QTest.keyClick(view, Qt.Key.Key_Left, SHIFT)
        assert selection.caret is not None
        assert selection.caret.message == len(messages) - 1


def test_nothing_moves_while_something_is_selected_and_text_streams() -> None:
    messages = [*conversation(6), answer("open", "It begins. ", is_open=True)]
    with selecting(messages) as (view, _selection):
        last = len(messages) - 1
        drag(view, point_of(view, last, 0), point_of(view, last, 2))
        settle()
        top = view.geometry_of_text.rectangles(TextPosition(last, 0, 0), TextPosition(last, 0, 1))[0].top()
        for _ in range(40):
            view.model.append(last, PROSE)
            settle()
        now = view.geometry_of_text.rectangles(TextPosition(last, 0, 0), TextPosition(last, 0, 1))[0].top()
        assert now == top
        assert not view.is_at_end
        assert _selection.text() == "It"


def test_the_selection_stays_on_its_words_when_messages_come_above() -> None:
    with selecting([user("u", "Hello there"), answer("a", "General words")]) as (view, selection):
        selection.select(TextPosition(0, 0, 6), TextPosition(1, 0, 7))
        view.model.insert(0, [user("x", "Earlier"), answer("y", "Much earlier")])
        settle()
        assert selection.text() == "there\n\nGeneral"
        view.model.remove(2, 3)
        assert selection.span is None


def test_a_message_is_copied_by_itself() -> None:
    source = "# Head\n\nwith *words*\n"
    with selecting([answer("a", source)]) as (_view, selection):
        selection.copy_message(0, as_markdown=True)
        assert QGuiApplication.clipboard().text() == source
        copied: list[bool] = []
        selection.copied.connect(lambda: copied.append(True))
        selection.copy_message(0, as_markdown=False)
        wait_for(lambda: bool(copied))
        assert QGuiApplication.clipboard().text() == "Head\n\nwith words"


def test_a_word_beside_an_emoji_is_the_word_alone() -> None:
    with selecting([answer("a", "😀😀 words")]) as (view, selection):
        mouse(view.viewport(), DOUBLE, point_of(view, 0, 6))
        mouse(view.viewport(), RELEASE, point_of(view, 0, 6))
        assert selection.text() == "words"


def selected_word(view: TranscriptView, selection: Selection, word: str, message: int = 0) -> None:
    """Select the last place of a word in the last segments of a message."""
    segments = view.model.segments(message)
    for segment in reversed(range(len(segments))):
        text = in_units(ScratchDocuments(view).document(message, segment).toPlainText())
        at = text.rfind(word)
        if at >= 0:
            selection.select(
                TextPosition(message, segment, at), TextPosition(message, segment, at + len(word))
            )
            return
    raise AssertionError(word)


@pytest.mark.parametrize(
    ("before", "more", "word"),
    [
        ("**Important words here and more words ", ["end*", "* and so on."], "here"),
        ("**Important words here and `more", ["` words** and so on."], "Important"),
        ("See [the guide][g] and other words.", ["\n\n", "[g]: http://x.org/a\n"], "other"),
        ("A claim[^1] and words", [".\n\n[^1]: Note.\n"], "words"),
        ("Words $$ x^2 + y^2 = z", [" $$ after", " it"], "Words"),
        ("Title words", ["\n", "===\n", "after"], "words"),
        ("word " * 590 + "needle ", ["word " * 30, "word " * 600], "needle"),
        ("```\n" + "line\n" * 78 + "needle\n", ["line\n" * 200], "needle"),
    ],
)
def test_a_selection_stays_on_its_words_while_their_paragraph_is_written(
    before: str, more: list[str], word: str
) -> None:
    with selecting([answer("a", before, is_open=True)]) as (view, selection):
        selected_word(view, selection, word)
        for piece in more:
            view.model.append(0, piece)
            assert selection.text() == word
            settle()
        view.model.close(0)
        settle()
        assert selection.text() == word


def test_what_is_painted_as_selected_moves_with_it() -> None:
    with selecting([answer("a", "**Important words here ", is_open=True)]) as (view, selection):
        selected_word(view, selection, "words")
        view.model.append(0, "end** and so on.")
        wait_for(lambda: selection.span is not None and selection.span.start.character == 10)
        picture = on_screen(view)
        colour = QColor(view.looks.tokens.accent_line).rgb()
        span = selection.span
        assert span is not None
        (area,) = view.geometry_of_text.rectangles(span.start, span.end)
        place = area.toAlignedRect()
        row = range(picture.width())
        marked = [x for x in row if picture.pixel(x, place.top() + 1) == colour]
        assert abs(marked[0] - place.left()) <= 1
        assert abs(marked[-1] - place.right()) <= 1


def test_a_selection_in_what_became_a_formula_is_given_up() -> None:
    with selecting([answer("a", "Before $$ x^2 + y^2 = z", is_open=True)]) as (view, selection):
        selected_word(view, selection, "y^2")
        view.model.append(0, " $$ after it")
        assert selection.span is None


@pytest.mark.parametrize("source", CORPUS)
def test_a_selected_word_is_the_same_or_given_up_at_any_split(source: str) -> None:
    step = max(1, len(source) // 12)
    for cut in range(step, len(source), step):
        with selecting([answer("a", source[:cut], is_open=True)]) as (view, selection):
            shown = [ScratchDocuments(view).document(0, n) for n in range(len(view.model.segments(0)))]
            words = re.findall(r"\w{3,}", "\n".join(document.toPlainText() for document in shown[-1:]))
            if not words:
                continue
            selected_word(view, selection, words[-1])
            for start in range(cut, len(source), 7):
                view.model.append(0, source[start : start + 7])
            view.model.close(0)
            assert selection.text() in (words[-1], "")


HUGE = "needlebegin\n\n" + "some **bold words** 😀 here\n\n- an *item*\n\n" * 1_500 + "needleend"


def test_an_answer_that_nobody_read_is_copied_whole() -> None:
    messages = [user("u", "question"), answer("a", HUGE), *conversation(20)]
    with selecting(messages) as (view, selection):
        view.model.segments(1)
        assert view.model.is_raw(1)
        copied: list[str] = []
        selection.copied.connect(lambda: copied.append(QGuiApplication.clipboard().text()))
        selection.copy_message(1, as_markdown=False)
        waiting = QGuiApplication.overrideCursor()
        assert waiting is not None and waiting.shape() is Qt.CursorShape.BusyCursor
        wait_for(lambda: len(copied) == 1)
        assert QGuiApplication.overrideCursor() is None
        assert copied[0].startswith("needlebegin\n\nsome bold words 😀 here\n\n•\tan item\n\nsome")
        assert copied[0].count("bold words") == 1_500
        assert copied[0].endswith("needleend")
        selection.select_all()
        selection.copy_markdown()
        wait_for(lambda: len(copied) == 2)
        assert HUGE in copied[1]


def test_what_is_selected_in_an_unread_answer_is_its_source_and_stays_selected_when_it_is_read() -> None:
    with selecting([answer("a", HUGE), *conversation(20)]) as (view, selection):
        segment = len(view.model.segments(0)) - 2
        assert view.model.is_raw(0)
        text = in_units(ScratchDocuments(view).document(0, segment).toPlainText())
        at = text.index("bold words")
        selection.select(TextPosition(0, segment, at - 2), TextPosition(0, segment, at + 10))
        assert selection.text() == selection.markdown() == "**bold words"
        selection.select(TextPosition(0, segment, at), TextPosition(0, segment, at + 10))
        assert view.model.is_raw(0)
        while not view.model.read_on(0, 0.01):
            pass
        assert selection.text() == "bold words"
        selection.select(TextPosition(0, 0, 0), TextPosition(1, 0, 8))
        assert selection.text().endswith("needleend\n\nQuestion")


def test_a_copy_whose_conversation_is_gone_leaves_the_clipboard_alone() -> None:
    with selecting([answer("a", HUGE), *conversation(20)]) as (view, selection):
        QGuiApplication.clipboard().setText("before")
        copied: list[bool] = []
        selection.copied.connect(lambda: copied.append(True))
        selection.copy_message(0, as_markdown=False)
        assert not copied
        view.model.remove(0, 0)
        selection.select(TextPosition(0, 0, 0), TextPosition(0, 0, 8))
        settle()
        assert QGuiApplication.clipboard().text() == "before"
        selection.copy_text()
        wait_for(lambda: bool(copied))
        assert QGuiApplication.clipboard().text() == "Question"
