"""The caret in the text by keyboard."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.reader import Reader
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import PROSE, answer, conversation, on_screen, settle, shown, user

SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@contextmanager
def reading(messages: list[TranscriptMessage]) -> Iterator[tuple[TranscriptView, Selection, Reader]]:
    with shown(messages) as view:
        selection = Selection(view)
        reader = Reader(view, selection)
        view.window().activateWindow()
        view.setFocus()
        settle()
        yield view, selection, reader
        reader.close_reader()
        settle()


def test_f7_puts_a_caret_into_the_message_and_escape_takes_it_away() -> None:
    source = "# Title\n\nSome *words* and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    with reading([answer("a", source)]) as (view, _selection, reader):
        blank = on_screen(view)
        QTest.keyClick(view, Qt.Key.Key_F7)
        settle()
        assert reader.hasFocus()
        assert reader.message == 0
        assert "Some words and code." in reader.toPlainText()
        assert reader.isReadOnly()
        QTest.keyClick(reader, Qt.Key.Key_Down)
        for _ in range(2):
            QTest.keyClick(reader, Qt.Key.Key_Right, SHIFT | CONTROL)
        assert reader.textCursor().selectedText() == "Some words "
        QTest.keyClick(reader, Qt.Key.Key_C, CONTROL)
        assert QGuiApplication.clipboard().text() == "Some words "
        QTest.keyClicks(reader, "xyz")
        assert "xyz" not in reader.toPlainText()
        QTest.keyClick(reader, Qt.Key.Key_Escape)
        settle()
        assert reader.isHidden()
        assert view.hasFocus()
        assert on_screen(view) == blank


def test_enter_reads_the_message_of_the_selection_from_its_caret() -> None:
    messages = [user("u", "First words"), answer("a", "Second words\n\nand more")]
    with reading(messages) as (view, selection, reader):
        selection.select(TextPosition(1, 0, 7), TextPosition(1, 0, 7))
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert reader.message == 1
        assert reader.textCursor().position() == 7


def test_the_reader_lies_over_its_message_and_follows_it() -> None:
    with reading(conversation(20)) as (view, _selection, reader):
        view.scroll_to_message(6)
        settle()
        assert reader.open_reader(6)
        settle()
        placed = next(part for part in view.transcript_layout.placed if part.message == 6)
        assert abs(reader.y() + 12 - max(16, placed.top)) <= 1
        y = reader.y()
        view.scroll_by(-40)
        settle()
        assert reader.y() == y + 40
        view.model.insert(0, [user("x", "Earlier")])
        settle()
        assert reader.message == 7
        view.scroll_to_message(30)
        settle()
        assert reader.geometry().bottom() < 0
        assert reader.hasFocus()


def test_the_view_does_not_follow_the_end_while_somebody_reads() -> None:
    with reading([*conversation(5), answer("o", "Begun. ", is_open=True)]) as (view, _selection, reader):
        reader.open_reader(10)
        anchor = view.transcript_layout.anchor
        for _ in range(20):
            view.model.append(10, PROSE)
            settle()
        assert view.transcript_layout.anchor == anchor


def test_a_very_long_message_is_read_as_plain_text() -> None:
    text = "".join(f"Paragraph number {number}.\n\n{PROSE * 40}\n\n" for number in range(260))
    with reading([answer("a", text)]) as (view, _selection, reader):
        while not view.model.read_on(0, 0.05):
            pass
        settle()
        assert reader.open_reader(0)
        assert "Paragraph number 259." in reader.toPlainText()


def test_the_end_of_a_wide_line_of_code_is_reached_by_keyboard() -> None:
    with reading([answer("a", "```text\n" + "wide " * 100 + "\nshort\n```\n")]) as (
        _view,
        _selection,
        reader,
    ):
        assert reader.open_reader(0)
        settle()
        QTest.keyClick(reader, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(reader, Qt.Key.Key_End)
        settle()
        assert reader.horizontalScrollBar().value() > 0
        assert reader.viewport().rect().contains(reader.cursorRect().center())
