"""Stop in the window on the real core: by Escape, by the button, by both, while a tool hangs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.support.core_fixture import LINES, calls, lines_of, open_test_core, slow_append
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


def escape(rig: WindowRig) -> None:
    QTest.keyClick(rig.composer, Qt.Key.Key_Escape)


def button(rig: WindowRig) -> None:
    rig.click("stopButton")


def twice(rig: WindowRig) -> None:
    rig.click("stopButton")
    escape(rig)


@pytest.mark.parametrize("stop", [escape, button, twice])
async def test_stop_in_a_hanging_tool_offers_to_continue(
    tmp_path: Path, stop: Callable[[WindowRig], None]
) -> None:
    file = tmp_path / "lines.txt"
    async with OllamaServer() as server, open_test_core(tmp_path / "data", server, mcp=LINES) as core:
        server.script(calls(slow_append(file, "slow"), text="I write. "))
        async with open_window(core) as rig:
            rig.type("Write")
            rig.enter()
            await until(lambda: lines_of(file) == ["slow"])
            await until(lambda: rig.button("stopButton").isEnabled())
            stop(rig)
            await until(lambda: rig.shows("resumeBanner"))
            assert rig.banner("resumeBanner").title == "You stopped this run."
            assert "I write." in rig.transcript_text
            (conversation,) = await core.conversations.find_all()
            assert conversation.last_run is not None
            assert conversation.last_run.status.value == "cancelled"
            assert len(await core.conversations.runs(conversation.id)) == 1


@pytest.mark.parametrize("stop", [escape, button])
async def test_stop_before_the_first_token_keeps_the_message(
    tmp_path: Path, stop: Callable[[WindowRig], None]
) -> None:
    async with OllamaServer() as server, open_test_core(tmp_path, server) as core:
        server.script(Reply(pieces=("never",), hold_after=0))
        async with open_window(core) as rig:
            rig.type("Hello?")
            rig.enter()
            await until(lambda: server.held)
            await until(lambda: rig.button("stopButton").isEnabled())
            stop(rig)
            await until(lambda: rig.shows("resumeBanner"))
            assert (await server.wait_ended()).disconnected
            assert "Hello?" in rig.transcript_text
            rig.click("resumeButton")
            await until(lambda: "Hello!" in rig.transcript_text)
            await until(lambda: rig.shows("sendButton"))
