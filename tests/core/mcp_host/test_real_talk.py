"""What the reference server says and lists of its own accord."""

import pytest

from sophos_desktop.core.domain.specs import ToolNote
from tests.core.mcp_host.harness import ready, running_host, status_of, tool
from tests.core.mcp_host.real.servers import npm_server

pytestmark = pytest.mark.needs_node

NAME = "everything"


async def test_its_resources_prompts_and_instructions_are_listed() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        status = status_of(host, NAME)
        assert "demo://resource/static/document/features.md" in status.resources
        assert "simple-prompt" in status.prompts
        assert "Server Instructions" in status.instructions


async def test_its_progress_reaches_the_call_with_the_last_step() -> None:
    notes: list[ToolNote] = []
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        spec = tool(host, NAME, "trigger-long-running-operation")
        await host.call(spec, {"duration": 0.4, "steps": 4}, notes.append)
    assert {note.kind for note in notes} == {"progress"}
    assert notes[0].progress == 1
    assert notes[-1] == ToolNote("progress", "", progress=4.0, total=4.0)
