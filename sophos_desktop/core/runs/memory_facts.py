"""What a conversation's own memory calls added to the memory graph, and how that is taken out again.

Invariant: only what a recorded call says that it added counts, and only through the memory server's own tools
is it removed. What others have built on since stays: an entity that holds more than this conversation's facts
loses these alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.domain.specs import ToolResult

MEMORY = "memory"
_ADDED_UNDER = {
    "create_entities": "entities",
    "create_relations": "relations",
    "add_observations": "results",
}

FactKind = Literal["entity", "relation", "observation"]


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """One thing that was added. `about`: the entity's name, or where a relation begins; `what`: the entity's
    type, the relation's type, or the observation's text; `other`: where a relation ends."""

    kind: FactKind
    about: str
    what: str
    other: str = ""

    @property
    def words(self) -> str:
        """One line for a person."""
        if self.kind == "entity":
            return f"{self.about} ({self.what})" if self.what else self.about
        if self.kind == "relation":
            return f"{self.about} {self.what} {self.other}"
        return f"{self.about}: {self.what}"


class ToolCalls(Protocol):
    """Calls a tool outside any run."""

    async def call(self, server: str, tool: str, args: Mapping[str, Any]) -> ToolResult:
        """Raises SophosError."""


def adds_facts(attempt: ToolAttempt) -> bool:
    """True for a call to the memory that is recorded as done and adds something."""
    return (
        attempt.server == MEMORY
        and attempt.tool in _ADDED_UNDER
        and attempt.state == "finished"
        and not attempt.is_error
    )


def facts_in(tool: str, result: ToolResult) -> list[MemoryFact]:
    """What a call's result says that was added; nothing for a result that says it otherwise."""
    try:
        if result.structured is not None:
            return list(_facts(tool, result.structured[_ADDED_UNDER[tool]]))
        # A sentence about damaged lines of the memory file may follow.
        added, _ = json.JSONDecoder().raw_decode(result.text.lstrip())
        return list(_facts(tool, added))
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _facts(tool: str, added: Sequence[Mapping[str, Any]]) -> Iterable[MemoryFact]:
    for item in added:
        if tool == "create_entities":
            yield MemoryFact("entity", str(item["name"]), str(item["entityType"]))
            for text in item["observations"]:
                yield MemoryFact("observation", str(item["name"]), str(text))
        elif tool == "create_relations":
            yield MemoryFact("relation", str(item["from"]), str(item["relationType"]), str(item["to"]))
        else:
            for text in item["addedObservations"]:
                yield MemoryFact("observation", str(item["entityName"]), str(text))


@dataclass(frozen=True, slots=True)
class _Graph:
    """What the memory holds of some entities."""

    entities: Mapping[str, tuple[str, frozenset[str]]]
    relations: frozenset[tuple[str, str, str]]

    def has(self, fact: MemoryFact) -> bool:
        if fact.kind == "relation":
            return _ends(fact) in self.relations
        kind, observations = self.entities.get(fact.about, ("", frozenset[str]()))
        if fact.kind == "observation":
            return fact.what in observations
        return fact.about in self.entities and kind == fact.what

    def is_only_made_of(self, name: str, facts: frozenset[MemoryFact]) -> bool:
        """True if an entity, with all that hangs on it, holds nothing but these facts."""
        _, observations = self.entities[name]
        mine = {fact.what for fact in facts if fact.kind == "observation" and fact.about == name}
        my_relations = {_ends(fact) for fact in facts if fact.kind == "relation"}
        touching = {ends for ends in self.relations if name in ends[:2]}
        return observations <= mine and touching <= my_relations


def _ends(fact: MemoryFact) -> tuple[str, str, str]:
    return fact.about, fact.other, fact.what


async def still_there(facts: Sequence[MemoryFact], calls: ToolCalls) -> list[MemoryFact]:
    """Those that the memory holds now. Raises SophosError TOOL_SERVER_DOWN and others of a call."""
    graph = await _graph_around(facts, calls)
    return [fact for fact in facts if graph.has(fact)]


async def remove(facts: Sequence[MemoryFact], calls: ToolCalls) -> list[MemoryFact]:
    """Take facts out of the memory; gives those that are gone. An entity that others have added to stays, and
    so do facts that are not there any more.

    Raises SophosError TOOL_SERVER_DOWN, TOOL_CALL_LOST and others of a call."""
    graph = await _graph_around(facts, calls)
    wanted = frozenset(fact for fact in facts if graph.has(fact))
    gone = [
        fact
        for fact in facts
        if fact in wanted and (fact.kind != "entity" or graph.is_only_made_of(fact.about, wanted))
    ]
    relations = [
        {"from": fact.about, "to": fact.other, "relationType": fact.what}
        for fact in gone
        if fact.kind == "relation"
    ]
    entities = [fact.about for fact in gone if fact.kind == "entity"]
    deletions = [
        {"entityName": fact.about, "observations": [fact.what]}
        for fact in gone
        if fact.kind == "observation" and fact.about not in entities
    ]
    if relations:
        await _call(calls, "delete_relations", {"relations": relations})
    if deletions:
        await _call(calls, "delete_observations", {"deletions": deletions})
    if entities:
        await _call(calls, "delete_entities", {"entityNames": entities})
    return gone


async def _graph_around(facts: Sequence[MemoryFact], calls: ToolCalls) -> _Graph:
    """The entities that facts are about, and every relation that touches one of them."""
    names = sorted({name for fact in facts for name in (fact.about, fact.other) if name})
    if not names:
        return _Graph({}, frozenset())
    # The whole of it: `open_nodes` gives no relation between two names that are no entities.
    found = (await _call(calls, "read_graph", {})).structured or {}
    entities = {
        str(item["name"]): (str(item["entityType"]), frozenset(map(str, item["observations"])))
        for item in found.get("entities", ())
        if item["name"] in names
    }
    relations = frozenset(
        (str(item["from"]), str(item["to"]), str(item["relationType"])) for item in found.get("relations", ())
    )
    return _Graph(entities, relations)


async def _call(calls: ToolCalls, tool: str, args: Mapping[str, Any]) -> ToolResult:
    result = await calls.call(MEMORY, tool, args)
    if result.is_error:
        first_line = (result.text.strip().splitlines() or [tool])[0]
        raise SophosError(
            ErrorCode.TOOL_SERVER_DOWN,
            "The memory could not do it",
            "What was not removed stays; `mcp` shows how the server stands",
            details=first_line,
        )
    return result
