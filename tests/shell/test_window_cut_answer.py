"""An answer that was cut by its length, in the window on the real core: the line about it offers to go on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from sophos_desktop.core.assembly import Core
from tests.support.core_fixture import open_test_core
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until

CUT = Reply(pieces=("One, two, three",), done_reason="length")
LINE = "The answer was cut"


def offers_the_rest(rig: WindowRig) -> bool:
    """The button is there and can be pressed."""
    found = rig.window.findChildren(QPushButton, "askForTheRest")
    return any(button.isVisible() for button in found)


@asynccontextmanager
async def cut_answer(folder: Path, *then: Reply | str) -> AsyncIterator[tuple[WindowRig, Core, OllamaServer]]:
    """A window that shows a cut answer; `then` is what the engine answers afterwards."""
    async with OllamaServer() as server, open_test_core(folder, server) as core:
        server.script(CUT, *then)
        async with open_window(core) as rig:
            rig.type("Count")
            rig.enter()
            await until(lambda: offers_the_rest(rig))
            yield rig, core, server


async def test_the_line_of_a_cut_answer_sends_what_a_person_would_type(tmp_path: Path) -> None:
    async with cut_answer(tmp_path, ", four") as (rig, core, server):
        assert LINE in rig.transcript_text
        rig.type("Not sent yet")
        rig.click("askForTheRest")
        await until(lambda: ", four" in rig.transcript_text and rig.shows("sendButton"))
        assert "Please continue." in rig.transcript_text
        assert server.chats[-1].body["messages"][-1] == {"role": "user", "content": "Please continue."}
        assert not offers_the_rest(rig)
        assert rig.composer.text == "Not sent yet"
        (conversation,) = await core.conversations.find_all()
        await until(lambda: rig.window.presenter.kept.is_typed_saved)
        assert await core.conversations.draft(conversation.id) == "Not sent yet"


async def test_the_rest_is_not_offered_while_the_next_answer_comes(tmp_path: Path) -> None:
    async with cut_answer(tmp_path, Reply(pieces=("Four",), hold_after=0)) as (rig, _, server):
        rig.type("And?")
        rig.enter()
        await server.wait_held()
        await until(lambda: not offers_the_rest(rig))
        server.release()
        await until(lambda: "Four" in rig.transcript_text and rig.shows("sendButton"))
        assert LINE in rig.transcript_text
        assert not offers_the_rest(rig)


async def test_the_rest_can_be_asked_for_with_the_keyboard_when_the_conversation_is_opened_again(
    tmp_path: Path,
) -> None:
    async with cut_answer(tmp_path, CUT) as (rig, core, _):
        (conversation,) = await core.conversations.find_all()
        rig.window.presenter.open(None)
        await until(lambda: not offers_the_rest(rig))
        rig.window.presenter.open(conversation.id)
        await rig.opened(conversation.id)
        await until(lambda: offers_the_rest(rig))
        rig.composer.setFocus()
        button = rig.button("askForTheRest")
        for _ in range(40):
            if button.hasFocus():
                break
            focused = QApplication.focusWidget()
            assert focused is not None
            QTest.keyClick(focused, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
        assert button.hasFocus()
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda: rig.transcript_text.count(LINE) == 2 and offers_the_rest(rig))
        assert rig.transcript_text.count("Please continue.") == 1
