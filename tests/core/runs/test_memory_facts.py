"""What a conversation's calls put into the memory outlives it, or goes too if the user wants that."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.core.runs.memory_facts import MemoryFact, facts_in
from tests.support.core_fixture import OLLAMA, calls, end_of, paths_of, say, until_let_go
from tests.support.ollama_server import OllamaServer


@pytest.fixture(name="remembering")
async def _remembering(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    paths = paths_of(data_dir)
    paths.config_dir.mkdir(parents=True)
    paths.mcp_file.write_text('{"fetch": {"disabled": true}}', encoding="utf-8")
    paths.settings_file.write_text(OLLAMA, encoding="utf-8")
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    async with open_core(CoreOptions(paths, {**environ, "OLLAMA_HOST": server.url})) as opened:
        assert opened.trust.of("memory") is Trust.BUILT_IN
        yield opened


def entity(name: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": "person", "observations": list(observations)}


def relation(begin: str, kind: str, end: str) -> dict[str, Any]:
    return {"from": begin, "relationType": kind, "to": end}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": f"memory__{tool}", "arguments": arguments}


async def remember(core: Core, server: OllamaServer, *turns: dict[str, Any]) -> str:
    """A conversation whose model makes these calls, one after the other."""
    server.script(*(calls(turn) for turn in turns))
    handle, events = await say(core, None, "Remember this")
    assert end_of(events).status == "completed"
    await until_let_go(core, handle)
    return handle.conversation_id


async def graph(core: Core) -> dict[str, Any]:
    result = await core.direct_calls.call("memory", "read_graph", {})
    assert result.structured is not None
    return dict(result.structured)


async def test_the_facts_are_those_that_its_own_calls_really_added(
    remembering: Core, server: OllamaServer
) -> None:
    core = remembering
    await remember(core, server, call("create_entities", entities=[entity("Ada", "likes tea")]))
    conversation = await remember(
        core,
        server,
        call("create_entities", entities=[entity("Ada", "is new"), entity("Bob")]),
        call("create_relations", relations=[relation("Ada", "knows", "Bob")]),
        call("add_observations", observations=[{"entityName": "Ada", "contents": ["likes tea", "is 36"]}]),
        call("add_observations", observations=[{"entityName": "Nobody", "contents": ["is not there"]}]),
    )
    facts = await core.conversations.memory_facts(conversation)
    assert [fact.words for fact in facts] == ["Bob (person)", "Ada knows Bob", "Ada: is 36"]
    assert await core.conversations.facts_still_there(facts, core.direct_calls) == facts


async def test_removing_the_facts_leaves_what_other_conversations_know(
    remembering: Core, server: OllamaServer
) -> None:
    core = remembering
    await remember(core, server, call("create_entities", entities=[entity("Ada", "likes tea")]))
    conversation = await remember(
        core,
        server,
        call("create_entities", entities=[entity("Bob", "is tall"), entity("Cy", "is small"), entity("Di")]),
        call("create_relations", relations=[relation("Ada", "knows", "Bob"), relation("Bob", "knows", "Cy")]),
        call("add_observations", observations=[{"entityName": "Ada", "contents": ["is 36"]}]),
    )
    await remember(
        core,
        server,
        call("add_observations", observations=[{"entityName": "Cy", "contents": ["sings"]}]),
        call("create_relations", relations=[relation("Ada", "likes", "Di")]),
    )
    facts = await core.conversations.memory_facts(conversation)
    assert len(facts) == 8
    await core.direct_calls.call(
        "memory", "delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["is 36"]}]}
    )
    await core.conversations.delete(conversation)
    there = await core.conversations.facts_still_there(facts, core.direct_calls)
    assert len(there) == 7
    gone = await core.conversations.remove_facts(facts, core.direct_calls)
    assert [fact.words for fact in gone] == [
        "Bob (person)",
        "Bob: is tall",
        "Cy: is small",
        "Ada knows Bob",
        "Bob knows Cy",
    ]
    left = await graph(core)
    assert [(item["name"], item["observations"]) for item in left["entities"]] == [
        ("Ada", ["likes tea"]),
        ("Cy", ["sings"]),
        ("Di", []),
    ]
    assert left["relations"] == [relation("Ada", "likes", "Di")]
    still = await core.conversations.facts_still_there(facts, core.direct_calls)
    assert [fact.words for fact in still] == ["Cy (person)", "Di (person)"]


async def test_a_conversation_without_memory_calls_has_no_facts(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    assert await core.conversations.memory_facts(handle.conversation_id) == []
    assert await core.conversations.facts_still_there([], core.direct_calls) == []
    assert await core.conversations.remove_facts([], core.direct_calls) == []


async def test_without_the_memory_server_nothing_is_removed_and_it_is_said(core: Core) -> None:
    facts = [MemoryFact("entity", "Ada", "person")]
    with pytest.raises(SophosError) as caught:
        await core.conversations.remove_facts(facts, core.direct_calls)
    assert caught.value.code is ErrorCode.NOT_FOUND


async def test_a_memory_file_that_cannot_be_written_is_told(
    data_dir: Path, remembering: Core, server: OllamaServer
) -> None:
    core = remembering
    conversation = await remember(core, server, call("create_entities", entities=[entity("Ada")]))
    facts = await core.conversations.memory_facts(conversation)
    memory = paths_of(data_dir).memory_file
    memory.unlink()
    memory.mkdir()
    with pytest.raises(SophosError, match="memory"):
        await core.conversations.remove_facts(facts, core.direct_calls)


@pytest.mark.parametrize(
    ("tool", "text", "words"),
    [
        (
            "create_entities",
            '[{"name": "A", "entityType": "t", "observations": ["o"]}] Line 3 of the memory file is damaged.',
            ["A (t)", "A: o"],
        ),
        ("add_observations", '[{"entityName": "A", "addedObservations": ["x", "y"]}]', ["A: x", "A: y"]),
        ("create_relations", "done", []),
        ("create_relations", '[{"from": "A"}]', []),
        ("create_entities", '{"name": "A"}', []),
        ("create_entities", "", []),
    ],
)
def test_a_result_without_its_structured_part_is_read_from_its_text(
    tool: str, text: str, words: list[str]
) -> None:
    assert [fact.words for fact in facts_in(tool, ToolResult(text))] == words
