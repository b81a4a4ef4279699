"""The view paints what painting everything would give, and moves nothing that is read."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.theme.tokens import DARK
from sophos_desktop.shell.transcript.drawing.documents import LIMIT
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.positions import Highlight, TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.view.sideways_bar import bar_of
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import (
    PROSE,
    answer,
    conversation,
    is_same_picture,
    on_screen,
    painted_anew,
    settle,
    shown,
    until_idle,
    user,
)

STREAM = "# Title\n\n" + PROSE * 2 + "\n\n```python\n" + "x = 1  # one\n" * 9 + "```\n\n- a\n- b\n\n" + PROSE
ROOT = Path(__file__).resolve().parents[3]


def test_moving_pixels_gives_what_painting_everything_gives() -> None:
    with shown([*conversation(12), answer("open", "", is_open=True)]) as view:
        last = len(view.model) - 1
        for start in range(0, len(STREAM), 16):
            view.model.append(last, STREAM[start : start + 16])
            assert is_same_picture(on_screen(view), painted_anew(view))
        for pixels in (-100, -37, 50, -400, 3, -1_000, 250):
            view.scroll_by(pixels)
            assert is_same_picture(on_screen(view), painted_anew(view))


@pytest.mark.parametrize("factor", ["1.25", "1.5", "2"])
def test_it_does_so_at_every_scale(factor: str) -> None:
    # The factor is the application's: a process of its own.
    name = f"{Path(__file__).name}::test_moving_pixels_gives_what_painting_everything_gives"
    environment = {**os.environ, "QT_SCALE_FACTOR": factor, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).parent / name)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_nothing_moves_while_the_reader_has_scrolled_up() -> None:
    with shown([*conversation(12), answer("open", "", is_open=True)]) as view:
        view.scroll_by(-700)
        until_idle(view)
        view.pill.hide()  # it counts what comes
        before = on_screen(view)
        last = len(view.model) - 1
        for start in range(0, len(STREAM) * 10, 64):
            view.model.append(last, (STREAM * 10)[start : start + 64])
            settle()
        view.model.insert(0, conversation(30))
        until_idle(view)
        view.pill.hide()
        assert on_screen(view) == before
        assert not view.is_at_end


def test_a_paint_right_after_a_change_paints_what_is_there() -> None:
    with shown(conversation(20)) as view:
        view.scroll_to_message(6)
        until_idle(view)
        changes: tuple[Callable[[], None], ...] = (
            lambda: view.model.insert(0, [user("x", "Earlier")]),
            lambda: view.model.remove(0, 3),
            lambda: view.model.replace(5, answer("b", "Other.\n\n```text\n" + "wide " * 99 + "\n```")),
            lambda: view.model.remove(4, len(view.model) - 1),
        )
        for change in changes:
            change()
            painted_anew(view)  # nothing was let happen in between
            assert is_same_picture(on_screen(view), painted_anew(view))


def test_the_view_follows_the_end_until_something_holds_it() -> None:
    with shown([*conversation(3), answer("open", "", is_open=True)]) as view:
        last = len(view.model) - 1
        view.model.append(last, PROSE * 5)
        settle()
        assert (view.is_at_end, view.pill.isVisible()) == (True, False)
        view.set_held("selection", is_held=True)
        view.model.append(last, "\n\n" + PROSE * 20)
        settle()
        assert (view.is_at_end, view.pill.isVisible()) == (False, True)
        view.set_held("selection", is_held=False)
        settle()
        assert (view.is_at_end, view.pill.isVisible()) == (False, True)
        QTest.mouseClick(view.pill, Qt.MouseButton.LeftButton)
        settle()
        assert (view.is_at_end, view.pill.isVisible()) == (True, False)


def test_the_pill_counts_the_lines_that_came() -> None:
    with shown([*conversation(8), answer("open", "", is_open=True)]) as view:
        counted: list[int] = []
        view.newBelow.connect(counted.append)
        view.scroll_by(-600)
        settle()
        assert counted == []
        view.model.append(len(view.model) - 1, "one\n\ntwo\n\nthree\n\n" * 5)
        settle()
        assert counted[-1] > 5
        assert f"{counted[-1]} new lines" in view.pill.accessibleName()
        view.jump_to_latest()
        assert counted[-1] == 0


def test_a_narrow_window_and_back_gives_the_same_picture() -> None:
    with shown(conversation(20), width=900) as view:
        view.scroll_by(-1_537)
        until_idle(view)
        before = on_screen(view)
        for width in (600, 480, 900):
            view.resize(width, 500)
            until_idle(view)
        assert on_screen(view) == before


def test_another_theme_moves_nothing() -> None:
    with shown(conversation(10)) as view:
        view.scroll_by(-500)
        until_idle(view)
        places = list(view.transcript_layout.placed)
        light = on_screen(view)
        view.set_looks(Looks.of(DARK))
        until_idle(view)
        assert list(view.transcript_layout.placed) == places
        dark = on_screen(view)
        assert dark.pixelColor(2, 2).name().upper() == DARK.paper
        assert dark != light
        assert dark == painted_anew(view)


def test_far_away_places_are_reached_by_bar_and_key() -> None:
    with shown(conversation(300)) as view:
        assert view.is_at_end
        bar = view.verticalScrollBar()
        bar.setValue(bar.maximum() // 2)
        assert 200 < view.transcript_layout.visible_messages.start < 400
        QTest.keyClick(view, Qt.Key.Key_Home)
        assert view.transcript_layout.visible_messages.start == 0
        assert bar.value() == 0
        assert view.transcript_layout.placed[0].top == 12
        QTest.keyClick(view, Qt.Key.Key_PageDown)
        assert bar.value() == view.viewport().height() - 48
        QTest.keyClick(view, Qt.Key.Key_End)
        assert view.is_at_end
        assert bar.value() == bar.maximum()


def test_paging_through_everything_keeps_few_documents_and_finds_the_beginning() -> None:
    with shown(conversation(300)) as view:
        for _ in range(1_000):
            QTest.keyClick(view, Qt.Key.Key_PageUp)
            assert len(view.transcript_layout.documents) <= LIMIT
            if view.verticalScrollBar().value() == 0:
                break
        assert view.transcript_layout.placed[0].message == 0
        # All heights are known now: the sum is that of the places.
        view.jump_to_latest()
        assert view.transcript_layout.placed[-1].bottom == view.viewport().height() - 8


def test_a_huge_last_message_is_read_in_slices_and_ends_as_if_read_at_once() -> None:
    text = STREAM * 120
    with shown([user("u", "?"), answer("a", text)]) as view:
        assert view.model.is_raw(1)
        assert view.is_at_end
        until_idle(view)
        assert not view.model.is_raw(1)
        assert view.is_at_end
        whole = on_screen(view)
    with shown([user("u", "?"), answer("a", text[:-3], is_open=True)]) as view:
        until_idle(view)
        view.model.append(1, text[-3:])
        view.model.close(1)
        until_idle(view)
        assert on_screen(view) == whole


def test_code_that_is_too_wide_scrolls_in_its_frame_alone() -> None:
    code = "```text\n" + "wide " * 100 + "\nshort\n```\n"
    with shown([answer("a", PROSE + "\n\n" + code)]) as view:
        part = view.geometry_of_text.text_part(view.transcript_layout.placed[-1])
        assert part is not None
        assert part.group is not None
        before = on_screen(view)
        assert view.sideways.scroll(part.group, 200, part.drawn.width)
        view.schedule()
        settle()
        after = on_screen(view)
        assert after != before
        assert after == painted_anew(view)
        top = view.transcript_layout.placed[-1].top
        assert after.copy(0, 0, after.width(), top) == before.copy(0, 0, before.width(), top)
        assert not view.sideways.scroll(part.group, 100_000, part.drawn.width) or (
            view.sideways.offset(part.group) == part.drawn.built.natural_width - part.drawn.width
        )


@pytest.mark.parametrize("kind", ["code", "table"])
def test_the_bar_of_what_is_too_wide_is_dragged_with_the_mouse(kind: str) -> None:
    row = "| " + " | ".join(f"number {number}" for number in range(20)) + " |\n"
    sources = {
        "code": "```text\n" + "wide " * 100 + "\nshort\n```\n",
        "table": row + "|---" * 20 + "|\n" + row * 2,
    }
    with shown([answer("a", sources[kind])]) as view:
        settle()
        part = view.geometry_of_text.text_part(view.transcript_layout.placed[-1])
        assert part is not None
        assert part.group is not None
        widest = view.sideways.widest(part.group)
        bar = bar_of(part, widest, view.looks)
        assert bar is not None
        grip = bar.handle.center().toPoint()
        held = Qt.MouseButton.LeftButton
        QTest.mousePress(view.viewport(), held, pos=grip)
        away = QPointF(grip.x() + 30, grip.y() - 200)  # wherever else the pointer goes
        none = Qt.KeyboardModifier.NoModifier
        move = QMouseEvent(QEvent.Type.MouseMove, away, away, held, held, none)
        QApplication.sendEvent(view.viewport(), move)
        QTest.mouseRelease(view.viewport(), held, pos=away.toPoint())
        assert view.sideways.offset(part.group) == round(30 * bar.room / bar.travel)
        assert is_same_picture(on_screen(view), painted_anew(view))

        end = QPoint(round(bar.reach.right()) - 2, grip.y())
        QTest.mouseClick(view.viewport(), held, pos=end)
        assert view.sideways.offset(part.group) == widest - part.drawn.width


def test_a_place_and_its_rectangle_belong_together() -> None:
    with shown(conversation(6)) as view:
        geometry = view.geometry_of_text
        for placed in view.transcript_layout.placed:
            middle = QPointF(view.viewport().width() / 2, (placed.top + placed.bottom) / 2)
            position = geometry.position_at(middle)
            assert position is not None
            assert (position.message, position.segment) == (placed.message, placed.part)
        start, end = TextPosition(10, 0, 0), TextPosition(11, 0, 6)
        assert all(each.height() == 24 for each in geometry.rectangles(start, end))
        before = on_screen(view)
        view.set_highlights("found", [Highlight(start, end, "#00FF00")])
        assert on_screen(view) != before
        assert is_same_picture(on_screen(view), painted_anew(view))
        view.set_highlights("found", [])
        assert on_screen(view) == before


def test_a_place_is_brought_into_the_view() -> None:
    with shown(conversation(100)) as view:
        view.scroll_to(TextPosition(41, 0, 3))
        settle()
        (rectangle,) = view.geometry_of_text.rectangles(TextPosition(41, 0, 3), TextPosition(41, 0, 5))
        assert 0 < rectangle.top() < view.viewport().height() / 2
        value = view.verticalScrollBar().value()
        view.scroll_to(TextPosition(41, 0, 4))
        assert view.verticalScrollBar().value() == value


class Box(QWidget):
    """A card whose height is its message's text."""

    def __init__(self, message: TranscriptMessage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.message = message

    def show_message(self, message: TranscriptMessage) -> None:
        self.message = message
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(100, int(self.message.text))


def card(name: str, height: int) -> TranscriptMessage:
    return TranscriptMessage(name, MessageKind.CARD, str(height))


def make_box(message: TranscriptMessage, is_footer: bool, parent: QWidget) -> QWidget:
    return Box(message, parent)


def test_cards_stand_in_the_column_and_are_as_high_as_they_say() -> None:
    with shown([user("u", "?"), card("c", 50), card("d", 30), answer("a", "words")]) as view:
        view.set_card_factory(make_box)
        settle()
        box, other = view.card(1), view.card(2)
        assert box is not None
        assert other is not None
        assert (box.x(), box.width(), box.height()) == (view.geometry_of_text.column_left, 600, 50)
        assert other.y() == box.geometry().bottom() + 1 + 4
        view.model.replace(1, card("c", 90))
        settle()
        assert box.height() == 90
        assert other.y() == box.geometry().bottom() + 1 + 4
        view.model.remove(1, 1)
        settle()
        assert view.card(1) is other


def test_a_card_with_the_focus_keeps_it_far_from_the_view() -> None:
    with shown([card("c", 50), *conversation(60)]) as view:
        view.set_card_factory(make_box)
        QTest.keyClick(view, Qt.Key.Key_Home)
        settle()
        box = view.card(0)
        assert box is not None
        box.setFocus()
        assert box.hasFocus()
        view.jump_to_latest()
        settle()
        assert box.y() < -1_000
        assert box.hasFocus()
        view.scroll_to_message(0)
        settle()
        assert view.card(0) is box
        assert box.y() == 12


def test_another_conversation_is_shown_from_its_end() -> None:
    with shown(conversation(50)) as view:
        view.scroll_by(-2_000)
        view.model.reset(conversation(5))
        settle()
        assert view.is_at_end
        assert is_same_picture(on_screen(view), painted_anew(view))
        view.model.reset([])
        settle()
        assert view.transcript_layout.placed == []
        view.set_model(TranscriptModel(view))
        view.model.insert(0, [user("u", "first")])
        settle()
        assert [placed.message for placed in view.transcript_layout.placed] == [0]


def click(view: TranscriptView, x: float, y: float) -> None:
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
