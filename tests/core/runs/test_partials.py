"""What arrived and is not in the thread: shown, sent with the next message, dropped by a continuation."""

from pathlib import Path

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.core.domain.events import MessageStored
from tests.support.core_fixture import end_of, facts, followed, open_test_core, say, transcript
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

CUT = Reply(thinking=("Hm",), pieces=("Half",), ending="cut")


async def test_a_partial_enters_the_thread_with_the_next_message_and_keeps_its_mark(
    core: Core, server: OllamaServer
) -> None:
    server.script(CUT)
    handle, _ = await say(core, None, "First")
    partial = (await core.conversations.messages(handle.conversation_id))[-1]
    _, events = await say(core, handle.conversation_id, "Second")
    assert end_of(events).status == "completed"
    messages = await core.conversations.messages(handle.conversation_id)
    assert [message.text for message in messages] == ["First", "Half", "Second", "Hello!"]
    assert messages[1] == partial
    assert (partial.state, partial.thinking, partial.model) == (MessageState.INCOMPLETE, "Hm", "smol:latest")
    assert [fact.message.text for fact in facts(events, MessageStored)] == ["Half", "Second", "Hello!"]
    sent = server.chats[-1].body["messages"][1:]
    assert [(message["role"], message["content"]) for message in sent] == [
        ("user", "First"),
        ("assistant", "Half"),
        ("user", "Second"),
    ]
    assert (await core.conversations.find(handle.conversation_id)).message_count == 4
    assert await core.runs._stores.trace.partials(handle.conversation_id) == []


async def test_a_continuation_drops_the_partial_when_its_answer_is_there(
    core: Core, server: OllamaServer
) -> None:
    server.script(CUT)
    handle, _ = await say(core, None, "First")
    await followed(await core.runs.resume(handle.conversation_id))
    assert await transcript(core, handle.conversation_id) == [("user", "First"), ("assistant", "Hello!")]
    assert await core.runs._stores.trace.partials(handle.conversation_id) == []


async def test_a_continuation_before_which_the_engine_went_down_keeps_what_had_arrived(
    core: Core, server: OllamaServer
) -> None:
    server.script(CUT)
    handle, _ = await say(core, None, "First")
    await server.stop()
    await followed(await core.runs.resume(handle.conversation_id))
    assert await transcript(core, handle.conversation_id) == [("user", "First"), ("assistant", "Half")]


async def test_a_continuation_that_is_cut_too_leaves_both_until_the_answer_is_there(
    core: Core, server: OllamaServer
) -> None:
    server.script(CUT, Reply(pieces=("Another half",), ending="cut"))
    handle, _ = await say(core, None, "First")
    await followed(await core.runs.resume(handle.conversation_id))
    assert await transcript(core, handle.conversation_id) == [
        ("user", "First"),
        ("assistant", "Half"),
        ("assistant", "Another half"),
    ]
    await followed(await core.runs.resume(handle.conversation_id))
    assert await transcript(core, handle.conversation_id) == [("user", "First"), ("assistant", "Hello!")]
    assert await core.runs._stores.trace.partials(handle.conversation_id) == []


async def test_of_several_attempts_at_one_answer_the_last_with_text_is_the_answer_so_far(
    core: Core, server: OllamaServer
) -> None:
    thought = Reply(thinking=("Hm",), ending="cut")
    server.script(CUT, Reply(pieces=("Another half",), ending="cut"), thought)
    handle, _ = await say(core, None, "First")
    for _attempt in range(2):
        await followed(await core.runs.resume(handle.conversation_id))
    assert len(await core.runs._stores.trace.partials(handle.conversation_id)) == 3
    await say(core, handle.conversation_id, "Second")
    assert await transcript(core, handle.conversation_id) == [
        ("user", "First"),
        ("assistant", "Another half"),
        ("user", "Second"),
        ("assistant", "Hello!"),
    ]
    sent = [message["content"] for message in server.chats[-1].body["messages"][1:]]
    assert sent == ["First", "Another half", "Second"]
    assert await core.runs._stores.trace.partials(handle.conversation_id) == []


async def test_a_partial_outlives_the_program(data_dir: Path, server: OllamaServer) -> None:
    server.script(CUT)
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "First")
    async with open_test_core(data_dir, server) as core:
        assert await transcript(core, handle.conversation_id) == [("user", "First"), ("assistant", "Half")]
        assert (await core.conversations.find(handle.conversation_id)).resumable


async def test_a_failure_is_left_once_the_next_run_is_a_message_and_none_resumed_it(
    core: Core, server: OllamaServer
) -> None:
    server.script(CUT, CUT, "Whole.", CUT, "Later.")
    handle, _ = await say(core, None, "First")
    assert await core.conversations.left_failures(handle.conversation_id) == []
    resumed = await core.runs.resume(handle.conversation_id)
    await followed(resumed)
    second, _ = await say(core, handle.conversation_id, "Second")
    third, _ = await say(core, handle.conversation_id, "Third")
    fourth, _ = await say(core, handle.conversation_id, "Fourth")
    first_left, second_left = await core.conversations.left_failures(handle.conversation_id)
    runs = {run.id: run for run in await core.conversations.runs(handle.conversation_id)}
    assert (first_left.run_id, first_left.error_code) == (resumed.run_id, "STREAM_INCOMPLETE")
    assert first_left.input_message_id is None
    assert first_left.next_message_id == runs[second.run_id].input_message_id
    assert second_left.run_id == third.run_id
    assert second_left.input_message_id == runs[third.run_id].input_message_id
    assert second_left.next_message_id == runs[fourth.run_id].input_message_id
