"""The memory server as the program ships it."""

import json
import os
from pathlib import Path

from sophos_desktop.core.mcp_host.config import McpConfigSource
from tests.core.mcp_host.harness import ready, running_host, tool
from tests.core.mcp_host.memory.wire import PROJECT, entity
from tests.support.core_fixture import open_test_core, paths_of
from tests.support.ollama_server import OllamaServer


async def test_the_shipped_configuration_offers_nine_trusted_tools(tmp_path: Path) -> None:
    user = tmp_path / "mcp.json"
    user.write_text('{"fetch": {"disabled": true}}')
    source = McpConfigSource(PROJECT / "config" / "mcp.json", user, os.environ, tmp_path / "memory.jsonl")
    async with running_host(*source.load().servers) as host:
        await ready(host, "memory")
        assert sorted(spec.name for spec in host.tools()) == [
            "memory__add_observations",
            "memory__create_entities",
            "memory__create_relations",
            "memory__delete_entities",
            "memory__delete_observations",
            "memory__delete_relations",
            "memory__open_nodes",
            "memory__read_graph",
            "memory__search_nodes",
        ]
        assert all(spec.trusted for spec in host.tools())
        assert tool(host, "memory", "open_nodes").annotations.read_only is True
        assert tool(host, "memory", "delete_entities").annotations.destructive is True
        assert tool(host, "memory", "create_entities").annotations.read_only is False


async def test_what_is_remembered_is_in_the_data_folder(data_dir: Path) -> None:
    async with OllamaServer() as server, open_test_core(data_dir, server, mcp={"memory": SHIPPED}) as core:
        await core.tool_host.settle(20)
        spec = core.tool_host.find("memory__create_entities")
        assert spec is not None
        result = await core.tool_host.call(spec, {"entities": [entity("Ada", "counts")]})
        assert not result.is_error
        assert json.loads(result.text)[0]["name"] == "Ada"
    stored = paths_of(data_dir).memory_file.read_text(encoding="utf-8")
    assert json.loads(stored)["observations"] == ["counts"]


SHIPPED = json.loads((PROJECT / "config" / "mcp.json").read_text())["mcpServers"]["memory"]
