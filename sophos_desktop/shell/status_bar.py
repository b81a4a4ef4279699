"""The bar at the lower edge: which engine and model answer, and how the tool servers stand.

Invariant: it only reports; asking it never delays anything else, and one question is out at a time.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.specs import EngineChoice, EngineStatus, ServerState, ServerStatus
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import BAR_HEIGHT
from sophos_desktop.shell.widgets.pane_button import PaneButton
from sophos_desktop.shell.widgets.shapes import Shape
from sophos_desktop.shell.widgets.status_item import StatusItem

_ASK_AGAIN_MILLISECONDS = 15_000
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
        self.setFixedHeight(BAR_HEIGHT)
        self._theme = theme
        self.engine = StatusItem("statusEngine", "Engine", theme, self)
        self.servers = StatusItem("statusServers", "Tool servers", theme, self)
        self.run = StatusItem("statusRun", "Conversation", theme, self)
        self._activity = QLabel(self)
        self._activity.setObjectName("statusActivity")
        self.addWidget(self.engine)
        self.addWidget(self.run)
        self.addWidget(self._activity)
        self.addPermanentWidget(self.servers)
        self.engine.say("opening…", "The app is loading its parts.")
        self.show_run(None)

    def add_toggles(self, left: QAction, right: QAction) -> None:
        """Two buttons at the ends that show and hide what is there."""
        for place, action, shape in ((0, left, Shape.LEFT_PANE), (-1, right, Shape.RIGHT_PANE)):
            button = PaneButton(action, shape, self._theme, self)
            if place == 0:
                self.insertWidget(0, button)
            else:
                self.addPermanentWidget(button)

    def show_run(self, run: RunRecord | None) -> None:
        """What became of the open conversation's last run, and who answered; None: nothing ran."""
        self.run.setVisible(run is not None)
        if run is not None:
            word, shape, colour = _RUN_LOOKS[run.status]
            model = f"  ·  {run.model}" if run.model else ""
            self.run.say(f"{word}{model}", run.error_message or "", shape, colour)

    def say_activity(self, text: str) -> None:
        """What the app itself is doing, for example closing."""
        self._activity.setText(text)

    def show_engine(self, status: EngineStatus, choice: EngineChoice | None) -> None:
        """How the engine stands, and which model would answer."""
        name = f"{status.engine.value.capitalize()} {status.version or ''}".strip()
        model = f"  ·  {choice.model}" if choice is not None else ""
        reason = "\n".join(part for part in (status.text, status.remedy, choice and choice.reason) if part)
        if status.reachable:
            self.engine.say(f"{name} reachable{model}", reason, Shape.UP, "success")
        else:
            self.engine.say(f"{name} down{model}", reason, Shape.DOWN, "danger")

    def show_engine_error(self, error: SophosError) -> None:
        """The engine could not even be chosen."""
        self.engine.say("no engine", error.message, Shape.DOWN, "danger")

    def show_servers(self, statuses: Sequence[ServerStatus]) -> None:
        """Counts, with the states and reasons of all as the tooltip."""
        failed = any(status.state is ServerState.FAILED for status in statuses)
        lines = [f"{status.name}: {status.state.value}. {status.reason}".strip() for status in statuses]
        reason = "\n".join(lines) or "No tool server is configured."
        self.servers.say(server_words(statuses), reason, Shape.FAILED if failed else None, "danger")


class StatusFeed(QObject):
    """Asks the core and tells the bar; works between `attach` and `detach`."""

    def __init__(self, bar: StatusBar, owner: TaskOwner, parent: QObject) -> None:
        """Feeds `bar`."""
        super().__init__(parent)
        self._bar = bar
        self._owner = owner
        self._core: Core | None = None
        self._is_asking = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._timer = QTimer(self)
        self._timer.setInterval(_ASK_AGAIN_MILLISECONDS)
        self._timer.timeout.connect(self.refresh)

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core
        self._unsubscribe = core.servers.subscribe(self._on_servers_changed)
        self._on_servers_changed()
        self._timer.start()
        self.refresh()

    def detach(self) -> None:
        """The core is about to close."""
        self._timer.stop()
        self._unsubscribe()
        self._core = None

    def refresh(self) -> None:
        """Ask how the engine stands."""
        if self._core is not None and not self._is_asking:
            self._is_asking = True
            self._owner.spawn(self._ask(self._core), "engine status")

    async def _ask(self, core: Core) -> None:
        try:
            status = await core.engines.status()
            choice: EngineChoice | None = None
            if status.reachable:
                choice = await core.engines.choose(None, None)
            self._bar.show_engine(status, choice)
        except SophosError as error:
            self._bar.show_engine_error(error)
        finally:
            self._is_asking = False

    def _on_servers_changed(self) -> None:
        if self._core is not None:
            self._bar.show_servers(self._core.servers.statuses())


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
