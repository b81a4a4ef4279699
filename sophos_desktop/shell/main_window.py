"""The window: joins list, conversation, status bar and actions.

Invariant: it holds no state of its own but the layout; closing it only asks for the staged shutdown.
"""

import itertools

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from sophos_desktop import __version__
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.clock import Clock, SystemClock
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.actions import Actions, ActionState
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.presenter import ChatPresenter
from sophos_desktop.shell.conversations.feed import ConversationFeed
from sophos_desktop.shell.conversations.list_model import ConversationListModel
from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.event_bridge import EventBridge
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.status_bar import StatusBar, StatusFeed
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import FIRST_WINDOW, LIST_WIDTH, SMALLEST_WINDOW
from sophos_desktop.shell.widgets.ask import Question

_GEOMETRY = "window_geometry"
_SPLITTER = "window_splitter"


class MainWindow(QMainWindow):
    """Lives as long as the program; works once `attach` was awaited, and until `detach`."""

    quit_requested = Signal(str)
    painted = Signal()

    def __init__(self, owner: TaskOwner, clock: Clock | None = None) -> None:
        """Can be shown at once; `owner` keeps its tasks."""
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Sophos Desktop")
        self.setMinimumSize(*SMALLEST_WINDOW)
        self.resize(*FIRST_WINDOW)
        self._owner = owner
        self._core: Core | None = None
        self._may_close = False
        self.theme = Theme(self)
        self.actions_ = Actions(self)
        self.model = ConversationListModel(clock or SystemClock(), self)
        self.panel = ConversationPanel(self.model, self.theme, self)
        self.chat = ChatView(self.theme, self)
        self.status = StatusBar(self.theme, self)
        self.bridge = EventBridge(owner, self)
        self.feed = ConversationFeed(self.model, owner, self)
        self.status_feed = StatusFeed(self.status, owner, self)
        self.presenter = ChatPresenter(self.chat, self.bridge, owner, self)
        self._splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self._lay_out()
        self._make_menus()
        self._connect()
        self.chat.composer.setFocus()

    def _lay_out(self) -> None:
        self._splitter.setHandleWidth(1)
        self._splitter.addWidget(self.panel)
        self._splitter.addWidget(self.chat)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setCollapsible(1, False)
        self._splitter.setSizes([LIST_WIDTH, FIRST_WINDOW[0] - LIST_WIDTH])
        self.setCentralWidget(self._splitter)
        self.setStatusBar(self.status)
        order: tuple[QWidget, ...] = (
            self.chat.composer,
            self.chat.stop_button,
            self.chat.send_button,
            self.panel.filter,
            self.panel.new_button,
            self.panel.view,
            self.chat.transcript,
        )
        for before, after in itertools.pairwise(order):
            QWidget.setTabOrder(before, after)

    def _make_menus(self) -> None:
        actions = self.actions_
        menus = {
            "&File": (actions.new_chat, None, actions.rename, actions.delete, None, actions.quit),
            "&Chat": (actions.resume, actions.stop, None, actions.focus_composer, actions.focus_list),
            "&Help": (actions.about,),
        }
        for title, entries in menus.items():
            menu = self.menuBar().addMenu(title)
            menu.setObjectName("menu" + title.replace("&", ""))
            for action in entries:
                if action is None:
                    menu.addSeparator()
                else:
                    menu.addAction(action)
        self.panel.add_actions(actions.new_chat, actions.rename, actions.delete)

    def _connect(self) -> None:
        actions, presenter = self.actions_, self.presenter
        actions.new_chat.triggered.connect(self._on_new_chat)
        actions.rename.triggered.connect(lambda: self.panel.rename_selected())
        actions.delete.triggered.connect(self._on_delete)
        actions.quit.triggered.connect(lambda: self.quit_requested.emit("the Quit command"))
        actions.resume.triggered.connect(lambda: presenter.resume())
        actions.stop.triggered.connect(lambda: presenter.stop())
        actions.focus_list.triggered.connect(lambda: self.panel.view.setFocus())
        actions.focus_composer.triggered.connect(lambda: self.chat.composer.setFocus())
        actions.about.triggered.connect(self._on_about)
        self.panel.chosen.connect(presenter.open)
        presenter.conversation_changed.connect(self._on_conversation_changed)
        presenter.state_changed.connect(self._update_actions)
        presenter.run_ended.connect(lambda _id, _ended: self.status_feed.refresh())
        self.feed.deleted.connect(presenter.forget)
        self.feed.failed.connect(self.show_error)
        self.chat.transcript.link_chosen.connect(self._on_link_chosen)

    # The core comes and goes

    async def attach(self, core: Core) -> None:
        """The core is open. Raises SophosError of the store."""
        self._core = core
        self.theme.choose(core.settings.current.ui.theme)
        await self._restore_layout(core)
        self.status_feed.attach(core)
        await self.feed.attach(core)
        await self.presenter.attach(core)
        self._update_actions()

    def fail_to_open(self, error: SophosError) -> None:
        """The core could not be opened: say why; the window can only be closed."""
        self.presenter.fail_to_open(error)
        self.status.engine.say("not open", error.message)

    def close_for_work(self) -> None:
        """The shutdown began."""
        self.presenter.close()
        self.actions_.update(ActionState())
        self.status.say_activity("Closing…")

    async def save(self) -> None:
        """Write drafts and layout. Raises SophosError of the store."""
        await self.presenter.save()
        if self._core is not None:
            state = {
                _GEOMETRY: bytes(self.saveGeometry().toBase64().data()).decode("ascii"),
                _SPLITTER: bytes(self._splitter.saveState().toBase64().data()).decode("ascii"),
            }
            for key, value in state.items():
                await self._core.conversations.save_app_state(key, value)

    def detach(self) -> None:
        """The core is about to close."""
        self._core = None
        self.status_feed.detach()
        self.feed.detach()
        self.presenter.detach()

    def close_now(self) -> None:
        """Close without asking: the shutdown is through."""
        self._may_close = True
        self.close()

    async def _restore_layout(self, core: Core) -> None:
        geometry = await core.conversations.app_state(_GEOMETRY)
        splitter = await core.conversations.app_state(_SPLITTER)
        if geometry:
            self.restoreGeometry(QByteArray.fromBase64(geometry.encode("ascii")))
        if splitter:
            self._splitter.restoreState(QByteArray.fromBase64(splitter.encode("ascii")))

    # What the person does

    def show_error(self, error: SophosError) -> None:
        """Say what went wrong in the conversation's column."""
        self.chat.show_error(error)

    def show_unexpected(self, error: BaseException) -> None:
        """A bug of ours: the log has the traceback."""
        title = f"Something unexpected happened ({type(error).__name__})"
        remedy = "What is saved stays saved. The log file has the details."
        self.chat.show_error(SophosError(ErrorCode.AGENT_FAILURE, title, remedy))

    def _on_new_chat(self) -> None:
        self.presenter.open(None)
        self.chat.composer.setFocus()

    def _on_delete(self) -> None:
        conversation_id = self.presenter.conversation_id
        if conversation_id is None:
            return
        known = self.model.conversation(conversation_id)
        title = known.title if known is not None else "this conversation"
        question = Question(
            self,
            "deleteQuestion",
            "Delete this conversation?",
            f"“{title}” and everything in it will be gone for good.",
            "Delete",
            lambda: self.feed.delete(conversation_id),
            danger=True,
        )
        question.open()

    def _on_link_chosen(self, address: str) -> None:
        question = Question(
            self,
            "linkQuestion",
            "Open this link?",
            address,
            "Open",
            lambda: self.open_address(address),
        )
        question.open()

    def open_address(self, address: str) -> None:
        """Hand an address to the system's browser."""
        QDesktopServices.openUrl(address)

    def _on_about(self) -> None:
        about = Question(
            self,
            "aboutDialog",
            f"Sophos Desktop {__version__}",
            "An agent on your own machine that cannot lose your work.",
            "Close",
            lambda: None,
        )
        about.open()

    def _on_conversation_changed(self, conversation_id: str | None) -> None:
        self.panel.select(conversation_id)
        self._update_actions()

    def _update_actions(self) -> None:
        presenter = self.presenter
        self.actions_.update(
            ActionState(
                is_open=self._core is not None,
                has_conversation=presenter.conversation_id is not None,
                can_stop=presenter.can_stop,
                can_resume=presenter.can_resume,
            )
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell that the window is on the screen."""
        super().paintEvent(event)
        self.painted.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for the staged shutdown instead of closing."""
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.quit_requested.emit("the window")
