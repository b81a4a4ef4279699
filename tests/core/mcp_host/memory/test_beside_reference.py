"""Our memory server and the real one from npm get the same calls: same answers, same file."""

import os
import random
from pathlib import Path

import pytest

from tests.core.mcp_host.memory.random_calls import RandomCalls
from tests.core.mcp_host.memory.wire import OURS, reference_command, serving

pytestmark = pytest.mark.needs_node
CALLS = 500


@pytest.fixture(scope="session")
def reference() -> tuple[str, ...]:
    """The command that starts the reference server."""
    return reference_command()


def test_500_random_calls_have_the_same_results_and_leave_the_same_file(
    reference: tuple[str, ...], tmp_path: Path
) -> None:
    seed = int(os.environ.get("SOPHOS_TEST_SEED") or random.randrange(1_000_000))
    print(f"SOPHOS_TEST_SEED={seed}")
    calls = RandomCalls(seed)
    our_file, their_file = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    kinds = {"result": 0, "error": 0, "isError": 0}
    with serving(OURS, our_file) as ours, serving(reference, their_file) as theirs:
        for number in range(CALLS):
            params = calls.next()
            for wire in (ours, theirs):
                wire.ask("tools/call", params)
            answer = ours.answer()
            assert answer == theirs.answer(), f"call {number} of seed {seed}: {str(params)[:2000]}"
            assert _bytes(our_file) == _bytes(their_file), f"file after call {number} of seed {seed}"
            kinds["result" if "result" in answer else "error"] += 1
            kinds["isError"] += answer.get("result", {}).get("isError", False)
        assert ours.close() == ""
    assert min(kinds.values()) > 0, kinds


def test_both_list_the_same_tools_and_resources_in_the_same_words(
    reference: tuple[str, ...], tmp_path: Path
) -> None:
    questions: list[tuple[str, object]] = [
        ("ping", None),
        ("tools/list", None),
        ("tools/list", {}),
        ("resources/list", None),
        ("resources/templates/list", None),
        ("resources/read", {"uri": "memory://knowledge-graph"}),
        ("resources/read", {"uri": "memory://other"}),
        ("resources/read", {}),
        ("resources/subscribe", {"uri": "memory://knowledge-graph"}),
        ("resources/unsubscribe", {"uri": "memory://knowledge-graph"}),
        ("prompts/list", None),
        ("logging/setLevel", {"level": "info"}),
        ("no/such/method", {}),
        ("tools/call", None),
        ("tools/call", {}),
        ("initialize", None),
        ("initialize", {"protocolVersion": 5, "clientInfo": {"name": "x"}}),
    ]
    with serving(OURS, tmp_path / "ours") as ours, serving(reference, tmp_path / "theirs") as theirs:
        for method, params in questions:
            assert ours.request(method, params) == theirs.request(method, params), (method, params)


def test_a_subscriber_is_told_of_changes_as_by_the_reference(
    reference: tuple[str, ...], tmp_path: Path
) -> None:
    with serving(OURS, tmp_path / "ours") as ours, serving(reference, tmp_path / "theirs") as theirs:
        for wire in (ours, theirs):
            wire.request("resources/subscribe", {"uri": "memory://knowledge-graph"})
            wire.ask("tools/call", {"name": "delete_entities", "arguments": {"entityNames": ["nobody"]}})
        told = [ours.answer(), ours.answer()]
        assert told == [theirs.answer(), theirs.answer()]
        assert told[0]["method"] == "notifications/resources/updated"


def test_each_goes_on_with_the_file_of_the_other(reference: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    calls = RandomCalls(1)
    for turn in range(6):
        with serving((reference, OURS)[turn % 2], file) as wire:
            for _ in range(10):
                wire.request("tools/call", calls.next())
    with serving(OURS, file) as ours, serving(reference, file) as theirs:
        assert ours.call("read_graph") == theirs.call("read_graph")


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None
