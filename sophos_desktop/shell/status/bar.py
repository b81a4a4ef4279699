"""The bar at the lower edge: which engine and model answer next, how full the context is, how servers stand.

Invariant: it shows what it was told last and asks nobody; where all words do not fit, the short ones stand,
and what another part of the window says too gives way first.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.model_choices import ContextUse
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.specs import (
    EngineChoice,
    EngineStatus,
    ServerState,
    ServerStatus,
)
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, wide
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.pane_button import PaneButton
from sophos_desktop.shell.widgets.shapes import Shape
from sophos_desktop.shell.widgets.status_item import ContextMeter, SegmentLine, StatusItem

_LONGEST_NAME, _NAME_PART, _SHORT_NAME = 32, 15, 20  # characters of a model's name
_OWN_SPACING = 2  # a status bar's own, before what it holds
_RUN_LOOKS = {
    RunStatus.RUNNING: ("Running", Shape.RUNNING, "accent"),
    RunStatus.WAITING: ("Waits for you", Shape.WAITING, "warning"),
    RunStatus.COMPLETED: ("Done", Shape.DONE, "success"),
    RunStatus.FAILED: ("Failed", Shape.FAILED, "danger"),
    RunStatus.CANCELLED: ("Stopped", Shape.STOPPED, "text_2"),
    RunStatus.INTERRUPTED: ("Interrupted", Shape.INTERRUPTED, "plum"),
}


class StatusBar(QStatusBar):
    """Lives as long as its window."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says that the app is opening."""
        super().__init__(parent)
        self.setObjectName("statusBar")
        self.setSizeGripEnabled(False)
        self._theme = theme
        self.engine = StatusItem("statusEngine", "Engine", theme, self)
        self.model = StatusItem("statusModel", "Model", theme, self)
        self.context = ContextMeter(theme, self)
        self.servers = StatusItem("statusServers", "Tool servers", theme, self)
        self.run = StatusItem("statusRun", "Conversation", theme, self)
        self._lines: list[tuple[SegmentLine, StatusItem]] = []
        self._activity = QLabel(self)
        self._activity.setObjectName("statusActivity")
        self._activity.setFont(role_font(TYPE.small))
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()
        self._row = self._lay_out()
        self.engine.say("opening…", "The app is loading its parts.")
        self.show_model(None, "")
        self.show_run(None)
        for line, item in self._lines:
            line.setVisible(not item.isHidden())

    def _lay_out(self) -> QHBoxLayout:
        holder = self._holder = QWidget(self)
        holder.setMinimumWidth(1)  # else a narrow window could not have a bar as narrow as itself
        holder.installEventFilter(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(MEASURES.row_inset - _OWN_SPACING, 0, MEASURES.row_inset, 0)
        row.setSpacing(0)
        row.addWidget(self.engine)
        for item in (self.model, self.context):
            row.addWidget(self._line_before(item))
            row.addWidget(item)
        row.addWidget(self._activity)
        row.addStretch(1)
        row.addWidget(self.run)
        row.addWidget(self._line_before(self.run))
        row.addWidget(self.servers)
        self.addWidget(holder, 1)
        layout = self.layout()
        if layout is not None:  # Qt puts a few pixels around what a status bar holds
            layout.setContentsMargins(0, 0, 0, 0)
        return row

    def _line_before(self, item: StatusItem) -> SegmentLine:
        """A line that is there while `item` is."""
        line = SegmentLine(self)
        line.setFixedHeight(self._theme.tokens.measures.status_bar - 9)
        item.installEventFilter(self)
        self._lines.append((line, item))
        return line

    def _on_sizes_changed(self) -> None:
        height = self._theme.tokens.measures.status_bar
        self.setFixedHeight(height)
        self._activity.setFont(role_font(TYPE.small))
        for line, _ in self._lines:
            line.setFixedHeight(height - 9)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A line goes with its segment; other words may need other room."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self._holder:
            self._fit()
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            for line, item in self._lines:
                if item is watched:
                    line.setVisible(not item.isHidden())
        return super().eventFilter(watched, event)

    def add_toggles(self, left: QAction, right: QAction) -> None:
        """Two buttons at the ends that show and hide what is there."""
        self._row.insertWidget(0, PaneButton(left, Shape.LEFT_PANE, self._theme, self))
        self._row.addWidget(PaneButton(right, Shape.RIGHT_PANE, self._theme, self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window say less."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """All words where they fit, else the short ones; the button at the end is never cut off."""
        items = (self.engine, self.model, self.context, self.run, self.servers)
        there = [item for item in items if not item.isHidden()]
        others = self._row.sizeHint().width() - sum(item.width_of(is_short=item.is_short) for item in there)
        others += sum(line.isHidden() for line, _ in self._lines)  # the same whoever has room
        needed = others + sum(item.width_of(is_short=False) for item in items)
        is_short = self.width() <= wide(MEASURES.words_fit_width) or needed > self.width()
        for item in items:
            item.set_short(is_short=is_short)
        needed = others + sum(item.width_of(is_short=is_short) for item in items)
        # The composer names the model, the transcript says what became of the run.
        for item in (self.model, self.run, self.context, self.servers, self.engine):
            item.give_room(has_room=needed <= self.width())
            needed -= 0 if item.has_room else item.width_of(is_short=is_short)

    def show_run(self, run: RunRecord | None) -> None:
        """What became of the open conversation's last run, and who answered; None: nothing ran."""
        self.run.setVisible(run is not None)
        if run is not None:
            word, shape, colour = _RUN_LOOKS[run.status]
            model = f"  ·  {run.model}" if run.model else ""
            self.run.say(f"{word}{model}", run.error_message or "", shape, colour, short=word)

    def show_model(self, model: str | None, reason: str) -> None:
        """The model that would answer; None: nothing is known of one."""
        name = model or ""
        self.model.setVisible(bool(name))
        shown = name if len(name) <= _LONGEST_NAME else f"{name[:_NAME_PART]}…{name[-_NAME_PART:]}"
        short = name if len(name) <= _SHORT_NAME else f"{name[: _SHORT_NAME - 1]}…"
        about = reason if shown == name == short else "\n".join(part for part in (name, reason) if part)
        self.model.say(shown, about, short=short)
        self.model.setAccessibleName(f"Model: {name}")

    def say_activity(self, text: str) -> None:
        """What the app itself is doing, for example closing."""
        self._activity.setText(text)

    def end_activity(self, text: str) -> None:
        """It does this no more; whatever else was said meanwhile stays."""
        if self._activity.text() == text:
            self._activity.setText("")

    def show_engine(self, status: EngineStatus, choice: EngineChoice | None) -> None:
        """How the engine stands, and which model would answer."""
        name = status.engine.value.capitalize()
        full = f"{name} {status.version or ''}".strip()
        reason = "\n".join(part for part in (status.text, status.remedy) if part)
        if status.reachable:
            self.engine.say(full, reason, Shape.UP, "success", short=name)
        else:
            self.engine.say(f"{full} down", reason, Shape.DOWN, "danger", short=f"{name} down")
        self.show_model(choice.model if choice else None, (choice.reason or "") if choice else "")

    def show_context(self, use: ContextUse | None) -> None:
        """How full the context was after the last call; None: that is not known."""
        if use is None:
            self.context.show_nothing()
        else:
            self.context.show_use(use.used_tokens, use.context_tokens)

    def show_unopened(self, error: SophosError) -> None:
        """The store could not be opened."""
        self.engine.say("not open", f"{error.message} ({error.code})", Shape.DOWN, "danger")

    def show_engine_error(self, error: SophosError) -> None:
        """The engine could not even be chosen."""
        self.engine.say("no engine", error.message, Shape.DOWN, "danger")
        self.show_model(None, "")

    def show_servers(self, statuses: Sequence[ServerStatus]) -> None:
        """Counts, with the states and reasons of all as the tooltip."""
        failed = any(status.state is ServerState.FAILED for status in statuses)
        lines = [f"{status.name}: {status.state.value}. {status.reason}".strip() for status in statuses]
        reason = "\n".join(lines) or "No tool server is configured."
        words, used = server_words(statuses), sum(s.state is not ServerState.STOPPED for s in statuses)
        if failed:
            self.servers.say(words, reason, Shape.WARNING, "warning", short=str(used), tone="warning")
        else:
            self.servers.say(words, reason, Shape.SERVERS, short=str(used))


def server_words(statuses: Sequence[ServerStatus]) -> str:
    """`2 servers, 5 tools`, and how many failed or are starting."""
    used = [status for status in statuses if status.state is not ServerState.STOPPED]
    if not used:
        return "no tool servers"
    tools = sum(len(status.tools) for status in statuses)
    words = [_count(len(used), "server"), _count(tools, "tool")]
    starting = sum(status.state in (ServerState.STARTING, ServerState.RESTARTING) for status in statuses)
    failed = sum(status.state is ServerState.FAILED for status in statuses)
    if starting:
        words.append(f"{starting} starting")
    if failed:
        words.append(f"{failed} failed")
    return ", ".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
