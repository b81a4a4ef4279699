"""What the window keeps of what a person typed and opened, whatever happens to it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.core.domain.drafts import Draft
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.shell.widgets.ask import Question
from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import open_window, shown_window, turns, until

FULL = SophosError(ErrorCode.STORE_FULL, "The disk is full", "Make room on it")


def slow_core(monkeypatch: pytest.MonkeyPatch) -> tuple[FakeCore, str, asyncio.Event, asyncio.Event]:
    """A conversation with a draft was open last; its messages are read once the second event is set, and the
    first says that somebody waits for them."""
    core = FakeCore()
    old = core.conversations.add("Old", user("old"))
    core.conversations.state["last_conversation"] = old
    core.conversations.drafts[old] = "of the old one"
    asked, gate = asyncio.Event(), asyncio.Event()
    read = core.conversations.messages

    async def slowly(conversation_id: str) -> Sequence[Message]:
        asked.set()
        await gate.wait()
        return await read(conversation_id)

    monkeypatch.setattr(core.conversations, "messages", slowly)
    return core, old, asked, gate


async def test_a_restored_draft_stays_with_its_conversation_if_a_new_chat_is_opened_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core, old, asked, gate = slow_core(monkeypatch)
    async with shown_window() as rig:
        attaching = asyncio.ensure_future(rig.window.attach(core))
        await asyncio.wait_for(asked.wait(), 10)
        assert rig.composer.text == "of the old one"
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert rig.composer.text == ""
        rig.type("new")
        gate.set()
        await attaching
        await rig.window.save()
        assert rig.composer.text == "new"
        assert core.conversations.drafts == {old: "of the old one", None: "new"}


async def test_what_was_typed_before_the_draft_came_goes_where_the_person_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = FakeCore()
    old = core.conversations.add("Old", user("old"))
    core.conversations.drafts[old] = "of the old one"
    asked, gate = asyncio.Event(), asyncio.Event()
    read = core.conversations.draft_here

    async def slowly(conversation_id: str | None) -> Draft:
        if conversation_id == old:
            asked.set()
            await gate.wait()
        return await read(conversation_id)

    async with open_window(core) as rig:
        monkeypatch.setattr(core.conversations, "draft_here", slowly)
        rig.window.presenter.open(old)
        await asyncio.wait_for(asked.wait(), 10)
        rig.type("typed since")
        rig.window.presenter.open(None)
        await rig.opened(None)
        gate.set()
        await rig.window.save()
        assert rig.composer.text == "typed since"
        assert core.conversations.drafts == {old: "of the old one", None: "typed since"}


async def test_which_conversation_is_open_is_written_when_it_changes() -> None:
    core = FakeCore()
    core.conversations.add("First", user("x"))
    second = core.conversations.add("Second", user("x"))
    async with open_window(core) as rig:
        rig.choose("Second")
        await until(lambda: core.conversations.state.get("last_conversation") == second)
        rig.action("actionNewChat").trigger()
        await until(lambda: core.conversations.state.get("last_conversation") == "")
        rig.type("go")
        rig.enter()
        await until(lambda: core.runs.handles)
        begun = core.runs.handles[0]
        await until(lambda: core.conversations.state.get("last_conversation") == begun.conversation_id)
        begun.end()
        await until(lambda: rig.shows("sendButton"))


def unsaved(made: object) -> Question | None:
    """The question, if it is open."""
    window = made.window  # type: ignore[attr-defined]
    found = window.findChild(Question, "unsavedQuestion")
    return found if isinstance(found, Question) and found.isVisible() else None


async def test_quitting_over_text_that_cannot_be_saved_asks_and_can_be_taken_back(tmp_path: Path) -> None:
    core = FakeCore()
    made = desktop(tmp_path, lambda _options: core.open())
    task = await started(made)
    await until(lambda: "open" in core.calls and not made.window.presenter.is_loading)
    made.window.chat.composer.insertPlainText("precious")
    core.conversations.save_error = FULL
    made.window.close()
    await until(lambda: unsaved(made))
    question = unsaved(made)
    assert question is not None
    assert question.windowTitle() == "What you typed cannot be saved"
    detail = question.findChild(QLabel, "unsavedQuestionDetail")
    assert detail is not None
    assert "The disk is full" in detail.text()
    assert "STORE_FULL" in detail.text()
    keep = question.findChild(QPushButton, "unsavedQuestionCancel")
    assert keep is not None
    assert (keep.text(), keep.isDefault()) == ("Keep open", True)
    keep.click()
    await turns(5)
    assert made.window.isVisible()
    assert not made.window.chat.composer.isReadOnly()
    core.conversations.save_error = None
    made.window.close()
    assert await ended(task, made) == 0
    assert core.conversations.drafts[None] == "precious"
