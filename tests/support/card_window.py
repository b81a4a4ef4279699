"""A window on the real core whose tool calls are asked about, and what a person does with the cards."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import Role, ToolStatus
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.cards.card import Card
from tests.support.core_fixture import LINES, open_test_core
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WAIT_SECONDS, WindowRig, open_window, until

_Part = TypeVar("_Part", bound=QWidget)

ASKED = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
DONE = Reply(pieces=("Done.",))


@asynccontextmanager
async def asking_window(
    data_dir: Path, *replies: Reply, mcp: Mapping[str, Mapping[str, Any]] = ASKED
) -> AsyncIterator[tuple[WindowRig, Core, OllamaServer]]:
    """A window on a real core over an engine that says these replies. Not a fixture: between a test and the
    end of its fixtures Qt's loop is turned without being asyncio's."""
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        server.script(*replies)
        async with open_test_core(data_dir, server, mcp=mcp) as core, open_window(core) as rig:
            yield rig, core, server


def cards(rig: WindowRig) -> list[Card]:
    """The cards of the open questions, from the top."""
    return rig.window.chat.cards.cards


def part(card: Card, kind: type[_Part], name: str) -> _Part:
    """A part of a card."""
    found = card.findChild(kind, name)
    assert found is not None, f"there is no {name}"
    return found


def press(card: Card, name: str) -> None:
    """The left button of the mouse on a button of a card."""
    QTest.mouseClick(part(card, QPushButton, name), Qt.MouseButton.LeftButton)


async def asked(rig: WindowRig, text: str, count: int = 1) -> list[Card]:
    """Send a message, and wait for the cards."""
    rig.type(text)
    rig.enter()
    await until(lambda: len(cards(rig)) == count and not rig.window.presenter.is_running, "cards")
    return cards(rig)


async def finished(rig: WindowRig, core: Core) -> None:
    """Wait until nothing is asked and the last run has ended, in the store and in the window."""
    presenter = rig.window.presenter
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while True:
        await until(lambda: not cards(rig) and not presenter.is_running, "finished")
        runs = await core.conversations.runs(presenter.conversation_id or "")
        if runs[-1].status not in (RunStatus.RUNNING, RunStatus.WAITING):
            break
        assert asyncio.get_running_loop().time() < deadline, f"the run is still {runs[-1].status}"
    await until(lambda: not presenter.is_running and rig.shows("sendButton"), "finished")


async def results(core: Core, rig: WindowRig) -> list[tuple[ToolStatus | None, str]]:
    """State and text of each call's result."""
    messages = await core.conversations.messages(rig.window.presenter.conversation_id or "")
    return [(message.tool_status, message.text) for message in messages if message.role is Role.TOOL]
