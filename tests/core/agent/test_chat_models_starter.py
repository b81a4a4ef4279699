"""The starter really answers: the real model in its real child process, through langchain-openai."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psutil
import pytest
from langchain_core.messages import HumanMessage

from sophos_desktop.core.agent.chat_models import AnswerOptions, ChatModels, FinalPiece, TextPiece
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelEndpoint
from sophos_desktop.core.engines.directory import EngineConfiguration, Engines
from sophos_desktop.core.engines.starter_process import STARTER_MODEL, StarterProcess
from sophos_desktop.foundation.tasks import TaskOwner
from tests.core.agent.chat_support import collect, text_of
from tests.support.child_records import ListedChildren

CALM = AnswerOptions(temperature=0.0)


@pytest.fixture
async def starter() -> AsyncIterator[StarterProcess]:
    """The starter with a small context, so that a prompt beyond it is short."""
    errors: list[BaseException] = []
    tasks = TaskOwner(errors.append)
    process = StarterProcess(ListedChildren(), tasks, context_length=512)
    yield process
    await process.close()
    await tasks.close()
    assert errors == []


@pytest.fixture
async def running(starter: StarterProcess) -> ModelEndpoint:
    """Where the starter answers."""

    async def nothing_yet() -> str | None:
        return None

    engines = Engines(lambda: EngineConfiguration(kind=EngineKind.STARTER), starter, nothing_yet)
    return await engines.endpoint(EngineChoice(EngineKind.STARTER, STARTER_MODEL))


async def test_the_starter_answers_with_text_and_usage(running: ModelEndpoint, models: ChatModels) -> None:
    question = [HumanMessage("What is the capital of France? Answer in one sentence.")]
    pieces = await collect(models, running, question, options=CALM)
    assert "Paris" in text_of(pieces)
    assert sum(isinstance(piece, TextPiece) for piece in pieces) > 1
    final = pieces[-1]
    assert isinstance(final, FinalPiece)
    assert final.done_reason == "stop"
    assert final.prompt_tokens
    assert final.output_tokens


async def test_when_an_answer_has_ended_nothing_of_its_stream_is_still_being_closed(
    running: ModelEndpoint, models: ChatModels
) -> None:
    before = asyncio.all_tasks()
    await collect(models, running, [HumanMessage("Hi")], options=CALM)
    assert asyncio.all_tasks() <= before


async def test_a_prompt_beyond_the_starters_context_is_refused_with_both_sizes(
    running: ModelEndpoint, models: ChatModels
) -> None:
    with pytest.raises(SophosError) as caught:
        await collect(models, running, [HumanMessage("word " * 1000)], options=CALM)
    assert caught.value.code is ErrorCode.CONTEXT_EXCEEDED
    assert "512 tokens" in caught.value.title
    assert "The prompt of 1,0" in caught.value.title


async def test_cancelling_frees_the_starter_for_the_next_question(
    running: ModelEndpoint, models: ChatModels
) -> None:
    begun = asyncio.Event()

    async def read() -> None:
        story = [HumanMessage("Tell a very long story.")]
        async for _ in models.stream_chat(running, CALM, story, ()):
            begun.set()

    reading = asyncio.ensure_future(read())
    await asyncio.wait_for(begun.wait(), 30)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    pieces = await asyncio.wait_for(collect(models, running, [HumanMessage("Hi")], options=CALM), 30)
    assert text_of(pieces)


async def test_the_starter_killed_within_an_answer_makes_it_incomplete(
    running: ModelEndpoint, models: ChatModels, starter: StarterProcess
) -> None:
    seen: list[object] = []
    with pytest.raises(SophosError) as caught:
        async for piece in models.stream_chat(running, CALM, [HumanMessage("Tell a very long story.")], ()):
            seen.append(piece)
            if len(seen) == 1:
                assert starter.pid is not None
                psutil.Process(starter.pid).kill()
    assert caught.value.code is ErrorCode.STREAM_INCOMPLETE
    with contextlib.suppress(SophosError):  # it may notice a little later that its child is gone
        await collect(models, running)


async def test_nobody_at_the_starters_address_is_unreachable(models: ChatModels) -> None:
    where = ModelEndpoint(
        EngineKind.STARTER, STARTER_MODEL, "http://127.0.0.1:9/v1", frozenset({"completion"}), 512, "key"
    )
    with pytest.raises(SophosError) as caught:
        await collect(models, where)
    assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE
    assert "key" not in str(caught.value)


async def test_a_wrong_key_is_refused(running: ModelEndpoint, models: ChatModels) -> None:
    where = ModelEndpoint(
        running.engine, running.model, running.base_url, running.capabilities, 512, api_key="wrong"
    )
    with pytest.raises(SophosError) as caught:
        await collect(models, where)
    assert caught.value.code is ErrorCode.ENGINE_ERROR
    assert "does not let Sophos in" in caught.value.title
    assert "401" in caught.value.details
