"""A kept session beside a session per call, and the start of ten servers beside one after another."""

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from langchain_mcp_adapters.client import MultiServerMCPClient

from sophos_desktop.core.mcp_host.config import ServerConfig
from tests.benchmarks.rows import Row
from tests.core.mcp_host.harness import PROJECT, ready, running_host, scripted, tool
from tests.durability.soak_servers import Memory

CALLS = 50
CALLS_OF_PEER = 8
SERVERS = 10
WAITING_SECONDS = "0.5"
"""What a server that is first looked up or downloaded waits for, without using the processor."""


async def kept_and_started(folder: Path) -> list[Row]:
    """Both comparisons, on the servers of the tests."""
    return [await _kept(folder), *await _started(folder)]


async def _kept(folder: Path) -> Row:
    """The same tool of the same server through the host and through the adapter's client as it comes."""
    arguments = {"file": str(folder / "none.txt")}
    config = scripted("lines", "append_line")
    async with running_host(config) as host:
        await ready(host, "lines")
        spec = tool(host, "lines", "read_lines")
        ours = []
        for _ in range(CALLS):
            began = time.perf_counter()
            await host.call(spec, arguments)
            ours.append(time.perf_counter() - began)
    client = MultiServerMCPClient(
        {
            "lines": {
                "transport": "stdio",
                "command": config.command or "",
                "args": list(config.args),
                "cwd": str(PROJECT),
                "env": dict(os.environ),
            }
        }
    )
    (peer_tool,) = [found for found in await client.get_tools() if found.name == "read_lines"]
    theirs = []
    for _ in range(CALLS_OF_PEER):
        began = time.perf_counter()
        await peer_tool.ainvoke(arguments)
        theirs.append(time.perf_counter() - began)
    peer_ms = statistics.median(theirs) * 1000
    # The budget is to be ten times as quick as the peer.
    return Row(
        "a tool call on a kept session",
        statistics.median(ours) * 1000,
        "ms",
        round(peer_ms / 10, 1),
        "langchain-mcp-adapters, a session per call",
        peer_ms,
    )


async def _started(folder: Path) -> list[Row]:
    """Ten of the built-in memory server, which starts with work, and ten that start with waiting."""
    rows = []
    for kind, configs, budget_share in (
        ("memory servers", [_memory(folder, number) for number in range(SERVERS)], None),
        ("servers that first wait 0.5 s", [_waiting(number) for number in range(SERVERS)], 0.5),
    ):
        await _until_ready(configs[:1])  # what the host loads at the first start is not theirs
        alone = await _until_ready(configs[:1])
        in_turn = 0.0
        for config in configs:
            in_turn += await _until_ready([config])
        together = await _until_ready(configs)
        budget = None if budget_share is None else round(in_turn * budget_share, 2)
        rows.append(Row(f"start of {SERVERS} {kind}", together, "s", budget, "one after another", in_turn))
        rows.append(Row(f"start of {SERVERS} {kind}", together, "s", None, "one alone", alone))
    return rows


async def _until_ready(configs: Sequence[ServerConfig]) -> float:
    began = time.perf_counter()
    async with running_host(*configs) as host:
        await asyncio.gather(*(ready(host, config.name) for config in configs))
        return time.perf_counter() - began


def _memory(folder: Path, number: int) -> ServerConfig:
    home = folder / f"memory-{number}"
    home.mkdir()
    return replace(Memory(home).config, name=f"memory-{number}")


def _waiting(number: int) -> ServerConfig:
    return scripted(f"waiting-{number}", "hostile", "slow-start", WAITING_SECONDS)
