"""A scripted Ollama server and the models that talk to it."""

from collections.abc import AsyncIterator

import pytest

from sophos_desktop.core.agent.chat_models import ChatModels
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    """A server with one model that can do everything."""
    able = FakeModel("smol:latest", capabilities=("completion", "tools", "thinking"))
    async with OllamaServer((able, FakeModel("plain:latest", capabilities=("completion",)))) as running:
        yield running


@pytest.fixture
async def models() -> AsyncIterator[ChatModels]:
    """The models under test."""
    made = ChatModels()
    yield made
    await made.aclose()
