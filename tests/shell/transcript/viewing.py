"""A transcript on the (offscreen) screen, and what it looks like."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.theme.tokens import LIGHT, Tokens
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

PROSE = "Some words about nothing much, which go on for a while so that a line is full and another begins. "


def user(name: str, text: str) -> TranscriptMessage:
    """A message of the user's."""
    return TranscriptMessage(name, MessageKind.USER, text)


def answer(name: str, text: str, *, is_open: bool = False) -> TranscriptMessage:
    """An answer."""
    return TranscriptMessage(name, MessageKind.ANSWER, text, is_open=is_open)


def conversation(turns: int) -> list[TranscriptMessage]:
    """Questions and answers of several shapes."""
    shapes = (
        PROSE * 3,
        "# Heading\n\n" + PROSE + "\n\n- one\n- two `code`\n\n> quoted\n",
        "```python\n" + "".join(f"value_{n} = {n}  # comment\n" for n in range(12)) + "```\n\nafter\n",
        "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\n" + PROSE,
    )
    messages = []
    for turn in range(turns):
        messages.append(user(f"u{turn}", f"Question {turn}? " + PROSE * (turn % 3)))
        messages.append(answer(f"a{turn}", f"Answer {turn}. Words.\n\n" + shapes[turn % len(shapes)]))
    return messages


def settle() -> None:
    """Let what is due happen: layouts, paints, deletions."""
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def until_idle(view: TranscriptView, turns: int = 5_000) -> None:
    """Until the view has done all that it does in spare time; bounded."""
    for _ in range(turns):
        settle()
        if not view.is_busy:
            return
        QTest.qWait(1)
    raise AssertionError("the view never came to rest")


@contextmanager
def shown(
    messages: Sequence[TranscriptMessage], width: int = 700, height: int = 500, tokens: Tokens = LIGHT
) -> Iterator[TranscriptView]:
    """A view in a window of its own, laid out and painted, with its model as `view.model`."""
    host = QWidget()
    host.resize(width, height)
    view = TranscriptView(Looks.of(tokens, 1.0, host.devicePixelRatioF()), host)
    view.resize(width, height)
    model = TranscriptModel(view)
    model.reset(messages)
    view.set_model(model)
    host.show()
    assert QTest.qWaitForWindowExposed(host)
    settle()
    try:
        yield view
    finally:
        host.close()
        host.deleteLater()
        settle()


def on_screen(view: TranscriptView) -> QImage:
    """What was painted and moved: the window's own pixels, no new painting."""
    until_idle(view)
    window, viewport, ratio = view.window(), view.viewport(), view.devicePixelRatioF()
    corner, size = viewport.mapTo(window, QPoint(0, 0)), viewport.size()
    if QGuiApplication.platformName() == "offscreen":
        # Its screen does not know of scale factors.
        pixels = window.backingStore().paintDevice()
        assert isinstance(pixels, QImage)
        edges = (corner.x(), corner.y(), size.width(), size.height())
        taken = pixels.copy(QRect(*(round(edge * ratio) for edge in edges)))
    else:
        grabbed = window.screen().grabWindow(
            window.winId(), corner.x(), corner.y(), size.width(), size.height()
        )
        taken = grabbed.toImage()
    return taken.convertToFormat(QImage.Format.Format_RGB32)


def painted_anew(view: TranscriptView) -> QImage:
    """What painting everything gives, now."""
    return view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def is_same_picture(one: QImage, other: QImage, tolerance: int = 2) -> bool:
    """Whether two pictures are equal, but for `tolerance` steps of 255 a channel: the edge of a curve that is
    clipped by the edge of the view is rounded otherwise than the same edge farther in."""
    if one.size() != other.size():
        return False
    if one == other:
        return True
    for y in range(one.height()):
        line, opposite = line_of(one, y), line_of(other, y)
        if line != opposite:
            differences = (abs(a - b) for a, b in zip(line, opposite, strict=True))
            if max(differences) > tolerance:
                return False
    return True


def line_of(picture: QImage, y: int) -> bytes:
    """The bytes of a line; the type stubs call a memoryview an object."""
    return bytes(cast(memoryview, picture.constScanLine(y)))
