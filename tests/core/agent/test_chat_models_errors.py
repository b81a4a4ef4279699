"""Every way in which an answer can fail is an error of the contract, and what came before it is kept."""

import asyncio
import dataclasses
import socket

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from sophos_desktop.core.agent.chat_models import AnswerOptions, CallPiece, ChatModels, FinalPiece, Piece
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.core.agent.chat_support import GET_TIME, collect, endpoint, text_of
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

CALL = {"name": "clock__get_time", "arguments": {"city": "Paris"}}
BEGUN = Reply(pieces=("The", " city"), calls=(CALL,))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (dataclasses.replace(BEGUN, ending="cut"), "peer closed connection"),
        (dataclasses.replace(BEGUN, ending="clean"), "without its final frame"),
        (dataclasses.replace(BEGUN, ending="error_line"), "unexpected EOF"),
        (dataclasses.replace(BEGUN, ending="junk_line"), "no JSON"),
        (Reply(lines=('{"message":{"content":"The city"}}', "[1]")), "no object"),
    ],
)
async def test_a_stream_that_breaks_is_incomplete_and_keeps_its_text_but_no_call(
    server: OllamaServer, models: ChatModels, reply: Reply, words: str
) -> None:
    server.script(reply)
    pieces: list[Piece] = []
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(server.url, "tools"), tools=(GET_TIME,), into=pieces)
    assert caught.value.code is ErrorCode.STREAM_INCOMPLETE
    assert words in caught.value.details
    assert words not in caught.value.title
    assert caught.value.remedy
    assert text_of(pieces) == "The city"
    assert not [piece for piece in pieces if isinstance(piece, CallPiece | FinalPiece)]


@pytest.mark.parametrize("ending", ["cut", "clean"])
async def test_not_one_frame_is_incomplete_too(server: OllamaServer, models: ChatModels, ending: str) -> None:
    server.script(Reply.from_json({"ending": ending}))
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(server.url))
    assert caught.value.code is ErrorCode.STREAM_INCOMPLETE


async def test_the_server_going_away_within_an_answer_is_incomplete(
    server: OllamaServer, models: ChatModels
) -> None:
    server.script(Reply(pieces=("one", "two"), hold_after=1))
    pieces: list[Piece] = []
    reading = asyncio.ensure_future(collect(models, endpoint(server.url), into=pieces))
    await server.wait_held()
    await server.stop()
    with pytest.raises(SophosError) as caught:
        await reading
    assert caught.value.code is ErrorCode.STREAM_INCOMPLETE
    assert text_of(pieces) == "one"


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (404, "model 'smol:latest' not found", ErrorCode.MODEL_UNAVAILABLE),
        (503, "server busy, please try again.  maximum pending requests exceeded", ErrorCode.ENGINE_BUSY),
        (500, "llama runner process has terminated: exit status 2", ErrorCode.ENGINE_ERROR),
        (400, "registry.example/library/smol does not support tools", ErrorCode.ENGINE_ERROR),
        (400, "the input length exceeds the context length", ErrorCode.CONTEXT_EXCEEDED),
    ],
)
async def test_a_refusal_has_its_code_and_the_engines_own_words(
    server: OllamaServer, models: ChatModels, status: int, words: str, code: ErrorCode
) -> None:
    server.script(Reply(status=status, error=words))
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(server.url))
    assert caught.value.code is code
    assert " ".join(words.split()) in caught.value.details
    assert words not in caught.value.title
    assert caught.value.remedy


async def test_a_model_that_is_not_there_comes_with_the_way_to_get_it(
    server: OllamaServer, models: ChatModels
) -> None:
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(server.url, model="nosuch:1b"))
    assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE
    assert "`ollama pull nosuch:1b`" in caught.value.remedy


async def test_a_prompt_beyond_the_context_is_refused_with_both_sizes(
    server: OllamaServer, models: ChatModels
) -> None:
    with pytest.raises(SophosError) as caught:
        await collect(
            models, endpoint(server.url), [HumanMessage("word " * 2000)], options=AnswerOptions(num_ctx=512)
        )
    assert caught.value.code is ErrorCode.CONTEXT_EXCEEDED
    assert "10,000 characters" in caught.value.title
    assert "512 tokens" in caught.value.title


async def test_nobody_at_the_address_is_said_with_the_address_and_the_command(models: ChatModels) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SophosError) as caught:
            await collect(models, endpoint(url))
    assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE
    assert url in caught.value.title
    assert "`ollama serve`" in caught.value.remedy


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:1", "http://[::1:11434"])
async def test_an_address_that_is_none_is_unreachable(models: ChatModels, url: str) -> None:
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(url))
    assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE


async def test_a_server_that_is_not_ollama_is_an_engine_error(
    server: OllamaServer, models: ChatModels
) -> None:
    with pytest.raises(SophosError) as caught:
        await collect(models, endpoint(server.url + "/elsewhere"))
    assert caught.value.code is ErrorCode.ENGINE_ERROR
    assert "404 page not found" in caught.value.details


async def test_calls_of_the_history_are_sent_as_objects(server: OllamaServer, models: ChatModels) -> None:
    history = [
        HumanMessage("x"),
        AIMessage("", tool_calls=[{"id": "m:0", "name": "clock__get_time", "args": {}}]),
        ToolMessage("1", tool_call_id="m:0"),
    ]
    pieces = await collect(models, endpoint(server.url, "tools"), history, (GET_TIME,))
    assert text_of(pieces) == "Hello!"
