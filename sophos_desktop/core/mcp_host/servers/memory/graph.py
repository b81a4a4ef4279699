"""The knowledge graph and what can be done to it.

Invariant: everything here is immutable, and each change gives a new graph, so that a change that fails half
way has changed nothing. Duplicates that one call brings along are kept: the reference keeps them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sophos_desktop.core.mcp_host.servers.memory.json_text import pretty_list, quoted

ENTITY_START = '{"type":"entity",'
RELATION_START = '{"type":"relation",'
"""How a line of the file begins; the item's fields and a brace follow."""
_ENTITY_FIELDS = ("type", "name", "entityType", "observations")
_RELATION_FIELDS = ("type", "from", "to", "relationType")
_ENTITY_LENGTH = len('{"type":"entity","name":"","entityType":"","observations":[]}')
_RELATION_LENGTH = len('{"type":"relation","from":"","to":"","relationType":""}')


class UnknownEntity(Exception):
    """Observations were meant for an entity that is not there; the message names it."""


class Entity(NamedTuple):
    """A node. `fields` is its JSON without the braces, made once: a file has thousands."""

    name: str
    entity_type: str
    observations: tuple[str, ...]
    fields: str

    def pretty(self, pad: str) -> str:
        """Indented JSON that starts at `pad`."""
        inner = f"{pad}  "
        observations = pretty_list([f"{inner}  {quoted(text)}" for text in self.observations], inner)
        return (
            f'{pad}{{\n{inner}"name": {quoted(self.name)},\n{inner}"entityType": {quoted(self.entity_type)},'
            f'\n{inner}"observations": {observations}\n{pad}}}'
        )


class Relation(NamedTuple):
    """An edge, named in the active voice."""

    source: str
    target: str
    relation_type: str
    fields: str

    def pretty(self, pad: str) -> str:
        """Indented JSON that starts at `pad`."""
        inner = f"{pad}  "
        return (
            f'{pad}{{\n{inner}"from": {quoted(self.source)},\n{inner}"to": {quoted(self.target)},'
            f'\n{inner}"relationType": {quoted(self.relation_type)}\n{pad}}}'
        )


class KeptLine(NamedTuple):
    """A line of the file that is no part of the graph and stays as it is. `problem` says what is wrong with
    it, None for a record of a kind that is not known here. The number counts from 1."""

    number: int
    text: str
    problem: str | None


class Graph(NamedTuple):
    """Entities and relations in the order of the file, and the lines that are neither."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    kept: tuple[KeptLine, ...] = ()


def make_entity(name: str, entity_type: str, observations: Sequence[str]) -> Entity:
    """An entity with its JSON."""
    listed = ",".join([quoted(text) for text in observations])
    fields = f'"name":{quoted(name)},"entityType":{quoted(entity_type)},"observations":[{listed}]'
    return Entity(name, entity_type, tuple(observations), fields)


def make_relation(source: str, target: str, relation_type: str) -> Relation:
    """A relation with its JSON."""
    fields = f'"from":{quoted(source)},"to":{quoted(target)},"relationType":{quoted(relation_type)}'
    return Relation(source, target, relation_type, fields)


def read_entity(record: Mapping[str, Any], line: str) -> Entity:
    """An entity from its record in a file."""
    name, entity_type, observations = record["name"], record["entityType"], tuple(record["observations"])
    # Quoting costs more than parsing. A text without escapes is quoted by quotation marks alone, so the line
    # is as we would write it if it has our fields in our order and is no longer than they make it.
    length = len(name) + len(entity_type) + sum(map(len, observations)) + max(0, 3 * len(observations) - 1)
    if tuple(record) == _ENTITY_FIELDS and len(line) == _ENTITY_LENGTH + length and "\\" not in line:
        return Entity(name, entity_type, observations, line[len(ENTITY_START) : -1])
    return make_entity(name, entity_type, observations)


def read_relation(record: Mapping[str, Any], line: str) -> Relation:
    """A relation from its record in a file; as `read_entity`."""
    source, target, relation_type = record["from"], record["to"], record["relationType"]
    length = len(source) + len(target) + len(relation_type)
    if tuple(record) == _RELATION_FIELDS and len(line) == _RELATION_LENGTH + length and "\\" not in line:
        return Relation(source, target, relation_type, line[len(RELATION_START) : -1])
    return make_relation(source, target, relation_type)


def create_entities(graph: Graph, wanted: Sequence[Mapping[str, Any]]) -> tuple[Graph, list[Entity]]:
    """Add those whose name is not taken; they are the result."""
    taken = {entity.name for entity in graph.entities}
    added = [
        make_entity(item["name"], item["entityType"], item["observations"])
        for item in wanted
        if item["name"] not in taken
    ]
    return graph._replace(entities=(*graph.entities, *added)), added


def create_relations(graph: Graph, wanted: Sequence[Mapping[str, str]]) -> tuple[Graph, list[Relation]]:
    """Add those that are not there yet; they are the result. Their ends need not exist."""
    known = {relation[:3] for relation in graph.relations}
    made = [make_relation(item["from"], item["to"], item["relationType"]) for item in wanted]
    added = [relation for relation in made if relation[:3] not in known]
    return graph._replace(relations=(*graph.relations, *added)), added


def add_observations(
    graph: Graph, wanted: Sequence[Mapping[str, Any]]
) -> tuple[Graph, list[tuple[str, list[str]]]]:
    """Add what an entity does not have yet; the result says what, entity by entity.

    Raises UnknownEntity, and then nothing is added at all.
    """
    entities = list(graph.entities)
    places = _first_places(entities)
    results = []
    for item in wanted:
        if (place := places.get(item["entityName"])) is None:
            raise UnknownEntity(f"Entity with name {item['entityName']} not found")
        entity = entities[place]
        known = set(entity.observations)
        added = [text for text in item["contents"] if text not in known]
        if added:
            entities[place] = make_entity(entity.name, entity.entity_type, (*entity.observations, *added))
        results.append((entity.name, added))
    return graph._replace(entities=tuple(entities)), results


def delete_entities(graph: Graph, names: Sequence[str]) -> Graph:
    """Remove entities and all relations that begin or end at one of the names."""
    gone = set(names)
    return graph._replace(
        entities=tuple([entity for entity in graph.entities if entity.name not in gone]),
        relations=tuple(
            [item for item in graph.relations if item.source not in gone and item.target not in gone]
        ),
    )


def delete_observations(graph: Graph, deletions: Sequence[Mapping[str, Any]]) -> Graph:
    """Remove texts from entities; entities and texts that are not there are passed over."""
    entities = list(graph.entities)
    places = _first_places(entities)
    for item in deletions:
        if (place := places.get(item["entityName"])) is None:
            continue
        entity, gone = entities[place], set(item["observations"])
        left = [text for text in entity.observations if text not in gone]
        if len(left) < len(entity.observations):
            entities[place] = make_entity(entity.name, entity.entity_type, left)
    return graph._replace(entities=tuple(entities))


def delete_relations(graph: Graph, unwanted: Sequence[Mapping[str, str]]) -> Graph:
    """Remove relations that are equal in all three parts."""
    gone = {(item["from"], item["to"], item["relationType"]) for item in unwanted}
    return graph._replace(relations=tuple([item for item in graph.relations if item[:3] not in gone]))


def search_nodes(graph: Graph, query: str) -> Graph:
    """Entities with the query in their name, type or observations, upper and lower case alike, and every
    relation that touches one of them."""
    wanted = query.lower()
    found = [
        entity
        for entity in graph.entities
        if wanted in entity.name.lower()
        or wanted in entity.entity_type.lower()
        or any(wanted in text.lower() for text in entity.observations)
    ]
    return _around(graph, found)


def open_nodes(graph: Graph, names: Sequence[str]) -> Graph:
    """Entities of these names, and every relation that touches one of them."""
    wanted = set(names)
    return _around(graph, [entity for entity in graph.entities if entity.name in wanted])


def _around(graph: Graph, found: Iterable[Entity]) -> Graph:
    entities = tuple(found)
    names = {entity.name for entity in entities}
    relations = [item for item in graph.relations if item.source in names or item.target in names]
    return Graph(entities, tuple(relations), graph.kept)


def _first_places(entities: Sequence[Entity]) -> dict[str, int]:
    """Where each name comes first: a file made by hand may have it twice."""
    places: dict[str, int] = {}
    for place, entity in enumerate(entities):
        places.setdefault(entity.name, place)
    return places
