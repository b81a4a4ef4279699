"""A scripted engine and the real core over it, with the tool server whose calls can be counted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from tests.support.core_fixture import LINES, open_test_core
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    """An engine with a model that can do everything."""
    async with OllamaServer((FakeModel("smol:latest", ("completion", "tools", "thinking")),)) as running:
        yield running


@pytest.fixture
async def core(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    """The core, in a folder with an awkward name."""
    async with open_test_core(data_dir, server, mcp=LINES) as opened:
        yield opened
