"""A window with a conversation, for a real accessibility client.

Says `ready` and what it announces; ends when its input does.
"""

import os
import sys

from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.theme.tokens import LIGHT
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.accessible import Accessibility
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView


def main() -> None:
    """Show the window and read lines: each closes the open answer, the end of input ends the program."""
    application = QApplication(["sophos-atspi"])
    application.setApplicationName("sophos-atspi")
    host = QWidget()
    host.resize(700, 500)
    view = TranscriptView(Looks.of(LIGHT), host)
    view.resize(700, 500)
    model = TranscriptModel(view)
    names = [f"Message number {number}" for number in range(9_999)]
    messages = [TranscriptMessage(name, MessageKind.USER, name) for name in names]
    messages.append(TranscriptMessage("a", MessageKind.ANSWER, "First *line*.\n\nAnd more.", is_open=True))
    model.reset(messages)
    view.set_model(model)
    owner = Accessibility(view, Selection(view))
    owner.announced.connect(lambda words: print("announced", words, flush=True))
    host.show()
    notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            application.quit()
        else:
            model.close(9_999)

    notifier.activated.connect(read)
    print("ready", flush=True)
    application.exec()


main()
