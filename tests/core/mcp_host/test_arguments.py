"""What is checked before a call is sent."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.mcp_host.arguments import DEEPEST_LEVEL, check, problem_of

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}, "maxItems": 3},
        "mode": {"enum": ["fast", "slow"]},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "force": {"type": "boolean", "default": False},
        "version": {"const": 2},
        "never": False,
        "name": {"type": ["string", "null"], "pattern": "^[a-z]+$"},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"edit": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}},
}
DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
CATASTROPHIC = {"pattern": "^(a|a)*$"}
ENDLESS = "a" * 60 + "!"


def problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """The lines below the heading."""
    problem = problem_of(schema, arguments)
    return [line.removeprefix("- ") for line in problem.splitlines()[1:]] if problem else []


def test_arguments_that_fit_are_no_problem() -> None:
    fitting = {
        "path": "a",
        "edits": [{"line": 1.0}],
        "mode": "fast",
        "size": None,
        "version": 2,
        "name": None,
    }
    assert problem_of(_SCHEMA, fitting) is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "path: is missing"),
        ({"path": 5}, "path: must be text, got the number 5"),
        ({"path": ""}, "path: must have at least 1 characters, has 0"),
        ({"path": None}, "path: must be text, got null"),
        ({"path": "a", "edits": [{"line": "x"}]}, "edits[0].line: must be a whole number, got text"),
        ({"path": "a", "edits": [{}]}, "edits[0].line: is missing"),
        ({"path": "a", "edits": [{"line": 1}] * 4}, "edits: must have at most 3 entries, has 4"),
        ({"path": "a", "mode": "odd"}, 'mode: must be one of "fast", "slow", got "odd"'),
        ({"path": "a", "size": "big"}, "size: must be a whole number or null, got text"),
        ({"path": "a", "size": {}}, "size: must be a whole number or null, got an object"),
        ({"path": "a", "ratio": 0}, "ratio: must be more than 0, got 0"),
        ({"path": "a", "ratio": 2}, "ratio: must be at most 1, got 2"),
        ({"path": "a", "version": 1}, "version: must be exactly 2, got 1"),
        ({"path": "a", "name": "A"}, "name: must match the pattern ^[a-z]+$"),
        ({"path": "a", "never": 1}, "never: is not allowed here"),
        ({"path": "a", "force": 1}, "force: must be true or false, got the number 1"),
        (
            {"path": "a", "other": 1},
            f"other: is not known here; known are: {', '.join(_SCHEMA['properties'])}",
        ),
    ],
)
def test_the_model_is_told_where_and_what(arguments: dict[str, Any], line: str) -> None:
    assert problems(_SCHEMA, arguments) == [line]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"ratio": "0.5"}, "ratio: must be a number, got text: write 0.5 without quotes"),
        ({"size": "5"}, "size: must be a whole number or null, got text: write 5 without quotes"),
        ({"size": "null"}, "size: must be a whole number or null, got text: write null without quotes"),
        ({"force": "true"}, "force: must be true or false, got text: write true without quotes"),
        ({"edits": '[{"line": 1}]'}, "edits: must be a list, got text: give a list, not text that holds one"),
        ({"edits": ["{}"]}, "edits[0]: must be an object, got text: give an object, not text that holds one"),
        ({"edits": "{}"}, "edits: must be a list, got text"),
    ],
)
def test_text_that_holds_the_value_is_not_taken_for_it_and_the_model_is_told(
    arguments: dict[str, Any], line: str
) -> None:
    given_before = json.dumps(arguments)
    assert problems(_SCHEMA, {"path": "a", **arguments}) == [line]
    assert json.dumps(arguments) == given_before


def test_of_many_problems_five_are_named() -> None:
    schema = {"properties": {"n": {"items": {"type": "integer"}}}}
    assert problems(schema, {"n": ["x"] * 7}) == [
        *(f"n[{index}]: must be a whole number, got text" for index in range(5)),
        "and 2 more",
    ]
    assert problems(schema, {"n": ["x"] * 100_000})[5:] == ["and many more"]


_BY_KIND = {
    "oneOf": [
        {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "url"}, "url": {"type": "string"}}, "required": ["kind", "url"]},
    ]
}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"kind": "url", "url": 5}, "from.url: must be text, got the number 5"),
        ({"kind": "file"}, "from.path: is missing"),
    ],
)
def test_of_alternatives_the_one_that_was_meant_is_spoken_of(value: dict[str, Any], line: str) -> None:
    assert problems({"properties": {"from": _BY_KIND}}, {"from": value}) == [line]


def test_what_fits_two_alternatives_of_which_one_must_fit_is_said() -> None:
    schema = {"properties": {"a": {"oneOf": [{"type": "integer"}, {"minimum": 0}]}}}
    (line,) = problems(schema, {"a": 1})
    assert line == "a: fits more than one of the alternatives, must fit exactly one"


def test_every_part_of_all_of_counts() -> None:
    schema = {"allOf": [{"required": ["a"]}, {"properties": {"b": {"type": "integer"}}}]}
    assert problems(schema, {"b": "x"}) == ["a: is missing", "b: must be a whole number, got text"]


def test_additional_properties_may_have_a_schema_and_patterns() -> None:
    schema = {
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }
    assert problems(schema, {"x-a": "fits", "b": 1}) == []
    assert problems(schema, {"x-a": 1, "b": "no"}) == [
        "x-a: must be text, got the number 1",
        "b: must be a whole number, got text",
    ]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("definitions", ["$defs", "definitions"])
def test_every_draft_is_followed_wherever_it_keeps_its_definitions(draft: str, definitions: str) -> None:
    schema = {
        "$schema": draft,
        "type": "object",
        "properties": {"a": {"$ref": f"#/{definitions}/n"}},
        definitions: {"n": {"type": "integer"}},
    }
    assert problems(schema, {"a": 1}) == []
    assert problems(schema, {"a": "x"}) == ["a: must be a whole number, got text"]


def test_a_huge_value_is_not_repeated_to_the_model() -> None:
    huge = "x" * 1_000_000
    schema = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"enum": [huge, "y"]},
            "c": {"pattern": "y" * 1_900},
            "d": {"const": [huge]},
            "e": {"not": {}},
            "f": False,
        },
        "additionalProperties": False,
        "required": [huge],
    }
    problem = problem_of(schema, dict.fromkeys(("a", "b", "c", "d", "e", "f", huge), huge))
    assert problem is not None
    assert len(problem) < 2_000


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "no such type"},
        {"properties": 5},
        {"required": True},
        {"required": "path"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.org/schema.json"},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"a": {"pattern": "("}}},
        {"patternProperties": {"(": False}, "additionalProperties": False},
        {"$schema": "https://example.org/unknown", "type": "object"},
        {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"a": {"type": "integer"}}},
        {"properties": {"a": {"minimum": "many"}, "b": {"type": "integer"}}},
    ],
)
def test_a_broken_schema_never_stops_a_call(schema: dict[str, Any]) -> None:
    assert problem_of(schema, {"a": "b", "b": "c"}) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "#", "a", "^a"]),
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
                        "enum",
                        "required",
                        "pattern",
                        "not",
                        "a",
                        "if",
                    ]
                ),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    )
)
def test_no_schema_makes_the_check_fail(schema: Any) -> None:
    problem = problem_of(
        schema if isinstance(schema, dict) else {"properties": {"a": schema}}, {"a": ["b", {}]}
    )
    assert problem is None or len(problem) < 3_000


def test_a_recursive_schema_is_followed() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "number"}},
            }
        },
    }
    assert problem_of(schema, {"n": 1, "next": {"n": 2}}) is None
    assert problems(schema, {"next": {"next": {"n": "x"}}}) == ["next.next.n: must be a number, got text"]


@pytest.mark.parametrize("schema", [{}, {"properties": {"a": {"$ref": "#"}}}, _SCHEMA])
def test_arguments_of_a_depth_that_nothing_can_send_are_refused(schema: dict[str, Any]) -> None:
    deep: Any = "end"
    for level in range(10_000):
        deep = {"a": deep} if level % 2 else [deep]
    problem = problem_of(schema, {"a": deep})
    assert problem is not None
    assert problem.endswith(f"are nested deeper than {DEEPEST_LEVEL} levels")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": CATASTROPHIC}},
        {"properties": {"a": {"$schema": DRAFTS[2], **CATASTROPHIC}}},
        {"patternProperties": {"^(a|a)*b$": False}},
        {"patternProperties": {CATASTROPHIC["pattern"]: {}}, "additionalProperties": False},
        {"propertyNames": CATASTROPHIC},
        {"unevaluatedProperties": False, "patternProperties": {CATASTROPHIC["pattern"]: {}}},
    ],
)
def test_a_pattern_that_would_never_end_is_left_to_the_server(schema: dict[str, Any]) -> None:
    assert problem_of(schema, {"a": ENDLESS, ENDLESS: 1}) is None


def test_a_thousand_such_patterns_do_not_add_up() -> None:
    assert problem_of({"properties": {"a": {"items": CATASTROPHIC}}}, {"a": [ENDLESS] * 1_000}) is None


def test_references_that_multiply_without_end_are_left_to_the_server() -> None:
    steps: dict[str, Any] = {
        f"n{i}": {"anyOf": [{"$ref": f"#/$defs/n{i + 1}"}, {"$ref": f"#/$defs/n{i + 1}"}]} for i in range(40)
    }
    schema = {"$ref": "#/$defs/n0", "$defs": {**steps, "n40": {"required": ["missing"]}}}
    assert problem_of(schema, {"a": 1}) is None


async def test_a_huge_schema_and_its_check_leave_the_loop_free() -> None:
    properties = {f"p{i}": {"type": "string", "description": "x" * 80} for i in range(80_000)}
    checking = asyncio.ensure_future(check({"properties": properties}, {"p1": "fits"}))
    turns = 0
    while not checking.done():
        await asyncio.sleep(0)
        turns += 1
    assert await checking is None
    assert turns > 1


@pytest.mark.parametrize("odd", ["\ud800", float("nan"), float("inf"), {"deep": ["\udfff"]}])
def test_what_is_no_json_is_refused_and_not_changed_on_its_way(odd: object) -> None:
    problem = problem_of({"type": "object"}, {"a": odd})
    assert problem is not None
    assert "hold" in problem
