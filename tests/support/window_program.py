"""The real window as a process of its own, which tells what it shows and does what a test says.

`python -m tests.support.window_program`: everything in `SOPHOS_DATA_DIR`. It prints a JSON line each time
something of `Shown` is another thing, and takes JSON lines on stdin: `{"type": TEXT}`, `{"attach": [PATHS]}`,
`{"open": ID}`, `{"click": NAME}`. The end of stdin closes the window as a person does.
"""

import asyncio
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import qasync
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QPushButton, QWidget

from sophos_desktop.bootstrap import Desktop, DesktopOptions, load_core
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.paths import resolve_paths
from sophos_desktop.shell.application import make_application
from sophos_desktop.shell.chat.composing.composer_frame import ComposerFrame
from sophos_desktop.shell.chat.composing.incoming import Incoming
from sophos_desktop.shell.main_window import MainWindow
from sophos_desktop.shell.widgets.banner import Banner

_LOOK_MILLISECONDS = 10
PLACE = (320, 40, 1000, 700)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees. `chips`: names with whether they are kept; `places`: where on the screen."""

    is_ready: bool
    is_saved: bool
    conversation: str | None
    text: str
    chips: list[tuple[str, bool]]
    warning: str
    error: str
    drop_words: str
    other_draft: str
    places: dict[str, tuple[int, int]]


def main() -> int:
    """Run until the window is closed."""
    failpoints.arm(os.environ)
    application = make_application(sys.argv[:1])
    loop = qasync.QEventLoop(application)
    loop.set_default_executor(ThreadPoolExecutor(4, thread_name_prefix="worker"))
    asyncio.set_event_loop(loop)
    desktop = Desktop(DesktopOptions(resolve_paths(None, os.environ), dict(os.environ)), load_core)
    witness = _Witness(desktop)
    threading.Thread(target=_read, args=(loop, witness), daemon=True).start()
    with loop:
        return int(loop.run_until_complete(desktop.run(None, None)))


def _read(loop: asyncio.AbstractEventLoop, witness: "_Witness") -> None:
    for line in sys.stdin:
        loop.call_soon_threadsafe(witness.do, json.loads(line))
    loop.call_soon_threadsafe(witness.do, {"close": True})


class _Witness:
    """Looks at the window, and does what a person would."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._told = ""
        self._is_placed = False
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(_LOOK_MILLISECONDS)

    @property
    def _window(self) -> MainWindow | None:
        window: MainWindow | None = getattr(self._desktop, "window", None)
        return window if window is not None and window.isVisible() else None

    def _look(self) -> None:
        window = self._window
        if window is None:
            return
        if not self._is_placed:
            self._is_placed = True
            window.setGeometry(*PLACE)
        told = json.dumps(asdict(_shown(window)))
        if told != self._told:
            self._told = told
            print(told, flush=True)

    def do(self, wanted: dict[str, Any]) -> None:
        """One line of the test's."""
        window = self._window
        if window is None:
            return
        composer = window.chat.composer
        for what, value in wanted.items():
            if what == "type":
                composer.insertPlainText(value)
            elif what == "attach":
                paths = [Path(path) for path in value]
                composer.incoming.emit([Incoming(path.name, path=path) for path in paths])
            elif what == "open":
                window.presenter.open(value)
            elif what == "click":
                button = window.findChild(QPushButton, value)
                assert button is not None
                button.click()
            elif what == "close":
                window.close()


def _shown(window: MainWindow) -> Shown:
    chat = window.chat
    frame: ComposerFrame = chat.composer_frame
    target = frame.drop_target
    warning = frame.findChild(QWidget, "attachmentWarning")  # none while it is folded away
    return Shown(
        window.actions_.new_chat.isEnabled() and not window.presenter.is_loading,
        window.presenter.kept.is_typed_saved,
        window.presenter.conversation_id,
        chat.composer.text,
        [(chip.name, chip.attachment is not None) for chip in frame.chips.chips],
        warning.accessibleName() if warning is not None and warning.isVisible() else "",
        _said(chat.error_banner),
        target.findChild(QWidget, "dropWords").text() if target.isVisible() else "",  # type: ignore[union-attr]
        _said(window.findChild(Banner, "otherDraft")),
        {"composer": _middle(chat.composer), "chat": _middle(chat), "list": _middle(_list(window))},
    )


def _list(window: MainWindow) -> QAbstractScrollArea:
    found = window.findChild(QAbstractItemView, "conversationList")
    assert found is not None
    return found


def _said(banner: Banner | None) -> str:
    return banner.accessibleName() if banner is not None and banner.isVisible() else ""


def _middle(widget: QWidget) -> tuple[int, int]:
    at = widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    return at.x(), at.y()


if __name__ == "__main__":
    sys.exit(main())
