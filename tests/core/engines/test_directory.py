"""Which engine and model a run takes, and why; where they answer; how they stand."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import EngineDirectory
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind
from sophos_desktop.core.engines.directory import EngineConfiguration, Engines
from sophos_desktop.core.engines.starter_process import STARTER_MODEL, StarterProcess
from sophos_desktop.foundation.tasks import TaskOwner
from tests.support.child_records import ListedChildren
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer

OLLAMA, STARTER = EngineKind.OLLAMA, EngineKind.STARTER

OLD_TOOLS = FakeModel("tools:7b", ("completion", "tools"), modified_at="2026-01-01T00:00:00Z", digest="a")
NEW_PLAIN = FakeModel("plain:latest", ("completion",), modified_at="2026-03-01T00:00:00Z", digest="b")
NEWEST_EMBEDDING = FakeModel("embed:latest", ("embedding",), modified_at="2026-04-01T00:00:00Z", digest="c")


@dataclass
class Bench:
    """The directory with everything around it that a test may change."""

    server: OllamaServer
    engines: EngineDirectory
    configuration: EngineConfiguration
    model_file: Path | None
    last_used: str | None = None


@pytest.fixture(name="bench")
async def _bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A server with three models, and a starter whose file is a stand-in that is never loaded."""
    file = tmp_path / "starter.gguf"
    file.write_bytes(b"12345")
    tasks = TaskOwner(lambda error: None)
    async with OllamaServer((NEWEST_EMBEDDING, NEW_PLAIN, OLD_TOOLS)) as server:

        async def last_used() -> str | None:
            return bench.last_used

        starter = StarterProcess(ListedChildren(), tasks, find_model=lambda: bench.model_file)
        engines = Engines(lambda: bench.configuration, starter, last_used)
        bench = Bench(server, engines, EngineConfiguration(host=server.url), file)
        yield bench
        await engines.close()
        await tasks.close()


async def test_the_newest_model_with_tools_is_taken_and_the_reason_said(bench: Bench) -> None:
    choice = await bench.engines.choose(None, None)
    assert (choice.engine, choice.model) == (OLLAMA, "tools:7b")
    assert choice.reason is not None
    assert bench.server.url in choice.reason
    assert "newest model with tools" in choice.reason


async def test_the_newest_that_can_chat_is_taken_where_none_has_tools(bench: Bench) -> None:
    bench.server.models.remove(OLD_TOOLS)
    assert (await bench.engines.choose(None, None)).model == "plain:latest"


@pytest.mark.parametrize("last", ["plain", "plain:latest"])
async def test_the_model_used_last_is_taken_again(bench: Bench, last: str) -> None:
    bench.last_used = last
    choice = await bench.engines.choose(None, None)
    assert choice.model == "plain:latest"
    assert "used last" in str(choice.reason)


@pytest.mark.parametrize("last", ["gone:1b", "embed:latest"])
async def test_a_last_model_that_is_gone_or_cannot_chat_is_not_taken(bench: Bench, last: str) -> None:
    bench.last_used = last
    assert (await bench.engines.choose(None, None)).model == "tools:7b"


async def test_the_starter_is_taken_if_ollama_is_down_and_ollama_again_when_it_is_back(bench: Bench) -> None:
    port = bench.server.port
    await bench.server.stop()
    choice = await bench.engines.choose(None, None)
    assert (choice.engine, choice.model) == (STARTER, STARTER_MODEL)
    assert "does not answer" in str(choice.reason)
    assert "starter" in str(choice.reason)
    async with OllamaServer((OLD_TOOLS,), port=port):
        assert (await bench.engines.choose(None, None)).engine is OLLAMA


async def test_the_starter_is_taken_if_ollama_has_no_model_that_can_chat(bench: Bench) -> None:
    bench.server.models = [NEWEST_EMBEDDING]
    choice = await bench.engines.choose(None, None)
    assert choice.engine is STARTER
    assert "no model that can chat" in str(choice.reason)


async def test_what_the_caller_names_wins_and_needs_no_network(bench: Bench) -> None:
    await bench.server.stop()
    bench.configuration = EngineConfiguration(kind=STARTER, host=bench.server.url, model="other:1b")
    assert await bench.engines.choose(OLLAMA, "mine:2b") == EngineChoice(OLLAMA, "mine:2b")
    assert await bench.engines.choose(STARTER, None) == EngineChoice(STARTER, STARTER_MODEL)
    assert await bench.engines.choose(None, None) == EngineChoice(STARTER, STARTER_MODEL)
    assert await bench.engines.choose(OLLAMA, None) == EngineChoice(OLLAMA, "other:1b")


async def test_a_model_that_was_named_is_never_replaced(bench: Bench) -> None:
    await bench.server.stop()
    assert await bench.engines.choose(None, "mine:2b") == EngineChoice(OLLAMA, "mine:2b")
    assert await bench.engines.choose(None, STARTER_MODEL) == EngineChoice(STARTER, STARTER_MODEL)
    bench.configuration = EngineConfiguration(host=bench.server.url, model="mine:2b")
    assert await bench.engines.choose(None, None) == EngineChoice(OLLAMA, "mine:2b")


async def test_ollama_as_the_engine_without_ollama_is_an_error(bench: Bench) -> None:
    await bench.server.stop()
    for ask in (bench.engines.choose(OLLAMA, None), bench.engines.models(OLLAMA)):
        with pytest.raises(SophosError) as caught:
            await ask
        assert caught.value.code is ErrorCode.ENGINE_UNREACHABLE


async def test_an_endpoint_has_what_the_engine_says_of_the_model(bench: Bench) -> None:
    endpoint = await bench.engines.endpoint(EngineChoice(OLLAMA, "plain"))
    assert endpoint.model == "plain:latest"
    assert endpoint.base_url == bench.server.url
    assert endpoint.capabilities == {"completion"}
    assert endpoint.context_length == 8192


async def test_an_endpoint_for_a_model_that_is_not_there_says_what_is(bench: Bench) -> None:
    with pytest.raises(SophosError) as caught:
        await bench.engines.endpoint(EngineChoice(OLLAMA, "nosuch:1b"))
    assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE
    assert "tools:7b" in caught.value.title
    assert "`ollama pull nosuch:1b`" in caught.value.remedy
    with pytest.raises(SophosError) as caught:
        await bench.engines.endpoint(EngineChoice(STARTER, "nosuch:1b"))
    assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE


async def test_an_old_server_is_asked_once_for_what_its_tags_do_not_say(bench: Bench) -> None:
    bench.server.models = [
        FakeModel(
            f"old{number}:latest", template="{{ .Tools }}", knows_capabilities=False, digest=str(number)
        )
        for number in range(6)
    ]
    models = await bench.engines.models(OLLAMA)
    assert all(model.capabilities == {"completion", "tools"} for model in models)
    await bench.engines.choose(None, None)
    await bench.engines.endpoint(EngineChoice(OLLAMA, "old3"))
    assert [request.path for request in bench.server.requests].count("/api/show") == 6


async def test_facts_that_were_unknown_are_asked_for_again(bench: Bench) -> None:
    silent = FakeModel("odd:latest", context_length=0, knows_capabilities=False)
    bench.server.models = [silent]
    for _ in range(2):
        await bench.engines.endpoint(EngineChoice(OLLAMA, "odd"))
    assert [request.path for request in bench.server.requests].count("/api/show") == 2


async def test_models_say_which_are_loaded(bench: Bench) -> None:
    bench.server.loaded = ["tools:7b"]
    models = await bench.engines.models(OLLAMA)
    assert [model.name for model in models if model.loaded] == ["tools:7b"]
    assert [model.name for model in models if not model.can_chat] == ["embed:latest"]


async def test_the_starter_lists_its_model_while_its_file_is_there(bench: Bench) -> None:
    (model,) = await bench.engines.models(STARTER)
    assert (model.name, model.size_bytes, model.loaded) == (STARTER_MODEL, 5, False)
    bench.model_file = None
    assert list(await bench.engines.models(STARTER)) == []


async def test_the_status_says_what_the_next_run_would_take(bench: Bench) -> None:
    status = await bench.engines.status()
    assert (status.engine, status.reachable, status.version) == (OLLAMA, True, "0.13.0")
    assert bench.server.url in status.text
    bench.server.models = []
    assert (await bench.engines.status()).engine is STARTER
    await bench.server.stop()
    status = await bench.engines.status()
    assert (status.engine, status.reachable) == (STARTER, True)
    assert "does not answer" in status.text
    bench.configuration = EngineConfiguration(kind=OLLAMA, host=bench.server.url)
    status = await bench.engines.status()
    assert (status.engine, status.reachable) == (OLLAMA, False)
    assert "`ollama serve`" in status.remedy
    bench.configuration = EngineConfiguration(kind=STARTER)
    bench.model_file = None
    status = await bench.engines.status()
    assert (status.reachable, status.remedy) == (False, "Run `make setup`, which fetches it")


async def test_another_host_in_the_settings_counts_at_once(bench: Bench) -> None:
    async with OllamaServer((NEW_PLAIN,)) as other:
        await bench.engines.choose(None, None)
        bench.configuration = EngineConfiguration(host=f"127.0.0.1:{other.port}")
        both = await asyncio.gather(bench.engines.choose(None, None), bench.engines.models(OLLAMA))
        assert both[0].model == "plain:latest"


async def test_a_closed_port_is_given_up_at_once(bench: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        bench.configuration = EngineConfiguration(host=f":{taken.getsockname()[1]}")
        assert (await bench.engines.choose(None, None)).engine is STARTER
