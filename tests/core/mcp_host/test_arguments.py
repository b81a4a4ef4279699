"""What is checked before a call is sent."""

from typing import Any

import pytest

from sophos_desktop.core.mcp_host.arguments import problem_of

_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
        "mode": {"enum": ["fast", "slow"]},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"edit": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}},
}


def test_arguments_that_fit_are_no_problem() -> None:
    assert problem_of(_SCHEMA, {"path": "a", "edits": [{"line": 1}], "mode": "fast", "size": None}) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'path' is a required property"),
        ({"path": 5}, "path: 5 is not of type 'string'"),
        ({"path": "a", "edits": [{"line": "x"}]}, "edits[0].line: 'x' is not of type 'integer'"),
        ({"path": "a", "mode": "odd"}, "mode: 'odd' is not one of ['fast', 'slow']"),
        ({"path": "a", "size": "big"}, "expected: [{'type': 'integer'}, {'type': 'null'}]"),
        ({"path": "a", "other": 1}, "'other' was unexpected"),
    ],
)
def test_the_model_is_told_where_and_what(arguments: dict[str, Any], words: str) -> None:
    problem = problem_of(_SCHEMA, arguments)
    assert problem is not None
    assert words in problem


def test_a_huge_value_is_not_repeated_to_the_model() -> None:
    problem = problem_of({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 100_000})
    assert problem is not None
    assert len(problem) < 1_000


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "no such type"},
        {"properties": 5},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#"},
        {"properties": {"a": {"pattern": "("}}},
        {"$schema": "https://example.org/unknown", "type": "object"},
    ],
)
def test_a_broken_schema_never_stops_a_call(schema: dict[str, Any]) -> None:
    assert problem_of(schema, {"a": "b"}) is None


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
    assert "next.next.n" in str(problem_of(schema, {"next": {"next": {"n": "x"}}}))
