"""A scripted engine and the real core over it, without and with a tool server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from tests.support.core_fixture import LINES, open_test_core
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    """An engine with a model that can do everything and one that can only answer."""
    able = FakeModel("smol:latest", ("completion", "tools", "thinking"))
    async with OllamaServer((able, FakeModel("plain:latest", ("completion",), digest="p"))) as running:
        yield running


@pytest.fixture
async def core(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    """The core without tool servers."""
    async with open_test_core(data_dir, server) as opened:
        yield opened


@pytest.fixture
async def tool_core(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    """The core with the server whose calls can be counted."""
    async with open_test_core(data_dir, server, mcp=LINES) as opened:
        yield opened
