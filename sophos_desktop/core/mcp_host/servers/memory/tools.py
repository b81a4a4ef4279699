"""Carries out the nine tools on a file.

Invariant: a call gives a result, whatever its arguments and the state of the file: what goes wrong is a
result with `isError`, in words that a model can act on. Damaged lines are told with every answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sophos_desktop.core.mcp_host.servers.memory import graph as graphs
from sophos_desktop.core.mcp_host.servers.memory.graph import Entity, Graph, Relation, UnknownEntity
from sophos_desktop.core.mcp_host.servers.memory.graph_file import FileIsBusy, GraphFile
from sophos_desktop.core.mcp_host.servers.memory.json_text import compact, pretty, pretty_list, quoted
from sophos_desktop.core.mcp_host.servers.memory.schemas import TOOLS
from sophos_desktop.core.mcp_host.servers.memory.validation import problems

_INPUTS = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
_NAMED_LINES = 5


class Outcome(NamedTuple):
    """The result of a call as JSON, whether the graph was changed, and what is wrong with the file."""

    result: str
    changed: bool = False
    damage: str = ""


class _Answer(NamedTuple):
    """A text and structured content, the latter as JSON; and the graph it is about."""

    text: str
    structured: str
    graph: Graph


def call_tool(file: GraphFile, name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool by its name."""
    if name not in _INPUTS:
        return _refused(f"MCP error -32602: Tool {name} not found")
    if found := list(problems(_INPUTS[name], arguments)):
        sentences = "\n".join(problem.sentence() for problem in found)
        words = f"Input validation error: Invalid arguments for tool {name}: {sentences}"
        return _refused(f"MCP error -32602: {words}")
    changes = name in _CHANGING
    try:
        answer = _CHANGING[name](file, arguments) if changes else _READING[name](file.read(), arguments)
    except (UnknownEntity, FileIsBusy) as error:
        return _refused(str(error))
    except OSError as error:
        done = "written" if changes else "read"
        return _refused(f"The memory file {file.path} could not be {done}: {error.strerror or error}")
    damage = damage_of(answer.graph)
    parts = [f'{{"type":"text","text":{quoted(text)}}}' for text in (answer.text, damage) if text]
    result = f'{{"content":[{",".join(parts)}],"structuredContent":{answer.structured}}}'
    return Outcome(result, changes, damage)


def damage_of(graph: Graph) -> str:
    """What is wrong with lines of the file, in a sentence each; empty if all is well."""
    damaged = [line for line in graph.kept if line.problem is not None]
    said = [
        f"Line {line.number} of the memory file is damaged ({line.problem}); it was left as it is."
        for line in damaged[:_NAMED_LINES]
    ]
    if more := len(damaged) - len(said):
        said.append(f"So are {more} more.")
    return " ".join(said)


def graph_text(graph: Graph) -> str:
    """Entities and relations as indented JSON."""
    entities = pretty_list([item.pretty("    ") for item in graph.entities], "  ")
    relations = pretty_list([item.pretty("    ") for item in graph.relations], "  ")
    return f'{{\n  "entities": {entities},\n  "relations": {relations}\n}}'


def _refused(text: str) -> Outcome:
    return Outcome(f'{{"content":[{{"type":"text","text":{quoted(text)}}}],"isError":true}}')


def _listed(items: Sequence[Entity | Relation]) -> str:
    return "[" + ",".join([f"{{{item.fields}}}" for item in items]) + "]"


def _graph_answer(graph: Graph) -> _Answer:
    structured = f'{{"entities":{_listed(graph.entities)},"relations":{_listed(graph.relations)}}}'
    return _Answer(graph_text(graph), structured, graph)


def _create_entities(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    graph, added = file.change(lambda graph: graphs.create_entities(graph, arguments["entities"]))
    text = pretty_list([entity.pretty("  ") for entity in added], "")
    return _Answer(text, f'{{"entities":{_listed(added)}}}', graph)


def _create_relations(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    graph, added = file.change(lambda graph: graphs.create_relations(graph, arguments["relations"]))
    text = pretty_list([relation.pretty("  ") for relation in added], "")
    return _Answer(text, f'{{"relations":{_listed(added)}}}', graph)


def _add_observations(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    graph, added = file.change(lambda graph: graphs.add_observations(graph, arguments["observations"]))
    results = [{"entityName": name, "addedObservations": texts} for name, texts in added]
    return _Answer(pretty(results), compact({"results": results}), graph)


def _delete_entities(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    names = arguments["entityNames"]
    graph, _ = file.change(lambda graph: (graphs.delete_entities(graph, names), None))
    return _done("Entities deleted successfully", graph)


def _delete_observations(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    deletions = arguments["deletions"]
    graph, _ = file.change(lambda graph: (graphs.delete_observations(graph, deletions), None))
    return _done("Observations deleted successfully", graph)


def _delete_relations(file: GraphFile, arguments: Mapping[str, Any]) -> _Answer:
    relations = arguments["relations"]
    graph, _ = file.change(lambda graph: (graphs.delete_relations(graph, relations), None))
    return _done("Relations deleted successfully", graph)


def _done(message: str, graph: Graph) -> _Answer:
    return _Answer(message, compact({"success": True, "message": message}), graph)


_CHANGING: Mapping[str, Callable[[GraphFile, Mapping[str, Any]], _Answer]] = {
    "create_entities": _create_entities,
    "create_relations": _create_relations,
    "add_observations": _add_observations,
    "delete_entities": _delete_entities,
    "delete_observations": _delete_observations,
    "delete_relations": _delete_relations,
}
_READING: Mapping[str, Callable[[Graph, Mapping[str, Any]], _Answer]] = {
    "read_graph": lambda graph, arguments: _graph_answer(graph),
    "search_nodes": lambda graph, arguments: _graph_answer(graphs.search_nodes(graph, arguments["query"])),
    "open_nodes": lambda graph, arguments: _graph_answer(graphs.open_nodes(graph, arguments["names"])),
}
