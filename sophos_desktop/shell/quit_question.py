"""Asks, once, what becomes of the runs when the window is to be closed, and shows what it then waits for.

Invariant: only a person is asked, and only while this process runs something: signals and the end of the
desktop's session never wait for an answer. No nested loop. A run that waits for a decision does not ask. A
person who asks again while the program ends cuts nothing off: the banner's button does that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.shapes import Shape

_LONGEST_TITLE = 40
_NAMED_TOOLS = 3


class Runs(Protocol):
    """What is asked of the runs of this process."""

    def stop(self, conversation_id: str) -> bool:
        """End one now."""

    def active(self, conversation_id: str) -> object | None:
        """The one that is active there."""

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Told of each conversation whose run starts, changes or ends."""


class QuitQuestion(QDialog):
    """A window-modal question with three answers; deletes itself when it is closed."""

    stop_chosen = Signal()
    finish_chosen = Signal()

    def __init__(self, parent: QWidget, run_count: int) -> None:
        """Open at once by `open()`. Escape and the dialog's own close button cancel."""
        super().__init__(parent)
        self.setObjectName("quitQuestion")
        self.setWindowTitle("Quit Sophos?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        several = run_count > 1
        heading = QLabel(
            f"{run_count} answers are being written" if several else "An answer is being written", self
        )
        heading.setObjectName("quitQuestionHeading")
        heading.setStyleSheet("font-weight: 600;")
        text = QLabel(
            "Whatever you choose, what is done stays saved, and the rest can be resumed at the next start.",
            self,
        )
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        cancel = self._button("quitCancelButton", "Cancel")
        cancel.clicked.connect(self.reject)
        stop = self._button("quitStopButton", "Stop and quit")
        stop.clicked.connect(lambda: self._answer(self.stop_chosen.emit))
        finish = self._button(
            "quitFinishButton", "Finish these steps and quit" if several else "Finish this step and quit"
        )
        finish.setProperty("primary", "true")
        finish.clicked.connect(lambda: self._answer(self.finish_chosen.emit))
        finish.setDefault(True)
        buttons = QHBoxLayout()
        buttons.addWidget(cancel)
        buttons.addStretch(1)
        buttons.addWidget(stop)
        buttons.addWidget(finish)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addLayout(buttons)
        self.setMinimumWidth(440)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        return button

    def _answer(self, tell: Callable[[], None]) -> None:
        self.accept()
        tell()


class ClosingBanner(Banner):
    """Says, while the window closes, which steps it waits for, and ends them at once if the person wants.

    Lives as long as its window; hidden but for that time."""

    stop_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Put into a column of banners by whoever makes it."""
        super().__init__("closingBanner", "notice", Shape.RUNNING, theme, parent, closable=False)
        self.stop_button = self.add_button("closingStopButton", "Stop now")
        self.stop_button.setAccessibleDescription("What is done stays saved, and the rest can be resumed")
        self.stop_button.clicked.connect(self._on_stop)

    def say(self, waits_for: Sequence[str]) -> None:
        """One sentence part for each run that is still active; none takes the banner away."""
        if not waits_for:
            self.hide()
            return
        count = len(waits_for)
        title = (
            "Finishing this step, then closing." if count == 1 else f"Finishing {count} steps, then closing."
        )
        self.show_message(title, f"Waiting for {'; '.join(waits_for)}.")

    def _on_stop(self) -> None:
        self.stop_button.setEnabled(False)
        self.stop_wanted.emit()


def waited_for(title: str, events: Iterable[Mapping[str, Any]]) -> str:
    """What the step that runs now still needs, as part of a sentence, by the stored events of its run."""
    under_way: dict[str, str] = {}
    for event in events:
        if event["type"] == "tool_call":
            under_way[event["tool_call_id"]] = f"{event['server']}.{event['tool']}"
        elif event["type"] == "tool_result":
            under_way.pop(event["tool_call_id"], None)
        elif event["type"] == "run_started":
            under_way.clear()  # of a sitting before
    where = " ".join(title.split())
    where = where if len(where) <= _LONGEST_TITLE else where[: _LONGEST_TITLE - 1].rstrip() + "…"
    tools = list(dict.fromkeys(under_way.values()))
    shown = ", ".join(tools[:_NAMED_TOOLS]) + (" and others" if len(tools) > _NAMED_TOOLS else "")
    return f"{shown or 'the model'} in “{where}”"


class QuitGate(QObject):
    """Between who wants to quit and the staged shutdown. Lives as long as the program."""

    runs_changed = Signal()

    def __init__(self, window: QWidget, quit_: Callable[[str], None]) -> None:
        """`quit_` begins the shutdown at its first call, hurries it at the next."""
        super().__init__(window)
        self._window = window
        self._quit = quit_
        self._runs: Runs | None = None
        self._active: set[str] = set()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._question: QuitQuestion | None = None
        self._is_quitting = False
        self._hears_window = True
        self.is_patient = False
        """True if a person chose to let the step finish, however long it takes."""

    @property
    def active_conversations(self) -> Sequence[str]:
        """Where this process runs something."""
        return tuple(sorted(self._active))

    @property
    def has_active_runs(self) -> bool:
        """True while this process runs something."""
        return bool(self._active)

    def attach(self, runs: Runs) -> None:
        """The core is open, and nothing runs yet."""
        self._runs = runs
        self._unsubscribe = runs.subscribe(self._on_run_changed)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._runs = None
        self._active.clear()

    def request(self, reason: str) -> None:
        """A person wants to quit. A key that is held, or pressed again since the window is still there,
        hurries nothing: all that happens then takes a bounded time, but for the step that the person chose to
        wait for."""
        if not self._hears_window or self._is_quitting:
            return
        if self._question is not None:
            self._question.raise_()
            self._question.activateWindow()
        elif self._active:
            self._ask()
        else:
            self._go(reason)

    def insist(self, reason: str) -> None:
        """A signal came: nobody is asked, and each step may finish within its time."""
        self._close_question()
        self._go(reason)

    def end_session(self, reason: str) -> None:
        """The desktop's session ends: as for a signal. The system closes the window too, which must not hurry
        what has just begun."""
        self.insist(reason)
        self._hears_window = False

    def _ask(self) -> None:
        question = QuitQuestion(self._window, len(self._active))
        question.stop_chosen.connect(self._on_stop)
        question.finish_chosen.connect(self._on_finish)
        question.finished.connect(self._on_answered)
        self._question = question
        question.open()

    def _on_answered(self, _result: int) -> None:
        self._question = None

    def _on_stop(self) -> None:
        if self._runs is not None:
            for conversation_id in tuple(self._active):
                self._runs.stop(conversation_id)
        self._go("stop and quit")

    def _on_finish(self) -> None:
        self.is_patient = True
        self._go("finish this step and quit")

    def _on_run_changed(self, conversation_id: str) -> None:
        if self._runs is None:
            return
        if self._runs.active(conversation_id) is not None:
            self._active.add(conversation_id)
        else:
            self._active.discard(conversation_id)
        self.runs_changed.emit()
        if not self._active and self._question is not None:
            self._close_question()  # it was about nothing but the runs, and there is none left
            self._go("the end of the run")

    def _close_question(self) -> None:
        if self._question is not None:
            self._question.close()

    def _go(self, reason: str) -> None:
        self._is_quitting = True
        self._quit(reason)
