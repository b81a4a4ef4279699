"""The message that is written while a run is active or waits: kept, and sent when it is its turn."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QToolButton

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from tests.support.card_window import DONE, asked, asking_window, cards, finished, press
from tests.support.core_fixture import append, calls, lines_of
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import record, user
from tests.support.ollama_script import Reply
from tests.support.window import WindowRig, open_window, turns, until

HELD = Reply(pieces=("begun", " ended"), hold_after=1)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


def queued(rig: WindowRig) -> str:
    """What the bar says is next."""
    bar = rig.find(QFrame, "queuedMessage")
    return bar.accessibleName() if bar.isVisible() else ""


def is_next(rig: WindowRig, said: str) -> bool:
    return queued(rig) == said and rig.composer.text == ""


def click_tool(rig: WindowRig, name: str) -> None:
    QTest.mouseClick(rig.find(QToolButton, name), Qt.MouseButton.LeftButton)


async def user_texts(core: Core, rig: WindowRig) -> list[str]:
    messages = await core.conversations.messages(rig.window.presenter.conversation_id or "")
    return [message.text for message in messages if message.role.value == "user"]


# While calls wait


async def test_deny_all_and_send_answers_every_card_and_sends_the_message(data_dir: Path, file: Path) -> None:
    replies = (calls(append(file, "a"), append(file, "b")), DONE)
    async with asking_window(data_dir, *replies) as (rig, core, _):
        await asked(rig, "Write both", 2)
        rig.type("Never mind")
        rig.enter()
        question = rig.banner("waitingQuestion")
        assert (question.isVisible(), question.title) == (True, "2 calls are still waiting.")
        assert rig.composer.text == "Never mind"
        rig.composer.clear()
        assert not question.isVisible(), "nothing is there to be sent"
        rig.type("Never mind")
        rig.enter()
        assert question.isVisible()
        assert len(await core.decisions.pending()) == 2
        rig.click("denyAllAndSendButton")
        await finished(rig, core)
        await until(lambda: "Done." in rig.transcript_text)
        assert await user_texts(core, rig) == ["Write both", "Never mind"]
        await until(lambda: not queued(rig))
        assert (rig.composer.text, question.isVisible()) == ("", False)
        assert lines_of(file) == []


async def test_a_message_that_waits_is_shown_and_sent_when_the_run_has_completed(
    data_dir: Path, file: Path
) -> None:
    replies = (calls(append(file, "a")), DONE, Reply(pieces=("You are welcome.",)))
    async with asking_window(data_dir, *replies) as (rig, core, _):
        (card,) = await asked(rig, "Write a")
        rig.type("Thank you")
        rig.enter()
        rig.click("waitButton")
        await until(lambda: queued(rig) == "Next: Thank you")
        assert rig.composer.text == ""
        assert not rig.shows("waitingQuestion")
        assert not rig.shows("queuedSend")
        assert card.is_open
        press(card, "allowOnceButton")
        await until(lambda: "You are welcome." in rig.transcript_text)
        await finished(rig, core)
        await until(lambda: not queued(rig))
        assert await user_texts(core, rig) == ["Write a", "Thank you"]
        assert lines_of(file) == ["a"]


async def test_an_open_card_and_a_message_that_waits_are_there_again_after_a_restart(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, calls(append(file, "a"))) as (rig, core, _):
        await asked(rig, "Write a")
        rig.type("Thank you")
        rig.enter()
        rig.click("waitButton")
        await until(lambda: queued(rig))
        rig.type("half a thou")
        await rig.window.save()
    async with asking_window(data_dir, DONE, Reply(pieces=("You are welcome.",))) as (rig, core, _):
        await until(lambda: len(cards(rig)) == 1)
        assert queued(rig) == "Next: Thank you"
        assert rig.composer.text == "half a thou"
        press(cards(rig)[0], "allowOnceButton")
        await until(lambda: "You are welcome." in rig.transcript_text)
        await finished(rig, core)
        assert await user_texts(core, rig) == ["Write a", "Thank you"]
        assert rig.composer.text == "half a thou"
        await rig.window.save()
        assert await core.conversations.draft(rig.window.presenter.conversation_id or "") == "half a thou"


# While a run is active


async def test_enter_queues_one_message_while_an_answer_is_written_and_a_second_joins_it(
    data_dir: Path,
) -> None:
    async with asking_window(data_dir, HELD, DONE) as (rig, core, server):
        rig.type("First")
        rig.enter()
        await until(lambda: "begun" in rig.transcript_text)
        for said, text in (("Next: Second", "Second"), ("Next: Second\n\nThird", "Third")):
            rig.type(text)
            rig.enter()
            await until(partial(is_next, rig, said))
        assert queued(rig) == "Next: Second\n\nThird"
        assert not rig.shows("queuedSend")
        server.release()
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        assert await user_texts(core, rig) == ["First", "Second\n\nThird"]
        await until(lambda: not queued(rig))


async def test_a_stopped_run_leaves_the_message_queued_until_it_is_sent_by_hand(data_dir: Path) -> None:
    async with asking_window(data_dir, HELD, DONE) as (rig, core, _):
        rig.type("First")
        rig.enter()
        await until(lambda: "begun" in rig.transcript_text)
        rig.type("Second")
        rig.enter()
        await until(lambda: queued(rig))
        rig.click("stopButton")
        await until(lambda: rig.goes_on_by and rig.shows("queuedSend"))
        assert await user_texts(core, rig) == ["First"]
        rig.click("queuedSend")
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        assert await user_texts(core, rig) == ["First", "Second"]
        await until(lambda: not queued(rig))


async def test_editing_takes_the_message_back_before_what_was_typed_since(data_dir: Path) -> None:
    async with asking_window(data_dir, HELD) as (rig, core, server):
        rig.type("First")
        rig.enter()
        await until(lambda: "begun" in rig.transcript_text)
        rig.type("Second")
        rig.enter()
        await until(lambda: queued(rig) and rig.composer.text == "")
        rig.type("more")
        click_tool(rig, "queuedEdit")
        await until(lambda: not queued(rig))
        assert rig.composer.text == "Second\n\nmore"
        conversation_id = rig.window.presenter.conversation_id or ""
        assert await core.queue.get(conversation_id) is None
        assert await core.conversations.draft(conversation_id) == "Second\n\nmore"
        server.release()
        await finished(rig, core)
        assert await user_texts(core, rig) == ["First"]


# On a core that the test drives


async def running(rig: WindowRig, core: FakeCore) -> str:
    rig.type("First")
    rig.enter()
    await until(lambda: rig.window.presenter.is_running)
    return core.runs.handles[-1].conversation_id


async def test_removing_takes_the_message_away() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        conversation_id = await running(rig, core)
        rig.type("Second")
        rig.enter()
        await until(lambda: queued(rig))
        click_tool(rig, "queuedRemove")
        await until(lambda: not queued(rig))
        assert core.queue.texts == {}
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton"))
        assert [handle.conversation_id for handle in core.runs.handles] == [conversation_id]


async def test_a_message_that_cannot_be_queued_stays_in_the_composer() -> None:
    core = FakeCore()
    core.queue.put_error = SophosError(ErrorCode.STORE_BUSY, "Another process writes", "Try again")
    async with open_window(core) as rig:
        await running(rig, core)
        rig.type("Second")
        rig.enter()
        await until(lambda: rig.shows("errorBanner"))
        assert (rig.composer.text, queued(rig)) == ("Second", "")
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_message_is_sent_in_its_conversation_although_another_is_open() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        conversation_id = await running(rig, core)
        rig.type("Second")
        rig.enter()
        await until(lambda: queued(rig))
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert queued(rig) == ""
        rig.type("something else")
        core.runs.handles[0].end()
        await until(lambda: len(core.runs.handles) == 2)
        assert core.runs.handles[1].conversation_id == conversation_id
        assert rig.composer.text == "something else"
        assert core.queue.texts == {}
        assert rig.window.presenter.conversation_id is None
        core.runs.handles[1].end()
        await turns()


async def test_a_message_whose_run_completed_before_a_restart_waits_to_be_sent_by_hand() -> None:
    core = FakeCore()
    run = record("", "r", RunStatus.COMPLETED)
    conversation_id = core.conversations.add("Old", user("old"), last_run=run)
    core.queue.texts[conversation_id] = "Next one"
    async with open_window(core) as rig:
        rig.choose("Old")
        await until(lambda: queued(rig) == "Next: Next one")
        assert rig.shows("queuedSend")
        assert core.runs.handles == []


async def test_deny_all_and_send_takes_a_queued_message_along() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        conversation_id = await running(rig, core)
        rig.type("Second")
        rig.enter()
        await until(lambda: queued(rig) and rig.composer.text == "")
        core.ask(core.runs.handles[0], "m1:0", "approval")
        await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
        rig.type("Third")
        rig.enter()
        rig.click("denyAllAndSendButton")
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        sent = core.conversations.stored[conversation_id][-1].text
        assert sent == "Second\n\nThird"
        await until(lambda: not queued(rig))
        assert (rig.composer.text, cards(rig)) == ("", [])
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_the_question_goes_when_the_calls_are_decided_and_the_text_stays() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await running(rig, core)
        core.ask(core.runs.handles[0], "m1:0")
        await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
        rig.type("typed meanwhile")
        rig.enter()
        assert rig.shows("waitingQuestion")
        press(cards(rig)[0], "skipButton")
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        assert not rig.shows("waitingQuestion")
        assert rig.composer.text == "typed meanwhile"
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_message_that_cannot_be_sent_instead_of_deciding_stays_in_the_composer() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        conversation_id = await running(rig, core)
        core.ask(core.runs.handles[0], "m1:0")
        await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
        rig.type("Never mind")
        rig.enter()
        core.runs.start_error = SophosError(ErrorCode.STORE_BUSY, "Another process writes", "Try again")
        rig.click("denyAllAndSendButton")
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "STORE_BUSY"
        await until(lambda: not cards(rig))
        assert (rig.composer.text, queued(rig), core.queue.texts) == ("Never mind", "", {})
        core.runs.start_error = None
        rig.enter()
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        assert core.conversations.stored[conversation_id][-1].text == "Never mind"
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))
