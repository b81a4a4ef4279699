"""The transcript inside the whole window, as a process that measures itself; prints one JSON object.

Times are in milliseconds: what a change of size, zoom or theme costs with everything around the view, and
what a tool result of 60 MB does. `cpu`: the processor time of the thread.
"""

import json
from collections.abc import Callable
from time import perf_counter, thread_time

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.application import prepare_application
from sophos_desktop.shell.chat.item_kinds import ToolItem, UserItem
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.garbage import GuiCollector
from sophos_desktop.shell.main_window import MainWindow
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.benchmarks.transcript_probe import Figures, timed, turn, until_idle
from tests.benchmarks.transcript_texts import conversation

RESULT_CHARACTERS = 60_000_000
_REPEATS = 9


def messages_of_conversation(count: int) -> list[Message]:
    """The messages that the view alone is measured with, as they are stored."""
    return [
        Message(message.id, Role.USER if message.id.startswith("u") else Role.ASSISTANT, message.text)
        for message in conversation(count)
    ]


def open_messages(window: MainWindow, messages: list[Message]) -> None:
    """Fold them into items, and show these."""
    folded = TranscriptItems()
    folded.reset(messages)
    window.chat.transcript.open_items(folded.items)


def measured(figures: Figures, name: str, window: MainWindow, *works: Callable[[], object]) -> None:
    """The median of some changes, each with its way back."""
    times: list[float] = []
    used: list[float] = []
    for number in range(_REPEATS * len(works)):
        began = thread_time()
        times.append(timed(works[number % len(works)]))
        used.append((thread_time() - began) * 1000)
        until_idle(window.chat.transcript, [])
    figures[name] = sorted(times)[len(times) // 2]
    figures[f"{name} cpu"] = sorted(used)[len(used) // 2]


def big_result(window: MainWindow) -> Figures:
    """A call returned 60 MB: the card is there, is opened, and the whole is shown in a window."""
    line = "2026-11-30 12:00:00 host service[123]: a line of a log that says what happened there\n"
    text = (line * (RESULT_CHARACTERS // len(line) + 1))[:RESULT_CHARACTERS]
    call = ToolItem("m1:0", "files", "read", '{"path": "log"}', status="ok", result=text)
    transcript = window.chat.transcript
    gaps = [0.0]
    figures = {"card": timed(lambda: transcript.open_items([UserItem("u1", "Read it"), call]))}
    until_idle(transcript, gaps)
    head = transcript.findChildren(ToolCard)[0].heads[0]
    figures["opened"] = timed(lambda: QTest.mouseClick(head, Qt.MouseButton.LeftButton))
    until_idle(transcript, gaps)
    figures["window"] = timed(lambda: transcript.open_text("log", text))
    shown = window.findChildren(BigResultWindow)[0]
    end = perf_counter() + 60
    while not shown.view.is_done and perf_counter() < end:
        began = perf_counter()
        turn()
        gaps.append((perf_counter() - began) * 1000)
    figures["gap"] = max(gaps)
    shown.close()
    return figures


def main() -> None:
    """Measure all."""
    application = QApplication([])
    prepare_application(application)

    def fail(error: BaseException) -> None:
        raise error

    window = MainWindow(TaskOwner(fail))
    collector = GuiCollector(window)
    collector.start()
    window.resize(1280, 800)
    window.show()
    QTest.qWaitForWindowExposed(window)
    window.chat.show_transcript()
    messages = messages_of_conversation(10_000)
    figures: Figures = {"open": timed(lambda: open_messages(window, messages))}
    until_idle(window.chat.transcript, [])
    theme = window.theme
    theme.choose("light")
    measured(figures, "resize", window, lambda: window.resize(1000, 800), lambda: window.resize(1280, 800))
    measured(figures, "zoom", window, theme.zoom_in, theme.reset_zoom)
    measured(figures, "theme", window, lambda: theme.choose("dark"), lambda: theme.choose("light"))
    figures |= {f"result {name}": value for name, value in big_result(window).items()}
    collector.stop()
    print(json.dumps(figures), flush=True)
    window.close_now()
    del application


if __name__ == "__main__":
    main()
