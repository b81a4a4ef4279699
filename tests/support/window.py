"""A real window on a fake core, for window tests: everything by object name, every wait bounded."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QPushButton, QWidget

from sophos_desktop.foundation.clock import Clock
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.application import prepare_application
from sophos_desktop.shell.chat.composer import Composer
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.main_window import MainWindow
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.foldaway import Foldaway
from tests.support.fake_core import FakeCore
from tests.support.reading import transcript_text

_Part = TypeVar("_Part", bound=QObject)
WAIT_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.002


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Let the loop run until `condition` holds; fails after ten seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WAIT_SECONDS
    while not condition():
        assert loop.time() < deadline, f"did not come true in {WAIT_SECONDS} s: {what or condition}"
        turn = loop.create_future()
        loop.call_later(_LOOK_AGAIN_SECONDS, turn.set_result, None)
        await turn


async def turns(count: int = 3) -> None:
    """Let everything that is ready run, `count` times."""
    loop = asyncio.get_running_loop()
    for _ in range(count):
        turn = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn


class WindowRig:
    """A window and what a person does with it."""

    def __init__(self, window: MainWindow, owner: TaskOwner, errors: list[BaseException]) -> None:
        self.window = window
        self.owner = owner
        self.errors = errors

    def find(self, kind: type[_Part], name: str) -> _Part:
        """The part with this object name, folded away or not."""
        places: list[QWidget] = [self.window, self.window.menus]
        for place in places:  # grows as it goes: a part that is folded away may hold another
            part = place.findChild(kind, name)
            if part is not None:
                return part
            folded = (one.inside for one in place.findChildren(Foldaway))
            places += [inside for inside in folded if inside.window() is not self.window]
        raise AssertionError(f"there is no {name}")

    @property
    def composer(self) -> Composer:
        """Where a person types."""
        return self.find(Composer, "composer")

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.find(Transcript, "transcript")

    @property
    def transcript_text(self) -> str:
        """What a person reads: texts as they are spoken, cards and lines below answers in words."""
        return transcript_text(self.transcript)

    def card(self, name: str) -> QWidget | None:
        """A card of the transcript by its object name, if there is one that is not on its way out."""
        found = self.transcript.viewport().findChildren(QWidget, name)
        alive = [card for card in found if card in self.transcript.cards.cards()]
        return alive[0] if alive else None

    def error_card(self) -> ErrorFacts | None:
        """What the error in the column says."""
        model = self.transcript.model
        payloads = [model.message(index).payload for index in range(len(model))]
        return next((payload for payload in payloads if isinstance(payload, ErrorFacts)), None)

    @property
    def goes_on_by(self) -> QPushButton | None:
        """The one button that resumes, wherever it is: above the text or at its end."""
        found = [self.button("resumeButton")]
        for name in ("continueAnswer", "errorAction"):
            found += self.transcript.viewport().findChildren(QPushButton, name)
        shown = [button for button in found if button.isVisible() and button.text()]
        assert len(shown) < 2, [button.objectName() for button in shown]
        return shown[0] if shown else None

    def go_on(self) -> None:
        """Press it."""
        button = self.goes_on_by
        assert button is not None, "nothing offers to go on"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def button(self, name: str) -> QPushButton:
        """A button."""
        return self.find(QPushButton, name)

    def banner(self, name: str) -> Banner:
        """A banner."""
        return self.find(Banner, name)

    def action(self, name: str) -> QAction:
        """A command."""
        return self.find(QAction, name)

    def shows(self, name: str) -> bool:
        """True if the part is on the screen."""
        return self.find(QWidget, name).isVisible()

    def type(self, text: str) -> None:
        """Key by key into the composer."""
        QTest.keyClicks(self.composer, text)

    def enter(self) -> None:
        """The Enter key in the composer."""
        QTest.keyClick(self.composer, Qt.Key.Key_Return)

    def click(self, name: str) -> None:
        """The left button of the mouse."""
        QTest.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

    @property
    def titles(self) -> list[str]:
        """The list, from the top."""
        model = self.window.model
        return [str(model.index(row).data()) for row in range(model.rowCount())]

    def choose(self, title: str) -> None:
        """Click a row of the list."""
        view = self.find(QListView, "conversationList")
        index = self.window.model.index(self.titles.index(title))
        where = view.visualRect(index).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    async def opened(self, conversation_id: str | None) -> None:
        """Wait until a conversation is on the screen with its draft."""
        await until(
            lambda: (
                self.window.presenter.conversation_id == conversation_id
                and not self.window.presenter.is_loading
            ),
            f"open {conversation_id}",
        )


@asynccontextmanager
async def shown_window(clock: Clock | None = None) -> AsyncIterator[WindowRig]:
    """A window whose core is still opening. Errors that reach the task owner are kept in `errors`."""
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance()
    assert isinstance(application, QApplication)
    prepare_application(application)
    errors: list[BaseException] = []
    owner = TaskOwner(errors.append)
    window = MainWindow(owner, clock)
    window.resize(1000, 700)
    window.show()
    try:
        yield WindowRig(window, owner, errors)
    finally:
        window.detach()
        window.close_now()
        await owner.close()
        window.deleteLater()
        await turns()
    assert not errors, errors


@asynccontextmanager
async def open_window(core: Core | FakeCore, clock: Clock | None = None) -> AsyncIterator[WindowRig]:
    """A window on an open core."""
    async with shown_window(clock) as rig:
        await rig.window.attach(core)
        yield rig
