"""The tools that a model is offered: schemas that engines take, and no more tools than fit."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.agent.tool_schemas import offered_tools, tool_size, usable_schema
from sophos_desktop.core.domain.specs import ToolSpec

PLAIN = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "required": ["a"]}


def tool(server: str, number: int, size: int = 0) -> ToolSpec:
    return ToolSpec(f"{server}__t{number}", server, f"t{number}", "d" * size, PLAIN)


@pytest.mark.parametrize(
    "schema", [PLAIN, {**PLAIN, "additionalProperties": False}, {"type": "object", "properties": {}}]
)
def test_a_plain_schema_is_left_alone(schema: dict[str, Any]) -> None:
    assert usable_schema(schema) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "string"},
        {"type": ["string", "null"]},
        {"type": 5},
        {"properties": None},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#"},
        {"enum": [1, 2]},
    ],
)
def test_what_is_no_object_schema_becomes_one(schema: dict[str, Any]) -> None:
    usable = usable_schema(schema)
    assert usable["type"] == "object"
    assert usable["properties"] == {}


def test_references_are_written_out_with_what_stands_beside_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "from": {"$ref": "#/$defs/place", "description": "Where it begins"},
            "to": {"type": "array", "items": {"$ref": "#/definitions/a~1b%20c"}},
        },
        "$defs": {
            "place": {"type": "object", "description": "A place", "properties": {"x": {"type": "number"}}}
        },
        "definitions": {"a/b c": {"$ref": "#/$defs/place"}},
    }
    place = {"type": "object", "description": "A place", "properties": {"x": {"type": "number"}}}
    assert usable_schema(schema) == {
        "type": "object",
        "properties": {
            "from": {**place, "description": "Where it begins"},
            "to": {"type": "array", "items": place},
        },
    }


def test_the_whole_schema_may_be_a_reference() -> None:
    assert usable_schema({"$ref": "#/$defs/all", "$defs": {"all": PLAIN}}) == PLAIN


def test_a_schema_that_holds_itself_ends_with_a_name() -> None:
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    usable = usable_schema(
        {"type": "object", "properties": {"head": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    )
    levels = 0
    at = usable["properties"]["head"]
    while "properties" in at:
        assert at["properties"]["value"] == {"type": "integer"}
        at = at["properties"]["next"]
        levels += 1
    assert levels in (1, 2, 3)
    assert at == {"type": "object", "description": "As node above"}


def test_references_that_multiply_stay_bounded() -> None:
    steps: dict[str, Any] = {
        f"n{i}": {"properties": {name: {"$ref": f"#/$defs/n{i + 1}"} for name in "abcd"}} for i in range(40)
    }
    usable = usable_schema({"$ref": "#/$defs/n0", "$defs": steps})
    assert len(json.dumps(usable)) < 1_000_000


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_properties_of_alternatives_are_seen_at_the_top(keyword: str) -> None:
    branches = [
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    ]
    usable = usable_schema({keyword: branches})
    assert usable["properties"] == {"path": {"type": "string"}, "url": {"type": "string"}}
    assert "required" not in usable
    assert usable[keyword] == branches


def test_the_parts_of_all_of_are_all_needed() -> None:
    usable = usable_schema({"allOf": [PLAIN, {"properties": {"b": {"const": 5}}, "required": ["b"]}]})
    assert usable["properties"] == {"a": {"type": "string", "default": "x"}, "b": {"const": 5, "enum": [5]}}
    assert usable["required"] == ["a", "b"]


def test_types_that_may_be_null_stay() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    assert usable_schema(schema) == schema


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["string", "object", "#", "#/properties/a", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "$ref",
                    "items",
                    "anyOf",
                    "allOf",
                    "enum",
                    "required",
                    "description",
                    "a",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "$ref", "allOf", "anyOf", "required"]), _JSON))
def test_whatever_a_server_writes_an_engine_that_reads_it_strictly_takes_it(schema: dict[str, Any]) -> None:
    usable = usable_schema(schema)
    assert usable["type"] == "object"
    for part in _properties(usable):
        assert isinstance(part.get("type", ""), str | list)
        assert isinstance(part.get("description", ""), str)
        assert isinstance(part.get("enum", []), list)
        assert all(isinstance(name, str) for name in part.get("required", []))
        assert all(isinstance(branch, dict) for branch in part.get("anyOf", []))


def _properties(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in schema.get("properties", {}).values():
        assert isinstance(part, dict)
        yield from _properties(part)


def test_what_fits_is_offered_in_the_order_given() -> None:
    tools = [tool("a", 1), tool("a", 2), tool("b", 1)]
    assert [offered.name for offered in offered_tools(tools, 10_000)] == ["a__t1", "a__t2", "b__t1"]


def test_a_server_with_thousands_of_tools_leaves_room_for_the_others() -> None:
    tools = [*(tool("many", number) for number in range(5_000)), tool("few", 1), tool("few", 2)]
    offered = offered_tools(tools, 3_000)
    assert 10 < len(offered) < 50
    assert [t.name for t in offered][-2:] == ["few__t1", "few__t2"]
    assert [t.name for t in offered][:3] == ["many__t0", "many__t1", "many__t2"]
    assert sum(tool_size(t) for t in offered) <= 3_000
    assert offered == offered_tools(tools, 3_000)


def test_a_tool_that_is_too_large_makes_no_other_fall_out() -> None:
    properties = {f"p{i}": {"type": "string", "description": "x" * 80} for i in range(20_000)}
    huge = ToolSpec("a__huge", "a", "huge", "", {"type": "object", "properties": properties})
    offered = offered_tools([tool("a", 1, size=5_000), huge, tool("a", 2)], 1_000)
    assert [t.name for t in offered] == ["a__t2"]
