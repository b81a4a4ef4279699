"""Everything an engine does that is no plain answer: its code, what arrived kept, nothing half done."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sophos_desktop.core.agent.context import LEAST_TOKENS_PER_CHARACTER
from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import MessageState, Role
from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice, TextDelta, ThinkingDelta
from tests.support.core_fixture import (
    OLLAMA,
    append,
    end_of,
    facts,
    followed,
    lines_of,
    open_test_core,
    say,
    transcript,
)
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer

HALF = Reply(pieces=("Half", " an answer"))
TOO_LONG = Reply(status=400, error="the input length exceeds the context length")


@dataclass(frozen=True, slots=True)
class Case:
    """What the engine does, the code that it has, and what arrived before."""

    name: str
    reply: Reply
    code: str
    text: str = ""
    thinking: str | None = None


CASES = [
    Case("stream cut", replace(HALF, ending="cut"), "STREAM_INCOMPLETE", "Half an answer"),
    Case("no final frame", replace(HALF, ending="clean"), "STREAM_INCOMPLETE", "Half an answer"),
    Case("error line", replace(HALF, ending="error_line"), "STREAM_INCOMPLETE", "Half an answer"),
    Case("junk line", replace(HALF, ending="junk_line"), "STREAM_INCOMPLETE", "Half an answer"),
    Case("no frame", Reply(lines=()), "STREAM_INCOMPLETE"),
    Case("no answer at all", Reply(lines=(), ending="cut"), "STREAM_INCOMPLETE"),
    Case("cut while thinking", Reply(thinking=("Hm",), ending="cut"), "STREAM_INCOMPLETE", thinking="Hm"),
    Case("404", Reply(status=404, error="model 'smol:latest' not found"), "MODEL_UNAVAILABLE"),
    Case("500", Reply(status=500, error="llama runner has terminated"), "ENGINE_ERROR"),
    Case("503", Reply(status=503, error="server busy, please try again"), "ENGINE_BUSY"),
    Case("400", Reply(status=400, error="smol does not support tools"), "ENGINE_ERROR"),
    Case("empty", Reply(), "EMPTY_ANSWER"),
    Case("blank", Reply(pieces=(" ", "\n")), "EMPTY_ANSWER", " \n"),
    Case("only thought", Reply(thinking=("Hm", " hm")), "EMPTY_ANSWER", thinking="Hm hm"),
    Case("only loaded", Reply(done_reason="load"), "EMPTY_ANSWER"),
    Case("full", Reply(thinking=("Hm",), done_reason="length"), "EMPTY_ANSWER", thinking="Hm"),
    Case("one message beyond it", TOO_LONG, "CONTEXT_EXCEEDED"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_what_is_no_answer_has_its_code_and_can_be_resumed(
    core: Core, server: OllamaServer, case: Case
) -> None:
    server.script(case.reply)
    handle, events = await say(core, None, "Hi")
    end = end_of(events)
    assert (end.status, end.error_code, end.resumable) == ("failed", case.code, True)
    assert end.error_message
    record = await core.conversations.find_run(handle.run_id)
    assert (record.status.value, record.error_code) == ("failed", case.code)
    assert record.error_message == end.error_message
    _refuse_raw_words(end.error_message)
    assert "".join(delta.text for delta in facts(events, TextDelta)) == case.text
    assert "".join(delta.text for delta in facts(events, ThinkingDelta)) == (case.thinking or "")
    messages = await core.conversations.messages(handle.conversation_id)
    arrived = [(m.text, m.thinking, m.state) for m in messages if m.role is Role.ASSISTANT]
    shown = bool(case.text or case.thinking)
    assert arrived == ([(case.text, case.thinking, MessageState.INCOMPLETE)] if shown else [])
    conversation = await core.conversations.find(handle.conversation_id)
    assert (conversation.resumable, conversation.message_count) == (True, 1)

    resumed = await core.runs.resume(handle.conversation_id)
    assert end_of(await followed(resumed)).status == "completed"
    assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]
    assert not (await core.conversations.find(handle.conversation_id)).resumable
    assert [m["role"] for m in server.chats[-1].body["messages"]] == ["system", "user"]


def _refuse_raw_words(message: str) -> None:
    """A sentence and what to do are for a person; whatever else was said is on a line of its own."""
    said, _, details = message.partition("\n")
    title, stop, remedy = said.partition(". ")
    assert title
    assert stop
    assert remedy
    assert details == "" or details.startswith("Details: ")
    for raw in ("{", "peer closed", "EOF", "JSON", "llama runner", "Error", "not found", "final frame"):
        assert raw not in said


@pytest.mark.parametrize("ending", ["cut", "clean", "error_line", "junk_line"])
async def test_a_call_in_an_answer_that_was_cut_never_runs(
    tool_core: Core, server: OllamaServer, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / "lines.txt"
    broken = Reply.from_json({"pieces": ["I write"], "calls": [append(file, "never")], "ending": ending})
    server.script(broken)
    handle, events = await say(tool_core, None, "Write")
    assert end_of(events).error_code == "STREAM_INCOMPLETE"
    await followed(await tool_core.runs.resume(handle.conversation_id))
    assert lines_of(file) == []
    assert await transcript(tool_core, handle.conversation_id) == [("user", "Write"), ("assistant", "Hello!")]


async def test_an_answer_that_was_cut_by_its_length_is_an_answer_with_a_notice(
    core: Core, server: OllamaServer
) -> None:
    server.script(Reply(pieces=("As far as it", " goes"), done_reason="length"))
    handle, events = await say(core, None, "Tell me all")
    assert end_of(events).status == "completed"
    assert [notice.code for notice in facts(events, Notice)] == [NoticeCode.ANSWER_CUT]
    assert (await transcript(core, handle.conversation_id))[1] == ("assistant", "As far as it goes")


async def test_a_prompt_that_the_engine_refuses_is_sent_once_more_with_less(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, settings=OLLAMA + "[answer]\nnum_ctx = 1024\n") as core:
        handle, _ = await say(core, None, "a" * 1000)
        await say(core, handle.conversation_id, "b" * 1000)
        server.script(TOO_LONG)
        _, events = await say(core, handle.conversation_id, "c" * 400)
        assert end_of(events).status == "completed"
        (notice,) = [n for n in facts(events, Notice) if n.code == NoticeCode.CONTEXT_TRIMMED]
        assert "left out" in notice.text
        refused, fitting = (request.body["messages"] for request in server.chats[-2:])
        assert len(fitting) < len(refused)
        assert fitting[-1] == refused[-1]
        assert len(await transcript(core, handle.conversation_id)) == 6


async def test_a_prompt_that_never_fits_says_both_sizes(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server, settings=OLLAMA + "[answer]\nnum_ctx = 1024\n") as core:
        handle, _ = await say(core, None, "a" * 400)
        server.script(TOO_LONG, TOO_LONG, TOO_LONG)
        _, events = await say(core, handle.conversation_id, "b" * 400)
        end = end_of(events)
        assert (end.error_code, end.resumable) == ("CONTEXT_EXCEEDED", True)
        assert "1,024" in str(end.error_message)
        assert len(server.chats) == 4
        _, events = await say(core, None, "one message beyond it " * 400)
        assert end_of(events).error_code == "CONTEXT_EXCEEDED"
        assert len(server.chats) == 5
        _, events = await say(core, handle.conversation_id, "short")
        assert end_of(events).status == "completed"


async def test_an_engine_that_counts_only_what_is_new_does_not_make_the_next_prompt_too_long(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, settings=OLLAMA + "[answer]\nnum_ctx = 1024\n") as core:
        server.script(Reply(pieces=("noted",), prompt_tokens=3))
        handle, _ = await say(core, None, "a" * 1000)
        for text in ("b", "c"):
            server.script(Reply(pieces=("noted",), prompt_tokens=3))
            await say(core, handle.conversation_id, text * 1200)
        server.script(TOO_LONG)
        _, events = await say(core, handle.conversation_id, "d" * 1200)
        assert end_of(events).status == "completed"
        first, second = (
            sum(len(m["content"]) for m in request.body["messages"]) for request in server.chats[-2:]
        )
        assert second < first < 1024 / LEAST_TOKENS_PER_CHARACTER


async def test_a_history_beyond_the_context_loses_its_oldest_turns_in_the_prompt_alone(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, settings=OLLAMA + "[answer]\nnum_ctx = 1024\n") as core:
        handle, _ = await say(core, None, "first " * 200)
        for text in ("second ", "third "):
            _, events = await say(core, handle.conversation_id, text * 200)
        assert end_of(events).status == "completed"
        assert NoticeCode.CONTEXT_TRIMMED in [notice.code for notice in facts(events, Notice)]
        sent = server.chats[-1].body["messages"]
        assert sent[0]["role"] == "system"
        assert sent[1]["role"] == "user"
        assert not any("first" in message["content"] for message in sent)
        assert len(await transcript(core, handle.conversation_id)) == 6


async def test_with_the_engine_down_messages_are_kept_and_answered_when_it_is_back(
    core: Core, server: OllamaServer
) -> None:
    port = server.port
    await server.stop()
    handle, events = await say(core, None, "First")
    end = end_of(events)
    assert (end.status, end.error_code, end.resumable) == ("failed", "ENGINE_UNREACHABLE", True)
    assert "ollama serve" in str(end.error_message)
    _, events = await say(core, handle.conversation_id, "Second")
    assert end_of(events).error_code == "ENGINE_UNREACHABLE"
    assert await transcript(core, handle.conversation_id) == [("user", "First"), ("user", "Second")]
    async with OllamaServer(port=port) as back:
        resumed = await core.runs.resume(handle.conversation_id)
        assert end_of(await followed(resumed)).status == "completed"
        assert [m["content"] for m in back.chats[0].body["messages"][-2:]] == ["First", "Second"]
    assert await transcript(core, handle.conversation_id) == [
        ("user", "First"),
        ("user", "Second"),
        ("assistant", "Hello!"),
    ]


async def test_an_engine_that_goes_away_while_it_answers_can_be_asked_again(
    core: Core, server: OllamaServer
) -> None:
    port = server.port
    server.script(Reply(pieces=("Half", "more"), hold_after=1))
    handle = await core.runs.start(None, "Hi")
    following = asyncio.ensure_future(followed(handle))
    await server.wait_held()
    await server.stop()
    end = end_of(await following)
    assert (end.error_code, end.resumable) == ("STREAM_INCOMPLETE", True)
    assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Half")]
    async with OllamaServer((FakeModel("smol:latest"),), port=port):
        await followed(await core.runs.resume(handle.conversation_id))
    assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]


async def test_a_long_silence_is_no_error(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("late",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    assert core.runs.works_on(handle.run_id)
    server.release()
    assert end_of(await followed(handle)).status == "completed"


async def test_a_model_that_is_not_there_is_said_with_what_is(data_dir: Path, server: OllamaServer) -> None:
    settings = '[engine]\nkind = "ollama"\nmodel = "gone:1b"\n'
    async with open_test_core(data_dir, server, settings=settings) as core:
        _, events = await say(core, None, "Hi")
        end = end_of(events)
        assert (end.error_code, end.resumable) == ("MODEL_UNAVAILABLE", True)
        assert "ollama pull gone:1b" in str(end.error_message)
        assert server.chats == []
