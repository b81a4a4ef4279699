"""Exports conversations from the menu: asks for a place, shows how far it is, says what was written.

Invariant: one export at a time, and no dialog blocks the window. What the core writes is whole or not there;
cancelling keeps what is done.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.file_places import proposed_name, start_folder
from sophos_desktop.shell.widgets.shapes import Shape
from sophos_desktop.shell.widgets.words import breakable

_FILTERS = {
    ExportFormat.MARKDOWN: "Markdown (*.md)",
    ExportFormat.CHECKPOINTS: "JSON lines (*.jsonl)",
}
_TITLES = {
    ExportFormat.MARKDOWN: "Export as Markdown",
    ExportFormat.CHECKPOINTS: "Export Checkpoints as JSONL",
}


class ExportFlow(QObject):
    """Lives as long as its window, on the GUI thread."""

    state_changed = Signal()
    failed = Signal(object)  # SophosError
    folder_wanted = Signal(str)  # the folder of what was written is to be shown

    def __init__(
        self, window: QWidget, core: Callable[[], Core | None], owner: TaskOwner, theme: Theme
    ) -> None:
        """`core` gives the open core, or None."""
        super().__init__(window)
        self._window = window
        self._core = core
        self._owner = owner
        self._task: asyncio.Task[None] | None = None
        self._folder = ""
        self.banner = Banner("exportBar", "notice", Shape.NOTICE, theme, window, closable=True)
        self._cancel_button: QPushButton = self.banner.add_button("exportCancel", "Cancel")
        self._open_button: QPushButton = self.banner.add_button("exportOpenFolder", "Open Folder")
        self._cancel_button.clicked.connect(self.cancel)
        self._open_button.clicked.connect(lambda: self.folder_wanted.emit(self._folder))

    @property
    def is_running(self) -> bool:
        """True while files are written."""
        return self._task is not None

    def ask_for_file(self, conversation_id: str, kind: ExportFormat, title: str) -> None:
        """Ask where one conversation goes, then write it there; `title` gives the name that is proposed."""
        dialog = self._dialog(_TITLES[kind])
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilter(_FILTERS[kind])
        dialog.setDefaultSuffix(kind.value)
        dialog.selectFile(kind.file_name(proposed_name(title, conversation_id)))
        dialog.fileSelected.connect(lambda path: self.write([conversation_id], Path(path), kind))
        dialog.open()

    def ask_for_folder(self, kind: ExportFormat) -> None:
        """Ask where all conversations go, then write them there."""
        dialog = self._dialog(f"{_TITLES[kind]}: Choose a Folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(lambda path: self.write(None, Path(path), kind))
        dialog.open()

    def _dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self._window, title, start_folder())
        dialog.setObjectName("exportDialog")
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def write(self, conversation_ids: Sequence[str] | None, target: Path, kind: ExportFormat) -> None:
        """Write these conversations, or all of them (None) into the folder `target`."""
        core = self._core()
        if core is not None and self._task is None:
            self._cancel_button.show()
            self._open_button.hide()
            self.banner.show_message("Exporting…", "")
            self._task = self._owner.spawn(self._write(core, conversation_ids, target, kind), "export")
            self.state_changed.emit()

    async def _write(
        self, core: Core, conversation_ids: Sequence[str] | None, target: Path, kind: ExportFormat
    ) -> None:
        is_everything = conversation_ids is None
        try:
            if conversation_ids is None:
                conversation_ids = [found.id for found in await core.conversations.find_all()]
            written = await core.exports.write(
                conversation_ids, target, kind, self._on_progress, into_folder=is_everything
            )
            self._say_written(written, target, is_everything=is_everything)
        except SophosError as error:
            self.banner.hide()
            self.failed.emit(error)
        except asyncio.CancelledError:
            self._cancel_button.hide()
            self.banner.show_message("The export was cancelled", "What was written before stays.")
            raise
        finally:
            self._task = None
            self.state_changed.emit()

    def _on_progress(self, done: int, total: int) -> None:
        if total > 1:
            self.banner.show_message("Exporting…", f"{done:,} of {total:,} conversations")

    def _say_written(self, written: Sequence[Path], target: Path, *, is_everything: bool) -> None:
        self._folder = str(target if is_everything else target.parent)
        self._cancel_button.hide()
        self._open_button.show()
        if is_everything:
            count = len(written)
            words = f"{count:,} conversation was" if count == 1 else f"{count:,} conversations were"
            self.banner.show_message(f"{words} exported", breakable(self._folder))
        else:
            self.banner.show_message("The conversation was exported", breakable(str(target)))

    def cancel(self) -> None:
        """Stop writing; files that are done stay."""
        if self._task is not None:
            self._task.cancel()
