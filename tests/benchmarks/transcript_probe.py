"""The painted transcript as a process that measures itself: `… -m tests.benchmarks.transcript_probe WHAT`.

Prints one JSON object. Times are in milliseconds, memory in megabytes. A frame is: take in 64 characters (16
ms at 1,000 tokens a second), lay out, paint what changed. Between frames the loop runs, with all
that the view does in spare time; a gap is the longest that one turn of it took.
"""

import gc
import json
import random
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, thread_time

import psutil
from PySide6.QtCore import QCoreApplication, QEventLoop, QPoint, QPointF, Qt
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser

from sophos_desktop.shell.theme.tokens import DARK, LIGHT
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.benchmarks.transcript_texts import SHAPES, answer, conversation

FRAME_SECONDS = 0.016
CHARACTERS = 64
FRAMES = 60
PEER_FRAMES = 5
PEER_MESSAGES = 1_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)

Figures = dict[str, float]


def share(times: list[float], part: float) -> float:
    """A percentile."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


def turn() -> None:
    """One turn of the loop."""
    QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds for `work` and what it makes the window do: layout and painting."""
    began = perf_counter()
    work()
    turn()
    return (perf_counter() - began) * 1000


def rest(seconds: float, gaps: list[float]) -> None:
    """Let the loop run for `seconds`, noting how long each turn takes."""
    end = perf_counter() + seconds
    while (now := perf_counter()) < end:
        turn()
        gaps.append((perf_counter() - now) * 1000)


def until_idle(view: TranscriptView, gaps: list[float]) -> None:
    """Until nothing is left to do in spare time; bounded."""
    end = perf_counter() + 20
    while view.is_busy and perf_counter() < end:
        now = perf_counter()
        turn()
        gaps.append((perf_counter() - now) * 1000)


def opened() -> tuple[TranscriptView, TranscriptModel]:
    """An empty view on the screen."""
    view = TranscriptView(Looks.of(LIGHT))
    view.resize(1000, 800)
    model = TranscriptModel(view)
    view.set_model(model)
    view.show()
    QTest.qWaitForWindowExposed(view)
    return view, model


def stream(view: TranscriptView, model: TranscriptModel) -> Figures:
    """Frames and gaps by shape and size, into 10,000 messages."""
    figures: Figures = {}
    before = conversation(10_000)
    for shape in SHAPES:
        for size in SIZES:
            whole = answer(shape, size + CHARACTERS * FRAMES)
            open_answer = TranscriptMessage("open", MessageKind.ANSWER, whole[:size], is_open=True)
            model.reset([*before, open_answer])
            until_idle(view, [])
            gc.collect()
            gc.freeze()
            frames: list[float] = []
            worked: list[float] = []
            gaps: list[float] = [0.0]
            for number in range(FRAMES):
                began = thread_time()
                piece = whole[size + number * CHARACTERS : size + (number + 1) * CHARACTERS]
                last = len(model) - 1
                frames.append(timed(partial(model.append, last, piece)))
                worked.append((thread_time() - began) * 1000)
                rest(max(0.002, FRAME_SECONDS - frames[-1] / 1000), gaps)
            figures[f"{shape} {size} p50"] = share(frames, 0.5)
            figures[f"{shape} {size} p99"] = share(frames, 0.99)
            figures[f"{shape} {size} cpu"] = share(worked, 0.99)
            figures[f"{shape} {size} gap"] = max(*gaps, *frames)
            gc.unfreeze()
    return figures


def opening(view: TranscriptView, model: TranscriptModel) -> Figures:
    """First screen of 10,000 messages and of a 1 MB last message; changes of theme, width and zoom."""
    figures: Figures = {}
    messages = conversation(10_000)
    figures["open"] = timed(lambda: model.reset(messages))
    until_idle(view, [])
    figures["theme"] = timed(lambda: view.set_looks(Looks.of(DARK)))
    until_idle(view, [])
    figures["zoom"] = timed(lambda: view.set_looks(Looks.of(DARK, 1.5)))
    view.set_looks(Looks.of(LIGHT))
    until_idle(view, [])
    figures["resize"] = timed(lambda: view.resize(600, 800))
    view.resize(1000, 800)
    until_idle(view, [])
    for shape in SHAPES:
        long = TranscriptMessage("long", MessageKind.ANSWER, answer(shape, 1_000_000))
        gaps: list[float] = [0.0]
        figures[f"open 1 MB {shape}"] = timed(partial(model.reset, [*messages, long]))
        until_idle(view, gaps)
        figures[f"open 1 MB {shape} gap"] = max(gaps)
    return figures


def moving(view: TranscriptView, model: TranscriptModel) -> Figures:
    """Wheel, pages and the bar, through 10,000 messages."""
    model.reset(conversation(10_000))
    until_idle(view, [])
    gc.collect()
    gc.freeze()
    source = random.Random(3)
    works: dict[str, Callable[[], None]] = {
        "wheel": lambda: _notch(view),
        "page": lambda: view.scroll_by(-(view.viewport().height() - 48)),
        "drag": lambda: view.verticalScrollBar().setValue(
            source.randrange(view.verticalScrollBar().maximum())
        ),
    }
    figures: Figures = {}
    for name, work in works.items():
        times = []
        for _ in range(100):
            times.append(timed(work))
            rest(0.03, [])
        figures[f"{name} p50"] = share(times, 0.5)
        figures[f"{name} p99"] = share(times, 0.99)
    return figures


def _notch(view: TranscriptView) -> None:
    middle = QPointF(view.viewport().width() / 2, view.viewport().height() / 2)
    event = QWheelEvent(
        middle,
        view.viewport().mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(view.viewport(), event)


def memory(view: TranscriptView, model: TranscriptModel) -> Figures:
    """Resident memory before and after opening 50 long conversations one after the other."""
    process = psutil.Process()

    def open_one(number: int) -> None:
        messages = conversation(2_000)
        model.reset([*messages, TranscriptMessage(f"l{number}", MessageKind.ANSWER, answer("mix", 50_000))])
        until_idle(view, [])
        for _ in range(5):
            view.scroll_by(-2_000)
            turn()

    for number in range(5):
        open_one(number)
    gc.collect()
    before = process.memory_info().rss
    for number in range(50):
        open_one(number)
        gc.collect()  # as the window's collector does, once a second
    after = process.memory_info().rss
    return {"before": before / 1e6, "after": after / 1e6}


def peer(view: TranscriptView, model: TranscriptModel) -> Figures:
    """What a simple application does: all in one QTextBrowser, the open answer written anew at each update.

    A tenth of the messages; the answer's Markdown is Qt's own."""
    view.hide()
    browser = QTextBrowser()
    browser.resize(1000, 800)
    browser.show()
    QTest.qWaitForWindowExposed(browser)

    def write(text: str, place: int) -> None:
        cursor = QTextCursor(browser.document())
        cursor.setPosition(place)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.insertMarkdown(text)
        browser.verticalScrollBar().setValue(browser.verticalScrollBar().maximum())

    texts = "\n\n".join(message.text for message in conversation(PEER_MESSAGES))
    figures: Figures = {"open": timed(partial(browser.setMarkdown, texts))}
    figures["resize"] = timed(lambda: browser.resize(600, 800))
    end = browser.document().characterCount() - 1
    for shape in SHAPES:
        for size in SIZES[:3]:
            whole = answer(shape, size + CHARACTERS * PEER_FRAMES)
            write(whole[:size], end)
            turn()
            pieces = (whole[: size + number * CHARACTERS] for number in range(1, PEER_FRAMES + 1))
            frames = [timed(partial(write, piece, end)) for piece in pieces]
            figures[f"{shape} {size} p50"] = share(frames, 0.5)
    browser.close()
    return figures


def main() -> None:
    """Measure what the argument names."""
    application = QApplication([])
    gc.disable()  # as in the window: garbage is collected on a timer
    view, model = opened()
    work = {"stream": stream, "opening": opening, "moving": moving, "memory": memory, "peer": peer}[
        sys.argv[1]
    ]
    figures = work(view, model)
    print(json.dumps(figures), flush=True)
    view.close()
    del application


if __name__ == "__main__":
    main()
