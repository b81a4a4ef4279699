"""A model gets the tools that fit its context, the same ones each time, and the user is told of the rest."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.specs import ToolResult
from tests.core.agent.graph_bench import graph_bench, spec


async def work(args: Mapping[str, Any]) -> ToolResult:
    return ToolResult("worked")


async def test_of_thousands_of_tools_some_are_offered_and_the_user_is_told_once(tmp_path: Path) -> None:
    tools = [
        (replace(spec(f"t{number}"), description="Does something. " * 5), work) for number in range(2_000)
    ]
    async with graph_bench(tmp_path / "sophos.db", *tools) as bench:
        await bench.open_calls(CallPiece("here__t1999", {}, ""))
        await bench.go_on()
        first, second = [[tool.name for tool in offered] for offered in bench.offered]
        assert first == second == [f"here__t{number}" for number in range(len(first))]
        assert 10 < len(first) < 200
        told = [notice for notice in bench.sink.of(Notice) if notice.code == NoticeCode.CONTEXT_TRIMMED]
        assert any(f"Only {len(first)} of 2000 tools" in notice.text for notice in told)
        assert await bench.results() == [("ok", "worked")]


async def test_a_schema_with_references_reaches_the_model_written_out(tmp_path: Path) -> None:
    schema = {
        "$ref": "#/$defs/all",
        "$defs": {"all": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    async with graph_bench(tmp_path / "sophos.db", (replace(spec("t"), input_schema=schema), work)) as bench:
        await bench.open_calls(CallPiece("here__t", {}, ""))
        (offered,) = bench.offered[0]
        assert offered.input_schema == {"type": "object", "properties": {"a": {"type": "string"}}}
        assert bench.sink.of(Notice) == []


async def test_that_servers_are_still_starting_is_said_once_a_run_and_the_model_answers_without(
    tmp_path: Path,
) -> None:
    async with graph_bench(tmp_path / "sophos.db", (spec("t"), work)) as bench:
        bench.catalog.starting = ("fetch", "files")
        await bench.open_calls(CallPiece("here__t", {}, ""))
        await bench.go_on()
        (told,) = bench.sink.of(Notice)
        assert told.code == NoticeCode.TOOLS_STARTING
        assert told.text.startswith("The tool servers are still starting: fetch, files.")
        assert len(bench.offered) == 2
