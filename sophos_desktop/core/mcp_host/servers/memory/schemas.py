"""What the nine tools say about themselves: names, titles, schemas and annotations.

Invariant: equal to what the reference server lists, also in the order of the fields.
"""

from typing import Any

Schema = dict[str, Any]
_DIALECT = "http://json-schema.org/draft-07/schema#"


def _text(description: str | None = None) -> Schema:
    return {"type": "string"} | ({"description": description} if description else {})


def _list(items: Schema, description: str | None = None) -> Schema:
    return {"type": "array", "items": items} | ({"description": description} if description else {})


def _object(**properties: Schema) -> Schema:
    required = {"required": list(properties)} if properties else {}
    return {"type": "object", "properties": properties, **required}


def _closed(schema: Schema) -> Schema:
    """As an output schema: nothing but the properties that are named, at any depth."""
    if schema["type"] == "array":
        return schema | {"items": _closed(schema["items"])}
    if schema["type"] != "object":
        return schema
    properties = {name: _closed(inner) for name, inner in schema["properties"].items()}
    return schema | {"properties": properties, "additionalProperties": False}


_ENTITY = _object(
    name=_text("The name of the entity"),
    entityType=_text("The type of the entity"),
    observations=_list(_text(), "An array of observation contents associated with the entity"),
)
_RELATION = _object(
    **{
        "from": _text("The name of the entity where the relation starts"),
        "to": _text("The name of the entity where the relation ends"),
        "relationType": _text("The type of the relation"),
    }
)
_GRAPH = _object(entities=_list(_ENTITY), relations=_list(_RELATION))
_DONE = _object(success={"type": "boolean"}, message=_text())
_ADDED = _object(
    results=_list(_object(entityName=_text(), addedObservations=_list(_text()))),
)
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_ADDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
_DELETES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}


def _tool(name: str, description: str, takes: Schema, gives: Schema, annotations: dict[str, bool]) -> Schema:
    return {
        "name": name,
        "title": name.replace("_", " ").title(),
        "description": description,
        "inputSchema": {"$schema": _DIALECT, **takes},
        "annotations": annotations,
        "execution": {"taskSupport": "forbidden"},
        "outputSchema": {"$schema": _DIALECT, **_closed(gives)},
    }


TOOLS = [
    _tool(
        "create_entities",
        "Create multiple new entities in the knowledge graph",
        _object(entities=_list(_ENTITY)),
        _object(entities=_list(_ENTITY)),
        _ADDS,
    ),
    _tool(
        "create_relations",
        "Create multiple new relations between entities in the knowledge graph. "
        "Relations should be in active voice",
        _object(relations=_list(_RELATION)),
        _object(relations=_list(_RELATION)),
        _ADDS,
    ),
    _tool(
        "add_observations",
        "Add new observations to existing entities in the knowledge graph",
        _object(
            observations=_list(
                _object(
                    entityName=_text("The name of the entity to add the observations to"),
                    contents=_list(_text(), "An array of observation contents to add"),
                )
            )
        ),
        _ADDED,
        _ADDS,
    ),
    _tool(
        "delete_entities",
        "Delete multiple entities and their associated relations from the knowledge graph",
        _object(entityNames=_list(_text(), "An array of entity names to delete")),
        _DONE,
        _DELETES,
    ),
    _tool(
        "delete_observations",
        "Delete specific observations from entities in the knowledge graph",
        _object(
            deletions=_list(
                _object(
                    entityName=_text("The name of the entity containing the observations"),
                    observations=_list(_text(), "An array of observations to delete"),
                )
            )
        ),
        _DONE,
        _DELETES,
    ),
    _tool(
        "delete_relations",
        "Delete multiple relations from the knowledge graph",
        _object(relations=_list(_RELATION, "An array of relations to delete")),
        _DONE,
        _DELETES,
    ),
    _tool("read_graph", "Read the entire knowledge graph", _object(), _GRAPH, _READS),
    _tool(
        "search_nodes",
        "Search for nodes in the knowledge graph based on a query",
        _object(
            query=_text("The search query to match against entity names, types, and observation content")
        ),
        _GRAPH,
        _READS,
    ),
    _tool(
        "open_nodes",
        "Open specific nodes in the knowledge graph by their names",
        _object(names=_list(_text(), "An array of entity names to retrieve")),
        _GRAPH,
        _READS,
    ),
]
