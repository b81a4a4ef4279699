"""What the window's commands do.

Invariant: a command asks a part of the window or a flow for its work and keeps nothing; what cannot be taken
back, and what leaves the app, is asked about first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.shell.actions import Actions
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.model_picker import ModelPicker
from sophos_desktop.shell.chat.presenter import ChatPresenter
from sophos_desktop.shell.conversations.feed import ConversationFeed
from sophos_desktop.shell.conversations.list_panel import ConversationPanel
from sophos_desktop.shell.exports.export_flow import ExportFlow
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.tool_dialogs import ToolDialogs
from sophos_desktop.shell.trace.dock import TraceDock
from sophos_desktop.shell.widgets.ask import Question


@dataclass(frozen=True, slots=True)
class Commanded:
    """The parts of the window that commands act on."""

    actions: Actions
    presenter: ChatPresenter
    chat: ChatView
    picker: ModelPicker
    panel: ConversationPanel
    feed: ConversationFeed
    dock: TraceDock
    dialogs: ToolDialogs
    exports: ExportFlow
    theme: Theme


@dataclass(frozen=True, slots=True)
class WaysOut:
    """What the window itself does for a command. `quit` is told why; `core` gives the open one, or None."""

    quit: Callable[[str], None]
    core: Callable[[], Core | None]
    title: Callable[[], str]
    open_address: Callable[[str], None]
    open_folder: Callable[[str], None]


class WindowCommands:
    """Lives as long as its window."""

    def __init__(self, window: QWidget, parts: Commanded, ways: WaysOut) -> None:
        """Each action does its work from now on; questions stand over `window`."""
        self._window = window
        self._parts = parts
        self._ways = ways
        self._connect()
        self._connect_exports()

    def _connect(self) -> None:
        parts, actions = self._parts, self._parts.actions
        presenter, panel, chat, dialogs = parts.presenter, parts.panel, parts.chat, parts.dialogs
        actions.new_chat.triggered.connect(lambda: self._open_new_chat())
        actions.rename.triggered.connect(lambda: panel.rename_selected())
        actions.delete.triggered.connect(lambda: self._ask_to_delete())
        actions.quit.triggered.connect(lambda: self._ways.quit("the Quit command"))
        actions.resume.triggered.connect(lambda: presenter.resume())
        actions.stop.triggered.connect(lambda: presenter.stop())
        actions.attach.triggered.connect(lambda: chat.composer_frame.attach_button.click())
        actions.choose_model.triggered.connect(lambda: parts.picker.click())
        actions.focus_list.triggered.connect(lambda: panel.view.setFocus())
        actions.focus_composer.triggered.connect(lambda: chat.composer.setFocus())
        actions.focus_trace.triggered.connect(lambda: parts.dock.take_focus())
        panel.filter.left.connect(lambda: chat.composer.setFocus())
        actions.toggle_list.toggled.connect(panel.setVisible)
        actions.zoom_in.triggered.connect(parts.theme.zoom_in)
        actions.zoom_out.triggered.connect(parts.theme.zoom_out)
        actions.zoom_reset.triggered.connect(parts.theme.reset_zoom)
        actions.settings.triggered.connect(lambda: dialogs.show_settings())
        actions.data_folder.triggered.connect(lambda: self._open_data_folder())
        actions.servers.triggered.connect(lambda: dialogs.show_servers())
        actions.permissions.triggered.connect(lambda: dialogs.show_permissions())
        actions.doctor.triggered.connect(lambda: dialogs.show_doctor())
        actions.keyboard.triggered.connect(lambda: dialogs.show_keyboard())
        actions.about.triggered.connect(lambda: dialogs.show_about())

    def _connect_exports(self) -> None:
        actions, exports = self._parts.actions, self._parts.exports
        markdown, lines = ExportFormat.MARKDOWN, ExportFormat.CHECKPOINTS
        actions.export_markdown.triggered.connect(lambda: self._export(markdown))
        actions.export_here.triggered.connect(lambda: self._export(markdown))
        actions.export_jsonl.triggered.connect(lambda: self._export(lines))
        actions.export_all_markdown.triggered.connect(lambda: exports.ask_for_folder(markdown))
        actions.export_all_jsonl.triggered.connect(lambda: exports.ask_for_folder(lines))

    def _open_new_chat(self) -> None:
        self._parts.presenter.open(None)
        self._parts.chat.composer.setFocus()

    def _ask_to_delete(self) -> None:
        conversation_id = self._parts.presenter.conversation_id
        if conversation_id is None:
            return
        title = self._ways.title() or "this conversation"
        question = Question(
            self._window,
            "deleteQuestion",
            "Delete this conversation?",
            f"“{title}” and everything in it. You can take this back for ten seconds.",
            "Delete",
            lambda: self._parts.feed.delete(conversation_id),
            danger=True,
        )
        question.open()

    def after_delete(self, conversation_id: str, following: str) -> None:
        """A conversation went; `following` is what stands in its place in the list."""
        presenter = self._parts.presenter
        was_open = presenter.conversation_id == conversation_id
        presenter.forget(conversation_id)
        if was_open and following:
            presenter.open(following)

    def ask_about_link(self, address: str) -> None:
        """A link leaves the app only after a look at where it leads."""
        question = Question(
            self._window,
            "linkQuestion",
            "Open this link?",
            address,
            "Open",
            lambda: self._ways.open_address(address),
        )
        question.open()

    def _export(self, kind: ExportFormat) -> None:
        conversation_id = self._parts.presenter.conversation_id
        if conversation_id is not None:
            self._parts.exports.ask_for_file(conversation_id, kind, self._ways.title())

    def _open_data_folder(self) -> None:
        core = self._ways.core()
        if core is not None:
            self._ways.open_folder(str(core.paths.data_dir))
