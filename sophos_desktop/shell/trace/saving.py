"""Saves the trace of a run as JSON lines: asks for a place, writes it, says where it is.

Invariant: the file is whole or not there, a device or a pipe is never replaced, and the window goes on
meanwhile: the dialog is opened and not waited for, and the writing is a worker's.
"""

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.atomic_file import write_atomically
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.trace.words import json_lines
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.file_places import proposed_name, start_folder
from sophos_desktop.shell.widgets.shapes import Shape
from sophos_desktop.shell.widgets.words import breakable

_REMEDIES = {
    errno.ENOSPC: "Free some space on the disk, or choose another folder",
    errno.ENAMETOOLONG: "Choose a shorter name",
    errno.EISDIR: "Give the name of a file",
    errno.EINVAL: "Choose another name",
}
_REMEDY = "Choose a folder that you may write to"


class TraceSaving(QObject):
    """Lives as long as its window, on the GUI thread."""

    failed = Signal(object)  # SophosError
    ended = Signal()

    def __init__(
        self, window: QWidget, core: Callable[[], Core | None], owner: TaskOwner, theme: Theme
    ) -> None:
        """`core` gives the open core, or None."""
        super().__init__(window)
        self._window = window
        self._core = core
        self._owner = owner
        self.banner = Banner("traceSavedBar", "notice", Shape.NOTICE, theme, window, closable=True)

    def ask(self, run_id: str, title: str) -> None:
        """Ask where the trace of a run of the conversation `title` goes, then write it there."""
        dialog = QFileDialog(self._window, "Save Trace", start_folder())
        dialog.setObjectName("traceSaveDialog")
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilter("JSON lines (*.jsonl)")
        dialog.setDefaultSuffix("jsonl")
        dialog.selectFile(f"{proposed_name(title, run_id)}.trace.jsonl")
        dialog.fileSelected.connect(lambda path: self.write(run_id, Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def write(self, run_id: str, target: Path) -> None:
        """Write it, in place of a file that is there; `ended` tells when that is over."""
        core = self._core()
        if core is not None:
            self.banner.hide()
            self._owner.spawn(self._write(core, run_id, target), "save the trace")

    async def _write(self, core: Core, run_id: str, target: Path) -> None:
        try:
            events = await core.conversations.trace(run_id)
            await asyncio.to_thread(lambda: write_atomically(target, _bytes(json_lines(events))))
            count = "1 event" if len(events) == 1 else f"{len(events):,} events"
            self.banner.show_message(f"The trace was saved, {count}", breakable(str(target)))
        except OSError as error:
            self.failed.emit(_failed(target, error))
        except SophosError as error:
            self.failed.emit(error)
        finally:
            self.ended.emit()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # half an emoji that a model wrote is no character


def _failed(target: Path, error: OSError) -> SophosError:
    return SophosError(
        ErrorCode.EXPORT_FAILED,
        f"{target} cannot be written: {error.strerror or error}",
        _REMEDIES.get(error.errno or 0, _REMEDY),
    )
