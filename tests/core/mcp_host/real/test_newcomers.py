"""A configuration as the documentation of servers and of other programs shows it, pasted unchanged: its
tools are there, or a sentence says what to do.

The machine of these tests has no network: npm asks a registry that does not answer, and finds only what is
installed in the folder that the program was started in.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.ports import ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ToolSpec
from sophos_desktop.core.mcp_host.config import LoadedConfig, McpConfigSource
from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.harness import running_host, status_of
from tests.core.mcp_host.real.servers import good
from tests.support.node_packages import installed

START_SECONDS = 60
MEMORY = '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}'
MEMORY_OF_VS_CODE = f'{{"type": "stdio", {MEMORY[1:]}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a person whose npm reaches nothing; the program was started there."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".npmrc").write_text("registry=http://127.0.0.1:9/\nfetch-retries=0\nupdate-notifier=false\n")
    monkeypatch.chdir(home)
    return home


def _environ(home: Path, path: str | None = None) -> dict[str, str]:
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": programs if path is None else path, "HOME": str(home), "SHELL": "/bin/sh"}


def _pasted(home: Path, text: str, environ: Mapping[str, str]) -> LoadedConfig:
    """What becomes of the text as the user's `mcp.json`, without the shipped servers."""
    file = home / "mcp.json"
    file.write_text(text, encoding="utf-8")
    return McpConfigSource(home / "shipped.json", file, environ, home / "memory.jsonl").load()


@pytest.mark.needs_node
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"mcpServers": {{"memory": {MEMORY}}}}}', id="Claude Desktop"),
        pytest.param(f'{{"servers": {{"memory": {MEMORY_OF_VS_CODE}}}}}', id="VS Code"),
        pytest.param(f'{{"mcp": {{"servers": {{"memory": {MEMORY}}}}}}}', id="settings of VS Code"),
        pytest.param(f'{{"context_servers": {{"memory": {MEMORY}}}}}', id="Zed"),
        pytest.param(f'{{\n  // notes\n  "memory": {MEMORY},\n}}', id="a flat map with comments"),
    ],
)
async def test_npx_works_in_the_shape_of_any_program(
    text: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(installed())
    environ = _environ(home)
    config = _pasted(home, text, environ)
    assert config.notices == ()
    async with running_host(*config.servers, environ=environ) as host:
        await host.settle(START_SECONDS)
        assert status_of(host, "memory").reason == "Ready."
        graph = await good(host, "memory", "read_graph")
        assert json.loads(graph.text) == {"entities": [], "relations": []}


@pytest.mark.needs_node
async def test_npx_with_the_folders_of_the_example_says_that_they_are_not_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(installed())
    arguments = ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/allowed/files", "/path/to/other"]
    async with _only(home, {"filesystem": {"command": "npx", "args": arguments}}) as host:
        text = await _why_not(host, "filesystem")
        assert "None of the specified directories are accessible" in text
        assert any("/path/to/other" in line for line in status_of(host, "filesystem").stderr_tail)


@pytest.mark.needs_node
async def test_npx_without_the_package_and_without_a_network_says_so(home: Path) -> None:
    entry = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]}
    async with _only(home, {"everything": entry}) as host:
        await _why_not(host, "everything")
        assert any("ECONNREFUSED" in line for line in status_of(host, "everything").stderr_tail)


async def test_python_with_an_installed_server_works(home: Path) -> None:
    entry = {"command": "python", "args": ["-m", "mcp_server_fetch"]}
    async with _only(home, {"fetch": entry}) as host:
        await host.settle(START_SECONDS)
        assert [spec.name for spec in host.tools()] == ["fetch__fetch"]


async def test_python_without_the_server_says_which_module_is_missing(home: Path) -> None:
    entry = {"command": "python", "args": ["-m", "mcp_server_that_nobody_installed"]}
    async with _only(home, {"x": entry}) as host:
        assert "mcp_server_that_nobody_installed" in await _why_not(host, "x")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("uvx", ["mcp-server-fetch"]),
        ("docker", ["run", "-i", "--rm", "mcp/fetch"]),
        ("npx", ["-y", "@modelcontextprotocol/server-memory"]),
        ("cmd", ["/c", "npx", "-y", "@modelcontextprotocol/server-memory"]),
    ],
)
async def test_a_command_that_is_not_installed_is_named(
    command: str, arguments: list[str], home: Path
) -> None:
    (home / "bin").mkdir()
    servers = {"pasted": {"command": command, "args": arguments}}
    async with _only(home, servers, path=str(home / "bin")) as host:
        assert f"{command} was not found in " in await _why_not(host, "pasted")


async def test_docker_without_its_daemon_ends_with_its_own_words(home: Path) -> None:
    (home / "bin").mkdir()
    docker = home / "bin" / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon. Is it running?' >&2\nexit 125\n")
    docker.chmod(0o700)
    entry = {"command": "docker", "args": ["run", "-i", "--rm", "mcp/fetch"]}
    async with _only(home, {"fetch": entry}, path=f"{home / 'bin'}{os.pathsep}{os.defpath}") as host:
        assert "Docker" in await _why_not(host, "fetch")
        assert "Cannot connect to the Docker daemon. Is it running?" in status_of(host, "fetch").stderr_tail


async def test_a_variable_that_the_person_is_to_fill_in_is_named(home: Path) -> None:
    entry = {"command": "python", "args": [], "env": {"API_KEY": "${SOME_API_KEY}"}}
    async with _only(home, {"keyed": entry}) as host:
        assert "${SOME_API_KEY} is not set" in await _why_not(host, "keyed")


async def test_a_server_over_http_that_is_not_there_is_named_with_its_address(home: Path) -> None:
    async with _only(home, {"remote": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}) as host:
        assert "127.0.0.1:9" in await _why_not(host, "remote")


def _only(home: Path, servers: Mapping[str, Any], path: str | None = None) -> Any:
    """A host with these entries, pasted."""
    environ = _environ(home, path)
    config = _pasted(home, json.dumps({"mcpServers": servers}, indent=2), environ)
    return running_host(*config.servers, environ=environ)


async def _why_not(host: ToolHost, name: str) -> str:
    """What a person and a model are told of a server that cannot work: within a bounded time, in words."""
    await host.settle(START_SECONDS)
    status = status_of(host, name)
    assert status.state in (ServerState.FAILED, ServerState.RESTARTING), status.reason
    assert status.pid is None or status.state is ServerState.RESTARTING
    with pytest.raises(ToolServerDown) as down:
        await host.call(ToolSpec(f"{name}__x", name, "x", "", {}), {})
    assert name in str(down.value)
    return str(down.value)
