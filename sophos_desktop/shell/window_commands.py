"""What the window's commands do.

Invariant: a command asks a part of the window or a flow for its work and keeps nothing; what cannot be taken
back, and what leaves the app, is asked about first.
"""

from typing import TYPE_CHECKING

from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.shell.widgets.ask import Question

if TYPE_CHECKING:
    from sophos_desktop.shell.main_window import MainWindow


class WindowCommands:
    """Lives as long as its window."""

    def __init__(self, window: "MainWindow") -> None:
        """Does nothing before `connect`."""
        self._window = window

    def connect(self) -> None:
        """Let each action do its work."""
        window, actions = self._window, self._window.actions_
        presenter, panel, chat, dialogs = window.presenter, window.panel, window.chat, window.dialogs
        actions.new_chat.triggered.connect(lambda: self._open_new_chat())
        actions.rename.triggered.connect(lambda: panel.rename_selected())
        actions.delete.triggered.connect(lambda: self._ask_to_delete())
        actions.quit.triggered.connect(lambda: window.quit_requested.emit("the Quit command"))
        actions.resume.triggered.connect(lambda: presenter.resume())
        actions.stop.triggered.connect(lambda: presenter.stop())
        actions.attach.triggered.connect(lambda: chat.composer_frame.attach_button.click())
        actions.choose_model.triggered.connect(lambda: window.picker.click())
        actions.focus_list.triggered.connect(lambda: panel.view.setFocus())
        actions.focus_composer.triggered.connect(lambda: chat.composer.setFocus())
        actions.focus_trace.triggered.connect(lambda: window.dock.take_focus())
        panel.filter.left.connect(lambda: chat.composer.setFocus())
        actions.toggle_list.toggled.connect(panel.setVisible)
        actions.zoom_in.triggered.connect(window.theme.zoom_in)
        actions.zoom_out.triggered.connect(window.theme.zoom_out)
        actions.zoom_reset.triggered.connect(window.theme.reset_zoom)
        actions.settings.triggered.connect(lambda: dialogs.show_settings())
        actions.data_folder.triggered.connect(lambda: self._open_data_folder())
        self._connect_exports()
        actions.servers.triggered.connect(lambda: dialogs.show_servers())
        actions.permissions.triggered.connect(lambda: dialogs.show_permissions())
        actions.doctor.triggered.connect(lambda: dialogs.show_doctor())
        actions.keyboard.triggered.connect(lambda: dialogs.show_keyboard())
        actions.about.triggered.connect(lambda: dialogs.show_about())

    def _connect_exports(self) -> None:
        actions, exports = self._window.actions_, self._window.exports
        markdown, lines = ExportFormat.MARKDOWN, ExportFormat.CHECKPOINTS
        actions.export_markdown.triggered.connect(lambda: self._export(markdown))
        actions.export_jsonl.triggered.connect(lambda: self._export(lines))
        actions.export_all_markdown.triggered.connect(lambda: exports.ask_for_folder(markdown))
        actions.export_all_jsonl.triggered.connect(lambda: exports.ask_for_folder(lines))

    def _open_new_chat(self) -> None:
        self._window.presenter.open(None)
        self._window.chat.composer.setFocus()

    def _ask_to_delete(self) -> None:
        window = self._window
        conversation_id = window.presenter.conversation_id
        if conversation_id is None:
            return
        title = window.title or "this conversation"
        question = Question(
            window,
            "deleteQuestion",
            "Delete this conversation?",
            f"“{title}” and everything in it. You can take this back for ten seconds.",
            "Delete",
            lambda: window.feed.delete(conversation_id),
            danger=True,
        )
        question.open()

    def after_delete(self, conversation_id: str, following: str) -> None:
        """A conversation went; `following` is what stands in its place in the list."""
        presenter = self._window.presenter
        was_open = presenter.conversation_id == conversation_id
        presenter.forget(conversation_id)
        if was_open and following:
            presenter.open(following)

    def ask_about_link(self, address: str) -> None:
        """A link leaves the app only after a look at where it leads."""
        window = self._window
        question = Question(
            window,
            "linkQuestion",
            "Open this link?",
            address,
            "Open",
            lambda: window.open_address(address),
        )
        question.open()

    def _export(self, kind: ExportFormat) -> None:
        window = self._window
        if window.presenter.conversation_id is not None:
            window.exports.ask_for_file(window.presenter.conversation_id, kind, window.title)

    def _open_data_folder(self) -> None:
        if self._window.core is not None:
            self._window.open_folder(str(self._window.core.paths.data_dir))
