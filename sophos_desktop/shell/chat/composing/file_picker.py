"""Asks for files to attach.

Invariant: no dialog blocks the window; nothing is opened here.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from sophos_desktop.shell.chat.composing.incoming import Incoming


def ask_for_files(window: QWidget, chosen: Callable[[Sequence[Incoming]], object]) -> QFileDialog:
    """Open a dialog over `window`; what is chosen there goes to `chosen`."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    dialog = QFileDialog(window, "Attach Files", documents)
    dialog.setObjectName("attachDialog")
    # Qt's own: a desktop's dialog lives in another process, and no keyboard test reaches it.
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Attach")
    dialog.filesSelected.connect(
        lambda names: chosen([Incoming(Path(name).name, path=Path(name)) for name in names])
    )
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
