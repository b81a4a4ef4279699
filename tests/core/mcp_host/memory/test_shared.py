"""The memory file under kills, and under two servers at once."""

import json
import random
import time
from pathlib import Path

from tests.core.mcp_host.memory.wire import OURS, entity, names, serving

KILLS = 8
ROUNDS = 40
FILLING = "x" * 100_000


def test_a_kill_at_any_moment_leaves_a_whole_file_with_every_answered_write(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    moments = random.Random(7)
    answered: list[str] = []
    for turn in range(KILLS):
        with serving(OURS, file) as wire:
            wire.call("create_entities", entities=[entity(f"{turn}", FILLING)])
            answered.append(f"{turn}")
            for number in range(3):
                wire.call("create_entities", entities=[entity(f"{turn} {number}", FILLING)])
                answered.append(f"{turn} {number}")
                if number == turn % 3:
                    # Somewhere in the next write: the pipe is read as soon as the line is complete.
                    params = {"name": "create_entities", "arguments": {"entities": [entity(f"{turn} last")]}}
                    wire.ask("tools/call", params)
                    spin(moments.uniform(0.0, 0.012))
                    wire.process.kill()
                    break
        kept = [json.loads(line)["name"] for line in file.read_text(encoding="utf-8").splitlines()]
        assert [name for name in kept if not name.endswith("last")] == answered
    with serving(OURS, file) as wire:
        found = names(wire.call("read_graph"))
        wire.call("delete_entities", entityNames=found)
    assert set(answered) <= set(found)
    assert {path.name for path in tmp_path.iterdir()} == {"memory.jsonl", "memory.jsonl.lock"}


def test_two_servers_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    with serving(OURS, file) as one, serving(OURS, file) as other:
        one.call("create_entities", entities=[entity("both")])
        for number in range(ROUNDS):
            for who, wire in (("one", one), ("other", other)):
                observation = {"entityName": "both", "contents": [f"{who} {number}"]}
                change = (
                    ("create_entities", {"entities": [entity(f"{who} {number}")]})
                    if number % 2
                    else ("add_observations", {"observations": [observation]})
                )
                wire.ask("tools/call", {"name": change[0], "arguments": change[1]})
            for wire in (one, other):
                assert "isError" not in wire.answer()["result"]
        graph = one.call("read_graph")
        assert graph == other.call("read_graph")
    expected = {f"{who} {number}" for who in ("one", "other") for number in range(ROUNDS)}
    both = graph["structuredContent"]["entities"][0]["observations"]
    assert len(both) == len(set(both)) == ROUNDS
    assert set(names(graph)[1:]) | set(both) == expected


def spin(seconds: float) -> None:
    """Pass a time that is too short to sleep."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
