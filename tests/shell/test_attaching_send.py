"""What is attached goes with its message, and is never lost on the way."""

from functools import partial
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QToolButton

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from tests.support.attaching import (
    LEFT,
    attach,
    chips,
    drag,
    file,
    names,
    of_files,
    queued_names,
    queues_last,
)
from tests.support.card_window import DONE, asking_window, cards, finished
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import record, user
from tests.support.ollama_script import Reply
from tests.support.window import WindowRig, open_window, shown_window, turns, until

# Sending


async def test_attachments_alone_can_be_sent_and_are_gone_from_the_composer(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
        assert rig.button("sendButton").isEnabled()
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        handle = core.runs.handles[-1]
        (sent,) = core.conversations.stored[handle.conversation_id]
        assert (sent.text, [ref.name for ref in sent.attachments]) == ("", ["orders.csv"])
        assert chips(rig) == ()
        assert core.attachments.drafts[None] == []
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_enter_waits_for_what_is_still_read(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("Total them")
        attach(rig, file(tmp_path, "orders.csv"))
        await turns(1)
        rig.enter()  # in the same moment: the file is not read yet
        await until(lambda: rig.window.presenter.is_running)
        handle = core.runs.handles[-1]
        (sent,) = core.conversations.stored[handle.conversation_id]
        assert (sent.text, [ref.name for ref in sent.attachments]) == ("Total them", ["orders.csv"])
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_nothing_is_sent_without_what_could_not_be_attached(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("Total them")
        attach(rig, tmp_path / "not there")
        await turns(1)
        rig.enter()
        await until(lambda: rig.shows("errorBanner"))
        await turns(10)
        assert (core.runs.handles, rig.composer.text) == ([], "Total them")


async def test_after_a_failed_send_text_and_attachments_are_still_there(tmp_path: Path) -> None:
    core = FakeCore()
    core.runs.start_error = SophosError(ErrorCode.STORE_FULL, "The disk is full", "Make room")
    async with open_window(core) as rig:
        rig.type("Total them")
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
        rig.enter()
        await until(lambda: rig.shows("errorBanner"))
        assert (rig.composer.text, names(rig)) == ("Total them", ["orders.csv"])
        core.runs.start_error = None
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        assert (rig.composer.text, names(rig)) == ("", [])
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_what_a_run_that_never_began_gives_back_is_shown_again(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("Total them")
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        handle = core.runs.handles[-1]
        (unsaid,) = core.conversations.stored[handle.conversation_id]
        core.conversations.stored[handle.conversation_id].clear()
        core.attachments.drafts[handle.conversation_id] = list(unsaid.attachments)
        handle.end(RunStatus.FAILED, SophosError(ErrorCode.STORE_FULL, "The disk is full"))
        await until(lambda: names(rig) == ["orders.csv"])
        await until(lambda: rig.composer.text == "Total them")


async def test_what_is_attached_while_a_message_is_on_its_way_goes_to_the_next_one(tmp_path: Path) -> None:
    core = FakeCore()
    core.runs.gate.clear()
    async with open_window(core) as rig:
        attach(rig, file(tmp_path, "one.txt", "1"))
        await until(lambda: names(rig) == ["one.txt"])
        rig.type("First")
        rig.enter()
        attach(rig, file(tmp_path, "two.txt", "2"))
        await turns(10)
        core.runs.gate.set()
        await until(lambda: names(rig) == ["two.txt"])
        handle = core.runs.handles[-1]
        (sent,) = core.conversations.stored[handle.conversation_id]
        assert [ref.name for ref in sent.attachments] == ["one.txt"]
        assert [ref.name for ref in core.attachments.drafts[handle.conversation_id]] == ["two.txt"]
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_each_conversation_shows_its_own(tmp_path: Path) -> None:
    core = FakeCore()
    for title in ("One", "Two"):
        core.conversations.add(title, user(title))
    async with open_window(core) as rig:
        rig.choose("One")
        await until(lambda: rig.window.presenter.conversation_id and not rig.window.presenter.is_loading)
        attach(rig, file(tmp_path, "one.txt", "1"))
        await until(lambda: names(rig) == ["one.txt"])
        rig.choose("Two")
        await until(lambda: chips(rig) == () and not rig.window.presenter.is_loading)
        attach(rig, file(tmp_path, "two.txt", "2"))
        await until(lambda: names(rig) == ["two.txt"])
        rig.choose("One")
        await until(lambda: names(rig) == ["one.txt"])
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert chips(rig) == ()


async def test_what_comes_while_a_conversation_is_opened_joins_what_was_there(tmp_path: Path) -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("old"))
    await core.attachments.add(conversation_id, "old.txt", b"old")
    async with open_window(core) as rig:
        rig.window.presenter.open(conversation_id)
        await until(lambda: rig.window.presenter.conversation_id == conversation_id)
        attach(rig, file(tmp_path, "new.txt", "new"))
        await until(lambda: names(rig) == ["old.txt", "new.txt"])


async def test_what_is_attached_before_the_core_is_open_is_kept(tmp_path: Path) -> None:
    core = FakeCore()
    core.conversations.add("Old", user("old"))
    async with shown_window() as rig:
        attach(rig, file(tmp_path, "orders.csv"))
        await turns(5)
        assert [chip.name for chip in chips(rig)] == ["orders.csv"]
        await rig.window.attach(core)
        await until(lambda: names(rig) == ["orders.csv"])
        assert rig.window.presenter.conversation_id is None
        assert [ref.name for ref in core.attachments.drafts[None]] == ["orders.csv"]


async def test_nothing_is_taken_once_the_window_closes(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        attach(rig, file(tmp_path, "kept.txt", "1"))
        rig.window.close_for_work()  # while it is read
        await rig.window.save()
        assert [ref.name for ref in core.attachments.drafts[None]] == ["kept.txt"]
        assert not drag(rig.transcript.viewport(), of_files(tmp_path / "kept.txt")).isAccepted()
        assert not rig.find(QToolButton, "attachButton").isEnabled()


# The queue


async def test_a_queued_message_takes_its_attachments_along_and_gives_them_back(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("First")
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        target = core.runs.handles[-1].conversation_id
        for name in ("one.txt", "two.txt"):
            attach(rig, file(tmp_path, name, name))
            await until(lambda: len(names(rig)) == 1)
            rig.enter()
            await until(lambda: names(rig) == [])
            await until(partial(queues_last, rig, name))
        assert queued_names(rig) == ["one.txt", "two.txt"]
        assert not rig.find(QFrame, "queuedMessage").findChildren(QToolButton, "attachmentRemove")
        assert rig.find(QFrame, "queuedMessage").accessibleName() == "Next: one.txt, two.txt"
        QTest.mouseClick(rig.find(QToolButton, "queuedEdit"), LEFT)
        await until(lambda: names(rig) == ["one.txt", "two.txt"])
        await until(lambda: not rig.shows("queuedMessage"))
        assert core.attachments.queued.get(target, []) == []
        rig.type("both")
        rig.enter()
        await until(lambda: queued_names(rig) == ["one.txt", "two.txt"])
        core.runs.handles[-1].end()
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        sent = core.conversations.stored[target][-1]
        assert (sent.text, [ref.name for ref in sent.attachments]) == ("both", ["one.txt", "two.txt"])
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_deny_all_and_send_that_fails_puts_everything_back_where_it_was(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("First")
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        handle = core.runs.handles[-1]
        target = handle.conversation_id
        attach(rig, file(tmp_path, "queued.txt", "1"))
        await until(lambda: names(rig) == ["queued.txt"])
        rig.enter()
        await until(lambda: queued_names(rig) == ["queued.txt"])
        core.ask(handle, "m1:0", "approval")
        await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
        attach(rig, file(tmp_path, "typed.txt", "2"))
        await until(lambda: names(rig) == ["typed.txt"])
        rig.enter()
        core.runs.start_error = SophosError(ErrorCode.STORE_BUSY, "Another process writes", "Try again")
        rig.click("denyAllAndSendButton")
        await until(lambda: rig.shows("errorBanner"))
        await until(lambda: names(rig) == ["typed.txt"])
        assert [ref.name for ref in core.attachments.queued[target]] == ["queued.txt"]
        assert [ref.name for ref in core.attachments.drafts[target]] == ["typed.txt"]


async def test_removing_a_queued_message_takes_its_attachments_away(tmp_path: Path) -> None:
    core = FakeCore()
    conversation_id = core.conversations.add(
        "Old", user("old"), last_run=record("", "r", RunStatus.COMPLETED)
    )
    kept = await core.attachments.add(conversation_id, "old.txt", b"old")
    await core.queue.put(conversation_id, "", [kept])
    async with open_window(core) as rig:
        rig.choose("Old")
        await until(lambda: queued_names(rig) == ["old.txt"])
        QTest.mouseClick(rig.find(QToolButton, "queuedRemove"), LEFT)
        await until(lambda: not rig.shows("queuedMessage"))
        assert core.attachments.queued.get(conversation_id, []) == []


# On the real core


async def sent_names(core: Core, rig: WindowRig) -> list[list[str]]:
    messages = await core.conversations.messages(rig.window.presenter.conversation_id or "")
    return [[ref.name for ref in one.attachments] for one in messages if one.role.value == "user"]


async def test_attachments_survive_a_restart_and_reach_the_thread(data_dir: Path, tmp_path: Path) -> None:
    async with asking_window(data_dir) as (rig, _, _server):
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
    replies = (Reply(pieces=("begun", " ended"), hold_after=1), DONE)
    async with asking_window(data_dir, *replies) as (rig, core, server):
        await until(lambda: names(rig) == ["orders.csv"])
        rig.type("Total them")
        rig.enter()
        await until(lambda: "begun" in rig.transcript_text)
        assert names(rig) == []
        attach(rig, file(tmp_path, "more.csv", "c;d\n"))
        await until(lambda: names(rig) == ["more.csv"])
        rig.enter()
        await until(lambda: queued_names(rig) == ["more.csv"])
        server.release()
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        assert await sent_names(core, rig) == [["orders.csv"], ["more.csv"]]
        assert await core.attachments.of_draft(rig.window.presenter.conversation_id) == []
        assert names(rig) == []
