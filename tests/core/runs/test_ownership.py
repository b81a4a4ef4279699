"""One run per conversation, between processes and within one."""

import asyncio
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.support.core_fixture import end_of, followed, open_test_core, say, transcript, until_let_go
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def test_another_core_cannot_take_a_conversation_whose_owner_lives(
    data_dir: Path, core: Core, server: OllamaServer
) -> None:
    server.script(Reply(pieces=("late",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    async with open_test_core(data_dir, server) as other:
        assert other.recovered == ()
        for claim in (
            other.runs.start(handle.conversation_id, "Mine"),
            other.runs.resume(handle.conversation_id),
            other.conversations.delete(handle.conversation_id),
        ):
            with pytest.raises(SophosError) as caught:
                await claim
            assert caught.value.code is ErrorCode.SESSION_IN_PROGRESS
        assert not other.runs.stop(handle.conversation_id)
        _, events = await say(other, None, "Elsewhere")
        assert end_of(events).status == "completed"
        server.release()
        assert end_of(await followed(handle)).status == "completed"
        _, events = await say(other, handle.conversation_id, "Now mine")
        assert end_of(events).status == "completed"
    assert [text for _, text in await transcript(core, handle.conversation_id)] == [
        "Hi",
        "late",
        "Now mine",
        "Hello!",
    ]


async def test_a_message_while_an_answer_is_written_is_refused(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("late",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    for claim in (core.runs.start(handle.conversation_id, "More"), core.runs.resume(handle.conversation_id)):
        with pytest.raises(SophosError) as caught:
            await claim
        assert caught.value.code is ErrorCode.SESSION_IN_PROGRESS
    server.release()
    await followed(handle)


async def test_of_two_messages_at_the_same_moment_one_is_taken(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    claimed, go_on = asyncio.Event(), asyncio.Event()
    last_seq = core.runs._stores.trace.last_seq

    async def wait_between_claim_and_task(run_id: str) -> int:
        claimed.set()
        await go_on.wait()
        return await last_seq(run_id)

    monkeypatch.setattr(core.runs._stores.trace, "last_seq", wait_between_claim_and_task)
    first = asyncio.ensure_future(core.runs.start(handle.conversation_id, "One"))
    await asyncio.wait_for(claimed.wait(), 10)
    with pytest.raises(SophosError) as caught:
        await core.runs.start(handle.conversation_id, "Two")
    assert caught.value.code is ErrorCode.SESSION_IN_PROGRESS
    go_on.set()
    assert end_of(await followed(await first)).status == "completed"
    assert [text for role, text in await transcript(core, handle.conversation_id) if role == "user"] == [
        "Hi",
        "One",
    ]
    assert await core.conversations.draft(handle.conversation_id) == ""


async def test_a_start_that_is_cancelled_after_its_claim_blocks_nobody(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    claimed = asyncio.Event()

    async def never(run_id: str) -> int:
        claimed.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(core.runs._stores.trace, "last_seq", never)
        starting = asyncio.ensure_future(core.runs.start(handle.conversation_id, "One"))
        await asyncio.wait_for(claimed.wait(), 10)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
    await core.conversations.save_draft(handle.conversation_id, "")
    _, events = await say(core, handle.conversation_id, "Two")
    assert end_of(events).status == "completed"


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_an_empty_message_is_refused_and_makes_nothing(core: Core, text: str) -> None:
    with pytest.raises(SophosError) as caught:
        await core.runs.start(None, text)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert await core.conversations.find_all() == []


async def test_a_conversation_that_is_not_there_is_not_found(core: Core) -> None:
    for claim in (core.runs.start("nonsense", "Hi"), core.runs.resume("nonsense")):
        with pytest.raises(SophosError) as caught:
            await claim
        assert caught.value.code is ErrorCode.NOT_FOUND
