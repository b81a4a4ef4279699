"""Two windows, two processes' worth of them, write in one conversation: nobody's text is lost silently."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.events import SittingEnded
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.drafts import DraftKeeper
from sophos_desktop.shell.chat.other_draft import TITLE
from tests.support.core_fixture import open_test_core, say
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


@asynccontextmanager
async def two_windows(data_dir: Path) -> AsyncIterator[tuple[WindowRig, WindowRig, str]]:
    """Each with a core of its own on one file, both with the same conversation open."""
    async with (
        OllamaServer() as server,
        open_test_core(data_dir, server) as core,
        open_test_core(data_dir, server) as other_core,
    ):
        handle, _ = await say(core, None, "First")
        async with open_window(core) as one, open_window(other_core) as other:
            for rig in (one, other):
                rig.window.presenter.open(handle.conversation_id)
                await rig.opened(handle.conversation_id)
            yield one, other, handle.conversation_id


async def written(rig: WindowRig, text: str) -> None:
    """Type it, and wait until it is stored."""
    rig.type(text)
    await rig.window.save()


def asked(rig: WindowRig) -> str:
    """What is said of the other window's draft, if anything is."""
    banner = rig.banner("otherDraft")
    return banner.text if banner.isVisible() and banner.title == TITLE else ""


async def test_a_window_with_an_empty_composer_follows_what_is_written_in_the_other(data_dir: Path) -> None:
    async with two_windows(data_dir) as (one, other, _):
        await written(one, "Half a")
        await until(lambda: other.composer.text == "Half a")
        await until(lambda: other.button("sendButton").isEnabled())
        await written(one, " thought")
        await until(lambda: other.composer.text == "Half a thought")
        await written(other, ".")
        await until(lambda: one.composer.text == "Half a thought.")
        assert (asked(one), asked(other)) == ("", "")


async def test_a_window_keeps_its_own_text_and_says_that_the_other_one_has_another(data_dir: Path) -> None:
    async with two_windows(data_dir) as (one, other, where):
        one.type("of the one")
        other.type("of the other")
        await one.window.save()
        await other.window.save()
        await until(lambda: asked(other) == "“of the one”")
        assert (one.composer.text, other.composer.text) == ("of the one", "of the other")
        other.click("keepDraftButton")
        assert not other.shows("otherDraft")
        await written(other, ", more")
        await written(one, ", more")
        for rig, text in ((one, "of the one, more"), (other, "of the other, more")):
            assert rig.composer.text == text
            rig.window.presenter.open(None)
            await rig.opened(None)
            rig.window.presenter.open(where)
            await rig.opened(where)
            assert rig.composer.text == text
        await until(lambda: asked(other) == "“of the one, more”")


async def test_the_other_text_is_taken_in_above_ones_own_and_that_can_be_undone(data_dir: Path) -> None:
    async with two_windows(data_dir) as (one, other, _):
        one.type("of the one")
        other.type("of the other")
        await one.window.save()
        await other.window.save()
        await until(lambda: asked(other) != "")
        other.click("showOtherDraftButton")
        assert other.composer.text == "of the one\nof the other"
        assert not other.shows("otherDraft")
        await other.window.save()
        await until(lambda: one.composer.text == "of the one\nof the other")
        other.composer.undo()
        assert other.composer.text == "of the other"
        await other.window.save()
        # The one had shown both: what it holds is still kept, with the other's text beside or in it.
        await until(lambda: "of the one" in one.composer.text)


async def test_what_is_sent_in_one_window_leaves_the_others_text_alone(data_dir: Path) -> None:
    async with two_windows(data_dir) as (one, other, _):
        one.type("of the one")
        other.type("of the other")
        await one.window.save()
        await other.window.save()
        await until(lambda: asked(other) != "")
        ended: list[SittingEnded] = []
        one.window.presenter.run_ended.connect(lambda _where, end: ended.append(end))
        one.enter()
        await until(lambda: ended)
        assert one.composer.text == ""
        await until(lambda: "of the one" in other.transcript_text)
        await until(lambda: asked(other) == "")
        assert other.composer.text == "of the other"
        await written(other, "!")
        await until(lambda: one.composer.text == "of the other!")


async def test_a_text_that_was_shown_and_then_replaced_elsewhere_is_not_taken_away_here(
    data_dir: Path,
) -> None:
    async with two_windows(data_dir) as (one, other, where):
        await written(one, "of the one")
        await until(lambda: other.composer.text == "of the one")
        other.composer.selectAll()
        await written(other, "something else")
        await until(lambda: asked(one) == "“something else”")
        assert one.composer.text == "of the one"
        one.window.presenter.open(None)
        await one.opened(None)
        one.window.presenter.open(where)
        await one.opened(where)
        assert one.composer.text == "of the one"


async def test_a_new_chat_does_not_follow_another_windows_new_chat(data_dir: Path) -> None:
    async with two_windows(data_dir) as (one, other, _):
        for rig in (one, other):
            rig.window.presenter.open(None)
            await rig.opened(None)
        await written(one, "of the one")
        await written(other, "of the other")
        await until(lambda: asked(other) == "“of the one”")
        assert (one.composer.text, other.composer.text) == ("of the one", "of the other")


async def test_a_text_that_the_core_handed_back_is_no_other_windows_draft() -> None:
    core, parent, owner = FakeCore(), QObject(), TaskOwner(lambda error: None)
    where = core.conversations.add("Old", user("old"))
    drafts = DraftKeeper(owner, parent)
    drafts.attach(core.conversations)
    await drafts.draft(where)
    drafts.edited(where, "typed since")
    await drafts.flush()
    core.conversations.drafts[where] = "not sent\n\ntyped since"
    await drafts.handed_back(where, "not sent")
    drafts.edited(where, "not sent\ntyped then since")
    await drafts.flush()
    assert drafts.other(where) == ""
    assert core.conversations.drafts == {where: "not sent\ntyped then since"}
    await owner.close()


async def test_what_could_not_be_read_is_not_written_over() -> None:
    core, parent, owner = FakeCore(), QObject(), TaskOwner(lambda error: None)
    where = core.conversations.add("Old", user("old"))
    core.conversations.drafts[where] = "kept since yesterday"
    drafts = DraftKeeper(owner, parent)
    drafts.attach(core.conversations)
    drafts.edited(where, "typed at once")
    await drafts.flush()
    assert core.conversations.drafts == {where: "kept since yesterday"}
    assert core.conversations.drafts_beside == {where: "typed at once"}
    assert drafts.other(where) == "kept since yesterday"
    await owner.close()


async def test_a_long_draft_of_another_window_is_said_in_one_line() -> None:
    core = FakeCore()
    where = core.conversations.add("Old", user("old"))
    async with open_window(core) as rig:
        rig.window.presenter.open(where)
        await rig.opened(where)
        core.conversations.drafts[where] = "word\n" * 100
        await written(rig, "mine")
        await until(lambda: asked(rig) != "")
        assert "\n" not in asked(rig)
        assert len(asked(rig)) < 70
        assert rig.shows("composer")
        assert core.conversations.drafts_beside == {where: "mine"}
        rig.click("keepDraftButton")
        await until(lambda: rig.composer.hasFocus() or not rig.window.isActiveWindow())
