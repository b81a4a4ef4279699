"""The one place where asyncio events cross to Qt.

Invariant: deltas reach the view as whole messages, at most once a frame, and never after a later event of
the same run; the timer runs only while a delta waits. Every signal carries the conversation it is about.
"""

from collections.abc import AsyncGenerator, Callable
from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.events import (
    ApprovalNeeded,
    Event,
    MessageStored,
    Notice,
    Recovered,
    RunEvent,
    RunStarted,
    SittingEnded,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import RunHandle

FRAME_MILLISECONDS = 16
_SHARE_OF_TIME = 3  # a slow view gets two thirds of the time for everything else


class _GrowingMessage:
    """A message while its deltas arrive."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thinking: list[str] = []

    def whole(self, message_id: str) -> Message:
        text, thinking = "".join(self.text), "".join(self.thinking)
        self.text, self.thinking = [text], [thinking]
        return Message(id=message_id, role=Role.ASSISTANT, text=text, thinking=thinking or None)


class EventBridge(QObject):
    """Follows one run at a time; lives as long as its window, on the GUI thread."""

    run_started = Signal(str, object)  # conversation id, RunStarted
    message_grew = Signal(str, object)  # conversation id, Message so far
    message_stored = Signal(str, object)  # conversation id, Message
    tool_started = Signal(str, object)  # conversation id, ToolCallStarted
    tool_finished = Signal(str, object)  # conversation id, ToolCallFinished
    decision_needed = Signal(str, object)  # conversation id, ApprovalNeeded
    noticed = Signal(str, object)  # conversation id, Notice
    recovered = Signal(str, object)  # conversation id, Recovered
    ended = Signal(str, object)  # conversation id, SittingEnded
    stored = Signal(str, object)  # conversation id, RunEvent: each one that lasts, for the trace

    def __init__(self, owner: TaskOwner, parent: QObject | None = None) -> None:
        """`owner` keeps the task that follows."""
        super().__init__(parent)
        self._owner = owner
        self._handle: RunHandle | None = None
        self._cancel: Callable[[], object] = _nothing
        self._growing: dict[str, _GrowingMessage] = {}
        self._dirty: dict[str, None] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._flush)
        self._interval = FRAME_MILLISECONDS

    @property
    def following(self) -> RunHandle | None:
        """The run that is being followed, until its end has been told."""
        return self._handle

    @property
    def timer_is_active(self) -> bool:
        """True while a delta waits for its frame."""
        return self._timer.isActive()

    def follow(self, handle: RunHandle) -> None:
        """Tell what happened in the sitting of `handle` and then what happens; leaves the run before."""
        self.leave()
        self._handle = handle
        task = self._owner.spawn(self._pump(handle), f"follow {handle.run_id}")
        self._cancel = task.cancel

    def leave(self) -> None:
        """Follow nothing; the run itself goes on."""
        self._cancel()
        self._cancel = _nothing
        self._forget()

    def _forget(self) -> None:
        self._handle = None
        self._timer.stop()
        self._growing.clear()
        self._dirty.clear()

    async def _pump(self, handle: RunHandle) -> None:
        events = handle.events()
        try:
            async for item in events:
                self._take(handle.conversation_id, item)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    def _take(self, conversation_id: str, item: RunEvent) -> None:
        event = item.event
        if isinstance(event, TextDelta | ThinkingDelta):
            growing = self._growing.setdefault(event.message_id, _GrowingMessage())
            pieces = growing.text if isinstance(event, TextDelta) else growing.thinking
            pieces.append(event.text)
            self._dirty[event.message_id] = None
            if not self._timer.isActive():
                self._timer.start(self._interval)
            return
        self._flush()
        self.stored.emit(conversation_id, item)
        if isinstance(event, MessageStored):
            self._growing.pop(event.message.id, None)
            self.message_stored.emit(conversation_id, event.message)
        elif isinstance(event, SittingEnded):
            self._forget()
            self.ended.emit(conversation_id, event)
        else:
            self._tell(conversation_id, event)

    def _tell(self, conversation_id: str, event: Event) -> None:
        signals = {
            RunStarted: self.run_started,
            ToolCallStarted: self.tool_started,
            ToolCallFinished: self.tool_finished,
            ApprovalNeeded: self.decision_needed,
            Notice: self.noticed,
            Recovered: self.recovered,
        }
        signal = signals.get(type(event))
        if signal is not None:
            signal.emit(conversation_id, event)

    def _flush(self) -> None:
        self._timer.stop()
        if not self._dirty or self._handle is None:
            return
        began = monotonic()
        dirty = tuple(self._dirty)
        self._dirty.clear()
        for message_id in dirty:
            whole = self._growing[message_id].whole(message_id)
            self.message_grew.emit(self._handle.conversation_id, whole)
        spent_milliseconds = (monotonic() - began) * 1000
        self._interval = max(FRAME_MILLISECONDS, round(spent_milliseconds * _SHARE_OF_TIME))


def _nothing() -> None:
    """Nothing is followed, so there is nothing to cancel."""
