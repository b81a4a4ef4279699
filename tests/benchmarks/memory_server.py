"""The memory server with 10,000 entities, beside the reference server from npm where Node.js is there."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.rows import Row
from tests.core.mcp_host.memory.wire import OURS, Wire, entity, reference_command, serving
from tests.support.node_packages import node_is_here, version

ENTITIES = 10_000
TIMES = 15
PEER = f"server-memory {version('server-memory')}"
_CALLS: Mapping[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
    "create an entity": lambda n: ("create_entities", {"entities": [entity(f"new {n}", "one", "two")]}),
    "add an observation": lambda n: (
        "add_observations",
        {"observations": [{"entityName": f"person {n * 600}", "contents": ["seen today"]}]},
    ),
    "delete an entity": lambda n: ("delete_entities", {"entityNames": [f"new {n}"]}),
    "search": lambda n: ("search_nodes", {"query": f"Fact 7 of {n}"}),
    "open a node": lambda n: ("open_nodes", {"names": [f"person {n}"]}),
    "read all": lambda _: ("read_graph", {}),
}


@dataclass(frozen=True, slots=True)
class _Figures:
    """Seconds; the first two from the start of the process to an answer."""

    initialized: float
    first_call: float
    calls: Mapping[str, float]


async def ten_thousand_entities(folder: Path) -> list[Row]:
    """Start, first call and the median of each kind of call; ours syncs what it writes, the peer does not."""
    ours = await asyncio.to_thread(_measured, OURS, folder / "ours.jsonl")
    if not node_is_here():
        print("the memory server has no peer beside it: Node.js is missing", file=sys.stderr, flush=True)
        return [_row(what, value, None) for what, value in _named(ours).items()]
    theirs = await asyncio.to_thread(_measured, reference_command(), folder / "theirs.jsonl")
    peers = _named(theirs)
    return [_row(what, value, peers[what]) for what, value in _named(ours).items()]


def _row(what: str, ours: float, peer: float | None) -> Row:
    # The budget is to be faster than the peer.
    budget = None if peer is None else round(peer * 1000, 2)
    name = f"memory of {ENTITIES:,}: {what}"
    if peer is None:
        return Row(name, ours * 1000, "ms", budget)
    return Row(name, ours * 1000, "ms", budget, PEER, peer * 1000)


def _named(figures: _Figures) -> dict[str, float]:
    return {"start": figures.initialized, "start and first call": figures.first_call, **figures.calls}


def _measured(command: tuple[str, ...], file: Path) -> _Figures:
    _fill(file)
    starts = [_started(command, file) for _ in range(5)]
    with serving(command, file) as wire:
        wire.request("ping")
        wire.call("create_entities", entities=[])  # whatever is loaded at the first write
        calls = {
            what: statistics.median(_timed(wire, *make(number)) for number in range(TIMES))
            for what, make in _CALLS.items()
        }
    ready, first = zip(*starts, strict=True)
    return _Figures(statistics.median(ready), statistics.median(first), calls)


def _started(command: tuple[str, ...], file: Path) -> tuple[float, float]:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    began = time.perf_counter()
    with serving(command, file) as wire:
        wire.request("initialize", params)
        ready = time.perf_counter() - began
        return ready, ready + _timed(wire, "open_nodes", {"names": ["person 7"]})


def _timed(wire: Wire, tool: str, arguments: dict[str, Any]) -> float:
    """Until the answer is here; it is read off the pipe, not parsed."""
    began = time.perf_counter()
    wire.ask("tools/call", {"name": tool, "arguments": arguments})
    assert wire.process.stdout is not None
    assert wire.process.stdout.readline()
    return time.perf_counter() - began


def _fill(file: Path) -> None:
    lines = []
    for number in range(ENTITIES):
        observations = [f"Fact {place} of {number}: something that was said" for place in range(4)]
        lines.append({"type": "entity", **entity(f"person {number}", *observations)})
    for number in range(ENTITIES):
        ends = {"from": f"person {number}", "to": f"person {number * 7 % ENTITIES}"}
        lines.append({"type": "relation", **ends, "relationType": "knows"})
    text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    file.write_text(text, encoding="utf-8")
