"""Two windows on one conversation: none of them takes away what it did not show."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from sophos_desktop.core.domain.attaching import made_attachment
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.queue_flow import CHANGED
from tests.shell.test_queue_flow import queued
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import record, user
from tests.support.window import WindowRig, open_window, until


def core_with_queued(text: str) -> tuple[FakeCore, str]:
    """A conversation whose message waits to be sent by hand."""
    core = FakeCore()
    run = record("", "r", RunStatus.COMPLETED)
    conversation_id = core.conversations.add("Old", user("old"), last_run=run)
    core.conversations.state["last_conversation"] = conversation_id
    core.queue.texts[conversation_id] = text
    return core, conversation_id


async def press(rig: WindowRig, name: str) -> None:
    """A button of the bar."""
    if name == "queuedSend":
        rig.click(name)
    else:
        QTest.mouseClick(rig.find(QToolButton, name), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("button", ["queuedRemove", "queuedEdit", "queuedSend"])
async def test_what_another_window_queued_is_shown_and_not_taken_away(button: str) -> None:
    core, conversation_id = core_with_queued("Mine")
    async with open_window(core) as rig:
        await until(lambda: queued(rig) == "Next: Mine")
        core.queue.texts[conversation_id] = "Theirs"
        await press(rig, button)
        await until(lambda: queued(rig) == "Next: Theirs")
        await until(lambda: rig.banner("noticeBar").text == CHANGED)
        assert core.queue.texts == {conversation_id: "Theirs"}
        assert (rig.composer.text, core.runs.handles) == ("", [])
        assert not rig.shows("errorBanner")


async def test_an_attachment_that_another_window_added_counts_as_a_change() -> None:
    core, conversation_id = core_with_queued("Mine")
    async with open_window(core) as rig:
        await until(lambda: queued(rig) == "Next: Mine")
        core.attachments.queued[conversation_id] = [made_attachment("notes.txt", b"notes").ref]
        await press(rig, "queuedRemove")
        await until(lambda: rig.banner("noticeBar").text == CHANGED)
        assert core.queue.texts == {conversation_id: "Mine"}
        await press(rig, "queuedRemove")
        await until(lambda: queued(rig) == "")
        assert core.queue.texts == {}


async def test_the_bar_follows_what_another_window_queues_and_takes_back() -> None:
    core, conversation_id = core_with_queued("Mine")
    async with open_window(core) as rig:
        await until(lambda: queued(rig) == "Next: Mine")
        core.queue.texts[conversation_id] = "Theirs"
        core.neighbours.tell()
        await until(lambda: queued(rig) == "Next: Theirs")
        del core.queue.texts[conversation_id]
        core.neighbours.tell()
        await until(lambda: queued(rig) == "")
