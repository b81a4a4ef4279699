"""How the memory server speaks, where no reference is needed to know what is right."""

import json
import subprocess
from pathlib import Path

import pytest
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import LATEST_PROTOCOL_VERSION

from sophos_desktop.core.mcp_host.servers.memory.graph import make_entity
from sophos_desktop.core.mcp_host.servers.memory.json_text import compact, pretty
from sophos_desktop.core.mcp_host.servers.memory.lines import read_lines, write_lines
from sophos_desktop.core.mcp_host.servers.memory.session import PROTOCOL_VERSIONS
from sophos_desktop.core.mcp_host.servers.memory.tools import call_tool
from tests.core.mcp_host.memory.wire import OURS, PROJECT, serving

_CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def test_it_speaks_the_versions_that_the_mcp_library_speaks(tmp_path: Path) -> None:
    assert list(PROTOCOL_VERSIONS) == SUPPORTED_PROTOCOL_VERSIONS
    with serving(OURS, tmp_path / "memory") as wire:
        for asked in (*SUPPORTED_PROTOCOL_VERSIONS, "1999-01-01"):
            result = wire.request("initialize", {"protocolVersion": asked, **_CLIENT})["result"]
            spoken = asked if asked in SUPPORTED_PROTOCOL_VERSIONS else LATEST_PROTOCOL_VERSION
            assert result["protocolVersion"] == spoken
            assert {"tools", "resources"} == set(result["capabilities"])


def test_what_is_no_request_gets_no_answer(tmp_path: Path) -> None:
    with serving(OURS, tmp_path / "memory") as wire:
        for line in (
            b"",
            b"garbage \xff",
            b"[" * 100_000,
            b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
            b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}',
        ):
            wire.send(line)
        wire.send(b'{"jsonrpc":"2.0","id":"a text","method":"ping"}\r')
        assert wire.answer() == {"jsonrpc": "2.0", "id": "a text", "result": {}}
        wire.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')  # no line end: the client died
        assert "passed over" in wire.close()


def test_the_hints_say_what_each_tool_does(tmp_path: Path) -> None:
    with serving(OURS, tmp_path / "memory") as wire:
        tools = wire.request("tools/list")["result"]["tools"]
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    reading = {"read_graph", "search_nodes", "open_nodes"}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == reading
    deleting = {"delete_entities", "delete_observations", "delete_relations"}
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == deleting
    assert {name for name, hint in hints.items() if hint["idempotentHint"]} == reading | deleting
    assert not any(hint["openWorldHint"] for hint in hints.values())


def test_starting_it_loads_nothing_that_takes_time() -> None:
    code = "import sys, sophos_desktop.core.mcp_host.servers.memory.session; print(*sys.modules)"
    done = subprocess.run([OURS[0], "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    heavy = {"mcp", "pydantic", "anyio", "asyncio", "filelock", "logging", "dataclasses", "tempfile"}
    assert set(done.stdout.split()) & heavy == set()


def test_without_a_file_it_says_what_it_needs() -> None:
    done = subprocess.run(
        OURS, capture_output=True, text=True, check=False, cwd=PROJECT, env={"MEMORY_FILE_PATH": ""}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "MEMORY_FILE_PATH" in done.stderr


def test_an_argument_names_the_file_before_the_environment_does(tmp_path: Path) -> None:
    with serving((*OURS, str(tmp_path / "named")), tmp_path / "other") as wire:
        wire.call("delete_relations", relations=[])
    assert {path.name for path in tmp_path.iterdir()} == {"named", "named.lock"}


def test_a_client_that_reads_no_more_ends_it_quietly(tmp_path: Path) -> None:
    with serving(OURS, tmp_path / "memory") as wire:
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.ask("ping")
        assert wire.process.wait(20) == 0
        assert wire.process.stderr is not None
        assert wire.process.stderr.read() == b""


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"entity","name":"a","entityType":"b","observations":[]}',
        '{"type":"entity","name":"é🦉\u2028","entityType":"","observations":["","x","y"]}',
        '{"type":"entity","name":"\\u0041","entityType":"b","observations":["\\n"]}',
        '{"type":"entity","name":"a","name":"","entityType":"b","observations":[]}',
        '{"type":"entity","entityType":"a","name":"b","observations":[]}',
        '{"type":"entity","name":"a","entityType":"b","observations":[ ]}',
        '{"name":"a","entityType":"b","observations":["1"],"type":"entity","more":null}\r',
        '{"type":"relation","from":"a","to":"b","relationType":"c"}',
        '{"type":"relation","to":"a","from":"b","relationType":"c"}',
        '{"type":"relation","from":"a","to":"b","relationType":"c" }',
        '{"type":"relation","from":"\\/","to":"","relationType":""}',
    ],
)
def test_a_line_comes_back_as_we_would_have_written_it(line: str) -> None:
    graph, _ = read_lines(line.encode(), {})
    record = json.loads(line)
    order = ("type", "name", "entityType", "observations", "from", "to", "relationType")
    expected = compact({key: record[key] for key in order if key in record})
    assert write_lines(graph)[0].decode() == expected


@pytest.mark.parametrize("observations", [[], ["one"], ["é\u2028", "\ud800", 'a"b\\\n']])
def test_the_quick_way_to_indent_gives_what_the_slow_one_gives(observations: list[str]) -> None:
    record = {"name": "n\udfff", "entityType": "\x00", "observations": observations}
    entity = make_entity("n\udfff", "\x00", observations)
    assert entity.pretty("") == pretty(record)
    assert json.loads("{" + entity.fields + "}") == record


def test_a_tool_that_is_not_there_is_no_reason_to_open_the_file() -> None:
    assert "Tool gone not found" in call_tool(None, "gone", {}).result  # type: ignore[arg-type]
