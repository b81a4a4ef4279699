"""The text of `memory.jsonl` and the graph in it, one made from the other.

Invariant: reading never fails and never drops a line that says something: what cannot be understood is kept
as it is, at the end, with what is wrong with it.
"""

import json
from collections.abc import Mapping

from sophos_desktop.core.mcp_host.servers.memory.graph import (
    ENTITY_START,
    RELATION_START,
    Entity,
    Graph,
    KeptLine,
    Relation,
    read_entity,
    read_relation,
)

_BYTE_ORDER_MARK = "\ufeff"
_TEXT_FIELDS = {"entity": ("name", "entityType"), "relation": ("from", "to", "relationType")}
_decode = json.JSONDecoder().decode
Known = Mapping[str, Entity | Relation]
"""Lines read before, and what was in them."""


def read_lines(data: bytes, known: Known) -> tuple[Graph, Known]:
    """The graph in the bytes of a file, and its lines for the next time."""
    # Bytes that are no UTF-8 come through as surrogates, and go back as the bytes they were.
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)
    entities: list[Entity] = []
    relations: list[Relation] = []
    kept: list[KeptLine] = []
    seen: dict[str, Entity | Relation] = {}
    for number, line in enumerate(text.split("\n"), 1):
        item = known.get(line)
        if item is None:
            if not line.strip():
                continue
            read = _read(line)
            if read is None or isinstance(read, str):
                kept.append(KeptLine(number, line, read))
                continue
            item = read
        seen[line] = item
        if isinstance(item, Entity):
            entities.append(item)
        else:
            relations.append(item)
    return Graph(tuple(entities), tuple(relations), tuple(kept)), seen


def write_lines(graph: Graph) -> tuple[bytes, Graph, Known]:
    """The bytes to store, and what `read_lines` would say of them."""
    entity_lines = [ENTITY_START + entity.fields + "}" for entity in graph.entities]
    relation_lines = [RELATION_START + relation.fields + "}" for relation in graph.relations]
    first_kept = len(entity_lines) + len(relation_lines) + 1
    kept = [line._replace(number=number) for number, line in enumerate(graph.kept, first_kept)]
    lines = [*entity_lines, *relation_lines, *(line.text for line in kept)]
    known: dict[str, Entity | Relation] = dict(zip(entity_lines, graph.entities, strict=True))
    known.update(zip(relation_lines, graph.relations, strict=True))
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    return data, graph._replace(kept=tuple(kept)), known


def _read(line: str) -> Entity | Relation | str | None:
    """What a line holds; a text says what is wrong with it, None is a record of another kind."""
    if not line.isascii() and not _is_utf8(line):
        return "it is not UTF-8"
    try:
        record = _decode(line)
    except (ValueError, RecursionError):
        return "it is not JSON"
    kind = record.get("type") if isinstance(record, dict) else None
    if not isinstance(kind, str):
        return "it is neither an entity nor a relation"
    if kind not in _TEXT_FIELDS:
        return None
    for name in _TEXT_FIELDS[kind]:
        if not isinstance(record.get(name), str):
            return f'its "{name}" must be a text'
    if kind == "relation":
        return read_relation(record, line)
    observations = record.get("observations")
    if not isinstance(observations, list) or not set(map(type, observations)) <= {str}:
        return 'its "observations" must be a list of texts'
    return read_entity(record, line)


def _is_utf8(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True
