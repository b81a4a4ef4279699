"""Makes the QApplication.

Invariant: the application never quits by itself when its last window closes; only the staged shutdown ends
it. Nothing else of the program is global.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sophos_desktop import __version__
from sophos_desktop.shell.theme.fonts import application_font
from sophos_desktop.shell.theme.tokens import INTERFACE_SIZE


def make_application(arguments: Sequence[str]) -> QApplication:
    """The one application object of this process, ready for a window."""
    application = QApplication(list(arguments))
    prepare_application(application)
    return application


def prepare_application(application: QApplication) -> None:
    """Give an application its name, base style and fonts."""
    application.setApplicationName("sophos-desktop")
    application.setApplicationDisplayName("Sophos Desktop")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("sophos-desktop")
    application.setQuitOnLastWindowClosed(False)
    application.setStyle("Fusion")
    # Its words are English, whatever the system's language; what is written in it has its own direction.
    application.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    application.setFont(application_font(INTERFACE_SIZE))
