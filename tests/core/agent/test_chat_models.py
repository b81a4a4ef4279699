"""Answers through langchain-ollama from a scripted server: what is sent, and what comes of it."""

import asyncio
import os
from contextlib import aclosing
from unittest import mock

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from sophos_desktop.core.agent.chat_models import (
    AnswerOptions,
    CallPiece,
    ChatModels,
    FinalPiece,
    TextPiece,
    ThinkingPiece,
    stream_chat,
)
from tests.core.agent.chat_support import GET_TIME, HELLO, OPTIONS, collect, endpoint, text_of
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def test_an_answer_comes_in_its_pieces_and_ends_with_the_counts(
    server: OllamaServer, models: ChatModels
) -> None:
    server.script(Reply(pieces=("Hel", "lo", " żółw \u2028\x85🌍"), prompt_tokens=14, output_tokens=5))
    pieces = await collect(models, endpoint(server.url))
    assert pieces == [
        TextPiece("Hel"),
        TextPiece("lo"),
        TextPiece(" żółw \u2028\x85🌍"),
        FinalPiece("stop", prompt_tokens=14, output_tokens=5, load_ms=39, prompt_ms=348, answer_ms=160),
    ]


async def test_every_request_forbids_forgetting_and_says_the_context(
    server: OllamaServer, models: ChatModels
) -> None:
    options = AnswerOptions(num_ctx=2048, temperature=0.0, keep_alive="10m")
    await collect(models, endpoint(server.url), options=options)
    assert server.chats[0].body == {
        "model": "smol:latest",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": 2048, "temperature": 0.0},
        "keep_alive": "10m",
    }


@pytest.mark.parametrize(("keep_alive", "sent"), [("10m", "10m"), ("-1", -1), ("300", 300)])
async def test_seconds_of_keeping_alive_are_sent_as_a_number(
    server: OllamaServer, models: ChatModels, keep_alive: str, sent: object
) -> None:
    await collect(models, endpoint(server.url), options=AnswerOptions(keep_alive=keep_alive))
    assert server.chats[0].body["keep_alive"] == sent


async def test_thinking_is_kept_apart_from_the_answer(server: OllamaServer, models: ChatModels) -> None:
    server.script(Reply(thinking=("The", " sum"), pieces=("4",)))
    pieces = await collect(models, endpoint(server.url, "thinking"))
    assert pieces[:3] == [ThinkingPiece("The"), ThinkingPiece(" sum"), TextPiece("4")]
    assert server.chats[0].body["think"] is True


async def test_thinking_is_switched_off_where_the_user_wants_it(
    server: OllamaServer, models: ChatModels
) -> None:
    await collect(models, endpoint(server.url, "thinking"), options=AnswerOptions(thinking=False))
    assert server.chats[0].body["think"] is False


async def test_a_model_without_thinking_and_tools_is_asked_for_neither(
    server: OllamaServer, models: ChatModels
) -> None:
    where = endpoint(server.url, model="plain:latest")
    await collect(models, where, tools=(GET_TIME,), options=AnswerOptions(thinking=True))
    assert {"think", "tools"}.isdisjoint(server.chats[0].body)


async def test_a_tool_reaches_the_engine_with_all_of_its_schema(
    server: OllamaServer, models: ChatModels
) -> None:
    await collect(models, endpoint(server.url, "tools"), tools=(GET_TIME,))
    function = server.chats[0].body["tools"][0]["function"]
    assert function["name"] == "clock__get_time"
    assert function["parameters"] == GET_TIME.input_schema


@pytest.mark.parametrize("in_final_frame", [False, True])
@pytest.mark.parametrize("with_ids", [False, True])
async def test_two_calls_alike_are_two_calls(
    server: OllamaServer, models: ChatModels, in_final_frame: bool, with_ids: bool
) -> None:
    call = {"name": "clock__get_time", "arguments": {"city": "Paris", "text": '{"a": 1}'}}
    server.script(Reply(calls=(call, call), calls_have_ids=with_ids, calls_in_final_frame=in_final_frame))
    pieces = await collect(models, endpoint(server.url, "tools"), tools=(GET_TIME,))
    calls = [piece for piece in pieces if isinstance(piece, CallPiece)]
    assert [(made.name, made.args) for made in calls] == [(call["name"], call["arguments"])] * 2
    assert isinstance(pieces[-1], FinalPiece)


@pytest.mark.parametrize(
    ("arguments", "args", "problem"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}, None),
        ("", {}, None),
        (None, {}, None),
        ('{"city": ', None, "no JSON"),
        ("Paris", None, "no JSON"),
        ('["Paris"]', None, "not a JSON object"),
        (["Paris"], None, "not a JSON object"),
        (7, None, "not a JSON object"),
    ],
)
async def test_arguments_that_are_no_object_never_make_a_call_that_can_run(
    server: OllamaServer,
    models: ChatModels,
    arguments: object,
    args: dict[str, str] | None,
    problem: str | None,
) -> None:
    server.script(Reply(calls=({"name": "clock__get_time", "arguments": arguments},)))
    pieces = await collect(models, endpoint(server.url, "tools"), tools=(GET_TIME,))
    (call,) = [piece for piece in pieces if isinstance(piece, CallPiece)]
    assert (call.name, call.args) == ("clock__get_time", args)
    assert (problem is None) == (call.problem is None)
    assert problem is None or problem in str(call.problem)


async def test_a_call_that_was_cut_is_no_call(server: OllamaServer, models: ChatModels) -> None:
    server.script(Reply(done_reason="length", output_tokens=15))
    (final,) = await collect(models, endpoint(server.url, "tools"), tools=(GET_TIME,))
    assert isinstance(final, FinalPiece)
    assert final.done_reason == "length"


async def test_results_go_back_with_their_call_and_the_name_of_their_tool(
    server: OllamaServer, models: ChatModels
) -> None:
    made = {"id": "m1:0", "name": "clock__get_time", "args": {"city": "Rome"}}
    history = [
        SystemMessage("Be brief."),
        HumanMessage("What time is it?"),
        AIMessage("", tool_calls=[made]),
        ToolMessage("12:30", tool_call_id="m1:0"),
    ]
    await collect(models, endpoint(server.url, "tools"), history, (GET_TIME,))
    function = {"name": "clock__get_time", "arguments": {"city": "Rome"}}
    assert server.chats[0].body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What time is it?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "id": "m1:0", "function": function}],
        },
        {"role": "tool", "content": "12:30", "tool_call_id": "m1:0", "tool_name": "clock__get_time"},
    ]


async def test_an_answer_that_only_loads_the_model_is_an_empty_answer(
    server: OllamaServer, models: ChatModels
) -> None:
    server.script(Reply(done_reason="load"))
    (final,) = await collect(models, endpoint(server.url))
    assert isinstance(final, FinalPiece)
    assert final.done_reason == "load"


async def test_cancelling_closes_the_connection_at_once(server: OllamaServer, models: ChatModels) -> None:
    server.script(Reply(pieces=("one", "two", "three"), hold_after=1))
    reading = asyncio.ensure_future(collect(models, endpoint(server.url)))
    await server.wait_held()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    request = await server.wait_ended()
    assert request.disconnected
    assert not request.answered


async def test_leaving_the_answer_early_closes_the_connection(
    server: OllamaServer, models: ChatModels
) -> None:
    server.script(Reply(pieces=("one", "two", "three"), hold_after=1))
    async with aclosing(models.stream_chat(endpoint(server.url), OPTIONS, HELLO, ())) as pieces:
        async for piece in pieces:
            assert piece == TextPiece("one")
            break
    assert (await server.wait_ended()).disconnected


async def test_a_long_silence_before_and_within_the_answer_is_normal(
    server: OllamaServer, models: ChatModels
) -> None:
    server.script(Reply(pieces=("late",), hold_after=0))
    reading = asyncio.ensure_future(collect(models, endpoint(server.url)))
    await server.wait_held()
    assert not reading.done()
    server.release()
    assert text_of(await reading) == "late"


async def test_requests_to_this_machine_bypass_proxies(server: OllamaServer, models: ChatModels) -> None:
    proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    with mock.patch.dict(os.environ, proxies):
        assert text_of(await collect(models, endpoint(server.url))) == "Hello!"


async def test_answers_at_once_do_not_mix(server: OllamaServer, models: ChatModels) -> None:
    server.play.by_text = {"one": (Reply(pieces=("1", "1")),), "two": (Reply(pieces=("2", "2")),)}
    answers = await asyncio.gather(
        *(
            collect(models, endpoint(server.url), [HumanMessage(text)])
            for text in ("one", "two", "one", "two")
        )
    )
    assert [text_of(pieces) for pieces in answers] == ["11", "22", "11", "22"]


async def test_the_engine_may_be_restarted_between_answers(models: ChatModels) -> None:
    async with OllamaServer() as first:
        assert text_of(await collect(models, endpoint(first.url))) == "Hello!"
        port = first.port
    async with OllamaServer(port=port) as second:
        assert text_of(await collect(models, endpoint(second.url))) == "Hello!"


async def test_a_single_answer_needs_no_pool(server: OllamaServer) -> None:
    where = endpoint(server.url + "/")
    pieces = [piece async for piece in stream_chat(where, OPTIONS, HELLO, ())]
    assert text_of(pieces) == "Hello!"
