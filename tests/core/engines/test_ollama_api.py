"""Ollama's own API: what it says of its models, and what its failures become."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.engines import ollama_api
from sophos_desktop.core.engines.ollama_api import OllamaApi
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer
from tests.support.raw_server import answering, response


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    """A server with one model that thinks."""
    async with OllamaServer((FakeModel("smol:latest", ("completion", "thinking")),)) as running:
        yield running


@pytest.fixture
async def api(server: OllamaServer) -> AsyncIterator[OllamaApi]:
    """The client under test."""
    made = OllamaApi(server.url)
    yield made
    await made.close()


async def test_it_says_version_models_and_what_they_can_do(api: OllamaApi, server: OllamaServer) -> None:
    server.loaded = ["smol:latest"]
    assert await api.version() == "0.13.0"
    (tag,) = await api.tags()
    assert (tag.name, tag.size_bytes, tag.context_length) == ("smol:latest", 98_363_032, 8192)
    assert tag.capabilities == frozenset({"completion", "thinking"})
    facts = await api.show("smol")
    assert facts.capabilities == {"completion", "thinking"}
    assert facts.context_length == 8192
    assert await api.loaded() == {"smol:latest"}


@pytest.mark.parametrize(
    ("model", "capabilities"),
    [
        (FakeModel("old", template="{{ if .Tools }}", knows_capabilities=False), {"completion", "tools"}),
        (FakeModel("old", knows_capabilities=False), {"completion"}),
        (FakeModel("old", family="nomic-bert", knows_capabilities=False), {"embedding"}),
        (FakeModel("old", family="clip", knows_capabilities=False), {"completion", "vision"}),
    ],
)
async def test_a_server_too_old_to_say_what_a_model_can_do_is_understood(
    api: OllamaApi, server: OllamaServer, model: FakeModel, capabilities: set[str]
) -> None:
    server.models = [model]
    (tag,) = await api.tags()
    assert tag.capabilities is None
    assert tag.context_length is None
    facts = await api.show("old")
    assert facts.capabilities == capabilities
    assert facts.context_length == 8192


async def test_a_model_that_is_not_there_comes_with_the_way_to_get_it(api: OllamaApi) -> None:
    with pytest.raises(SophosError) as caught:
        await api.show("nosuch:1b")
    assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE
    assert "`ollama pull nosuch:1b`" in caught.value.remedy


async def test_nobody_there_is_said_with_address_and_command() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        api = OllamaApi(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(SophosError) as caught:
            await api.tags()
        await api.close()
    assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE
    assert api.base_url in caught.value.title
    assert "`ollama serve`" in caught.value.remedy


async def test_somebody_silent_is_unreachable_after_the_time_out() -> None:
    async with answering(None) as url:
        api = OllamaApi(url)
        with pytest.raises(SophosError) as caught:
            await api.version(timeout_seconds=0.05)
        await api.close()
    assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (503, '{"error":"server busy"}', ErrorCode.ENGINE_BUSY, "server busy"),
        (500, '{"error":"disk gone"}', ErrorCode.ENGINE_ERROR, "disk gone"),
        (404, "404 page not found", ErrorCode.ENGINE_ERROR, "404 page not found"),
        (200, "<html>", ErrorCode.ENGINE_ERROR, "is not Ollama"),
        (200, "[]", ErrorCode.ENGINE_ERROR, "is not Ollama"),
    ],
)
async def test_another_answer_is_an_error_with_its_own_words(
    status: int, body: str, code: ErrorCode, words: str
) -> None:
    async with answering(response(status, body)) as url:
        api = OllamaApi(url)
        with pytest.raises(SophosError) as caught:
            await api.tags()
        await api.close()
    assert caught.value.code is code
    assert words in f"{caught.value.title} {caught.value.details}"
    assert (words in caught.value.title) == (status == 200)
    assert caught.value.remedy


@pytest.mark.parametrize("announced", [True, False])
async def test_an_answer_beyond_every_list_of_models_is_not_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, *, announced: bool
) -> None:
    monkeypatch.setattr(ollama_api, "LARGEST_ANSWER_BYTES", 1024 * 1024)
    body = " " * (1024 * 1024 + 1)
    whole = response(200, body) if announced else f"HTTP/1.1 200 X\r\n\r\n{body}".encode()
    async with answering(whole[:200] if announced else whole) as url:
        api = OllamaApi(url)
        with pytest.raises(SophosError) as caught:
            await api.tags()
        await api.close()
        for _ in range(20):  # httpx's own generators are closed by the loop, one turn after the other
            await asyncio.sleep(0)
    assert caught.value.code is ErrorCode.ENGINE_ERROR
    assert caught.value.title.startswith(f"The answer to /api/tags at {url} is larger than 1 MB")
    assert "See what answers there" in caught.value.remedy


async def test_an_answer_that_is_nested_without_end_is_not_ollamas() -> None:
    async with answering(response(200, "[" * 100_000)) as url:
        api = OllamaApi(url)
        with pytest.raises(SophosError, match="is not Ollama"):
            await api.tags()
        await api.close()
