"""The selection by mouse and by keyboard, in a real view."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest

from sophos_desktop.shell.transcript.positions import TextPosition
from sophos_desktop.shell.transcript.selection import Selection
from sophos_desktop.shell.transcript.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.transcript_view import TranscriptView
from tests.shell.transcript.card_rig import mouse, wait_for
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
            (Qt.Key.Key_Down, SHIFT, "two\n\nthree four\nfive"),
            (Qt.Key.Key_Home, SHIFT, "two\n\nthree four"),
        ]
        for key, modifiers, text in steps:
            QTest.keyClick(view, key, modifiers)
            assert selection.text() == text, key
        QTest.keyClick(view, Qt.Key.Key_End, SHIFT | CONTROL)
        assert selection.text() == "two\n\nthree four\nfive"
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
        assert QGuiApplication.clipboard().text() == "Head\nwith words"


def test_a_word_beside_an_emoji_is_the_word_alone() -> None:
    with selecting([answer("a", "😀😀 words")]) as (view, selection):
        mouse(view.viewport(), DOUBLE, point_of(view, 0, 6))
        mouse(view.viewport(), RELEASE, point_of(view, 0, 6))
        assert selection.text() == "words"
