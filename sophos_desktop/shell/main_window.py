"""The window: joins list, conversation, status bar and actions.

Invariant: it holds no state of its own but the layout; closing it only asks for the staged shutdown.
"""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.clock import Clock, SystemClock
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.actions import Actions, ActionState
from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.model_flow import ModelFlow
from sophos_desktop.shell.chat.composing.model_picker import ModelPicker
from sophos_desktop.shell.chat.presenter import ChatPresenter
from sophos_desktop.shell.chat.transcript_menu import TranscriptMenu
from sophos_desktop.shell.conversations.feed import ConversationFeed
from sophos_desktop.shell.conversations.list_model import ConversationListModel
from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.diagnostics.changed_tools import ChangedTools
from sophos_desktop.shell.edit_actions import EditActions
from sophos_desktop.shell.event_bridge import EventBridge
from sophos_desktop.shell.exports.export_flow import ExportFlow
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.menus import fill_menu_bar, row_entries
from sophos_desktop.shell.preferences.settings_watch import SettingsWatch
from sophos_desktop.shell.status.bar import StatusBar
from sophos_desktop.shell.status.feed import StatusFeed
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import FIRST_WINDOW, SMALLEST_WINDOW
from sophos_desktop.shell.tool_dialogs import ToolDialogs
from sophos_desktop.shell.trace.dock import TraceDock
from sophos_desktop.shell.trace.feed import TraceFeed
from sophos_desktop.shell.trace.saving import TraceSaving
from sophos_desktop.shell.trace.trace_model import TraceModel
from sophos_desktop.shell.trace.transcript_places import show_place
from sophos_desktop.shell.window_arrangement import arrange, order_tabs
from sophos_desktop.shell.window_commands import Commanded, WaysOut, WindowCommands
from sophos_desktop.shell.window_layout import WindowLayout

_NAME = "Sophos Desktop"


class MainWindow(QMainWindow):
    """Lives as long as the program; works once `attach` was awaited, and until `detach`."""

    quit_requested = Signal(str)
    painted = Signal()

    def __init__(self, owner: TaskOwner, clock: Clock | None = None) -> None:
        """Can be shown at once; `owner` keeps its tasks."""
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle(_NAME)
        self.setMinimumSize(*SMALLEST_WINDOW)
        self.resize(*FIRST_WINDOW)
        self._owner = owner
        self._core: Core | None = None
        self._may_close = False
        self.theme = Theme(self, (chat_style,))
        self.actions_ = Actions(self, self.theme)
        clock = clock or SystemClock()
        self.model = ConversationListModel(clock, self)
        self.panel = ConversationPanel(self.model, self.theme, self)
        self.chat = ChatView(self.theme, self, clock.now)
        self.edit_actions = EditActions(self, self.chat.transcript)
        self.transcript_menu = TranscriptMenu(self.chat.transcript, self.edit_actions, self.theme)
        self.status = StatusBar(self.theme, self)
        self.bridge = EventBridge(owner, self)
        self.feed = ConversationFeed(self.model, owner, self)
        self.status_feed = StatusFeed(self.status, owner, self)
        self.settings_watch = SettingsWatch(self)
        self.picker = ModelPicker(self.theme, self.chat.composer_frame)
        self.chat.composer_frame.tools.addWidget(self.picker)
        self.models = ModelFlow(self.picker, self.theme, owner, self)
        self.presenter = ChatPresenter(self.chat, self.bridge, owner, self)
        self.trace = TraceModel(clock, self)
        self.dock = TraceDock(self.trace, self.theme, self)
        self.trace_feed = TraceFeed(self.trace, self.bridge, owner, self)
        self.trace_saving = TraceSaving(self, lambda: self._core, owner, self.theme)
        self.dialogs = ToolDialogs(self, lambda: self._core, owner, self.theme, lambda: self.menu_actions)
        self.exports = ExportFlow(self, lambda: self._core, owner, self.theme)
        self.changed_tools = ChangedTools(self.theme, self)
        for banner in (self.changed_tools.banner, self.exports.banner, self.trace_saving.banner):
            self.chat.add_banner(banner)
        splitter = arrange(self, self.panel, self.chat, self.dock, self.status)
        order_tabs(self.panel, self.chat, self.picker)
        self.layout_ = WindowLayout(self, splitter, self.panel, self.dock, self.theme)
        self._make_menus()
        self.commands = self._make_commands()
        self._connect()
        self.chat.composer.setFocus()

    def _make_menus(self) -> None:
        actions, bar, edit = self.actions_, self.menuBar(), self.edit_actions
        toggle_trace = self.dock.toggleViewAction()
        toggle_trace.setObjectName("actionToggleTrace")
        toggle_trace.setText("&Trace")
        toggle_trace.setShortcut("Ctrl+Shift+T")
        self.status.add_toggles(actions.toggle_list, toggle_trace)
        self.menus = fill_menu_bar(bar, actions, edit, toggle_trace, self.theme)
        by_key = (actions.rename, actions.delete)
        self.panel.add_actions(actions.new_chat, by_key=by_key, by_click=row_entries(actions))
        self.menu_actions = (*actions, *edit, toggle_trace)

    def _make_commands(self) -> WindowCommands:
        parts = Commanded(
            actions=self.actions_,
            presenter=self.presenter,
            chat=self.chat,
            picker=self.picker,
            panel=self.panel,
            feed=self.feed,
            dock=self.dock,
            dialogs=self.dialogs,
            exports=self.exports,
            theme=self.theme,
        )
        ways = WaysOut(
            quit=self.quit_requested.emit,
            core=lambda: self._core,
            title=lambda: self.title,
            open_address=lambda address: self.open_address(address),
            open_folder=lambda path: self.open_folder(path),
        )
        return WindowCommands(self, parts, ways)

    def _connect(self) -> None:
        presenter = self.presenter
        self.exports.state_changed.connect(self._update_actions)
        self.exports.failed.connect(self.show_error)
        self.exports.folder_wanted.connect(lambda path: self.open_folder(path))
        self.dialogs.setting_changed.connect(self._on_setting_changed)
        self.settings_watch.changed.connect(self._on_setting_changed)
        self.dock.shown_changed.connect(self.trace_feed.set_shown)
        self.trace_feed.failed.connect(self.show_error)
        self.dock.save_wanted.connect(lambda run_id: self.trace_saving.ask(run_id, self.title))
        self.dock.place_wanted.connect(lambda place: show_place(self.chat.transcript, place))
        self.trace_saving.failed.connect(self.show_error)
        self.panel.chosen.connect(presenter.open)
        self.panel.undo_room_changed.connect(self._place_undo_bar)
        for changed in (self.model.modelReset, self.model.dataChanged, self.model.rowsInserted):
            changed.connect(self._update_title)
        presenter.conversation_changed.connect(self._on_conversation_changed)
        presenter.state_changed.connect(self._update_actions)
        presenter.run_ended.connect(lambda _id, _ended: self._refresh_models())
        self.bridge.stored.connect(self.status_feed.on_event)
        self.status_feed.engine_changed.connect(self.models.refresh)
        self.models.chosen.connect(self.status_feed.refresh)
        self.models.chosen.connect(self.chat.composer_frame.model_changed)
        self.models.failed.connect(self.show_error)
        self.models.popup.closed.connect(lambda: self.chat.composer.setFocus())
        self.changed_tools.permissions_wanted.connect(self.dialogs.show_permissions)
        self.feed.show_deletions(self.panel.undo_bar, presenter.save)
        self.feed.deleted.connect(self.commands.after_delete)
        self.edit_actions.offer_undo(self.feed)
        self.feed.restored.connect(presenter.open)
        self.feed.failed.connect(self.show_error)
        self.chat.transcript.link_chosen.connect(self.commands.ask_about_link)
        self.chat.transcript.edit_changed.connect(self.edit_actions.update)

    # The core comes and goes

    async def attach(self, core: Core) -> None:
        """The core is open. Raises SophosError of the store."""
        self._core = core
        self._take_looks(core)
        await self.layout_.restore(core.conversations)
        self.actions_.toggle_list.setChecked(not self.panel.isHidden())
        self.status_feed.attach(core)
        self.settings_watch.attach(core)
        self.models.attach(core)
        self.changed_tools.attach(core)
        self.trace_feed.attach(core)
        self.dock.attach(core)
        await self.feed.attach(core)
        await self.presenter.attach(core)
        self._update_actions()

    def fail_to_open(self, error: SophosError) -> None:
        """The core could not be opened: say why; the window can only be closed."""
        self.presenter.fail_to_open(error)
        self.panel.show_unopened(error)
        self.picker.hide()
        self.status.show_unopened(error)

    def close_for_work(self) -> None:
        """The shutdown began."""
        self.presenter.close()
        self.exports.cancel()
        self.actions_.update(ActionState())
        self.status.say_activity("Closing…")

    async def save(self) -> None:
        """Write drafts and layout. Raises SophosError of the store."""
        await self.presenter.save()
        if self._core is not None:
            await self.layout_.save(self._core.conversations)

    def detach(self) -> None:
        """The core is about to close."""
        self._core = None
        self.dialogs.close_all()
        self.status_feed.detach()
        self.settings_watch.detach()
        self.models.detach()
        self.changed_tools.detach()
        self.trace_feed.detach()
        self.dock.detach()
        self.feed.detach()
        self.presenter.detach()

    def close_now(self) -> None:
        """Close without asking: the shutdown is through."""
        self._may_close = True
        self.close()

    # What the person does

    def show_error(self, error: SophosError) -> None:
        """Say what went wrong in the conversation's column."""
        self.chat.show_error(error)

    def show_unexpected(self, error: BaseException) -> None:
        """A bug of ours: the log has the traceback."""
        remedy = "What is saved stays saved. The log file tells more than the details here"
        details = f"{type(error).__name__}: {error}"
        self.chat.show_error(
            SophosError(ErrorCode.AGENT_FAILURE, "Something unexpected happened", remedy, details=details)
        )

    def _place_undo_bar(self) -> None:
        """Below the list; in the conversation's column while the list is hidden or a rail."""
        bar = self.panel.undo_bar
        had_focus = bar.isAncestorOf(QApplication.focusWidget() or self)
        if self.panel.has_room_for_undo:
            self.panel.take_undo_bar()
        else:
            self.chat.add_banner(bar)
            bar.moved()
        if had_focus:
            bar.undo_button.setFocus()

    def open_address(self, address: str) -> None:
        """Hand an address to the system's browser."""
        QDesktopServices.openUrl(address)

    def open_folder(self, path: str) -> None:
        """Hand a folder to the system's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _on_setting_changed(self, key: str) -> None:
        if self._core is not None and key.startswith("ui."):
            self._take_looks(self._core)
        self._refresh_models()

    def _refresh_models(self) -> None:
        self.status_feed.refresh()
        self.models.refresh()

    def _take_looks(self, core: Core) -> None:
        chosen = core.settings.current.ui
        self.theme.take(chosen.theme, chosen.interface_size, chosen.reading_size)
        self.chat.composer_frame.set_send_key(chosen.send_key)

    def _on_conversation_changed(self, conversation_id: str | None) -> None:
        self.panel.select(conversation_id)
        self.trace_feed.open(conversation_id)
        self.status_feed.open(conversation_id)
        self.models.show(conversation_id)
        self._update_actions()
        self._update_title()

    @property
    def title(self) -> str:
        """Of the open conversation; nothing for a new chat."""
        return self.model.title_of(self.presenter.conversation_id)

    def _update_title(self) -> None:
        """The conversation's title, and its run's state and model in the status bar."""
        known = self.model.conversation(self.presenter.conversation_id or "")
        self.setWindowTitle(f"{self.title} — {_NAME}" if self.title else _NAME)
        self.status.show_run(known.last_run if known is not None else None)

    def _update_actions(self) -> None:
        presenter = self.presenter
        self.actions_.update(
            ActionState(
                is_open=self._core is not None,
                has_conversation=presenter.conversation_id is not None,
                is_idle=not presenter.is_running,
                is_exporting=self.exports.is_running,
                can_stop=presenter.can_stop,
                can_resume=presenter.can_resume,
            )
        )

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: FBT001 (Qt's own signature)
        """Every Tab key ends here, wherever the keyboard is."""
        self.chat.tab_chain.order(self.panel.view, self.chat.composer)
        return super().focusNextPrevChild(next)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room for the transcript."""
        super().resizeEvent(event)
        self.layout_.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl, the wheel zooms; whatever is under the pointer leaves that to the window."""
        turned = event.angleDelta().y()
        if turned and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            (self.theme.zoom_in if turned > 0 else self.theme.zoom_out)()
            event.accept()
        else:
            super().wheelEvent(event)

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
