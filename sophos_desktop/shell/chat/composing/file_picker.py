"""Asks for files to attach.

Invariant: no dialog blocks the window; nothing is opened here. A dialog opens where the last one was left.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from sophos_desktop.shell.chat.composing.incoming import Incoming
from sophos_desktop.shell.widgets.file_places import start_folder


class FilePicker:
    """Lives as long as its window."""

    def __init__(self) -> None:
        """No folder was used yet."""
        self._folder = ""

    def ask(self, window: QWidget, chosen: Callable[[Sequence[Incoming]], object]) -> QFileDialog:
        """Open a dialog over `window`; what is chosen there goes to `chosen`."""
        folder = self._folder if self._folder and Path(self._folder).is_dir() else start_folder()
        dialog = QFileDialog(window, "Attach Files", folder)
        dialog.setObjectName("attachDialog")
        # Qt's own: a desktop's dialog lives in another process, and no keyboard test reaches it.
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Attach")

        def on_selected(names: Sequence[str]) -> None:
            self._folder = str(Path(names[0]).parent) if names else self._folder
            chosen([Incoming(Path(name).name, path=Path(name)) for name in names])

        dialog.filesSelected.connect(on_selected)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog
