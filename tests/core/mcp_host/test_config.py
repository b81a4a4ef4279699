"""What `mcp.json` may hold, and what becomes of it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.fingerprints import server_fingerprint
from sophos_desktop.core.mcp_host.config import LoadedConfig, McpConfigSource, ServerConfig

_SHIPPED = Path(__file__).parents[3] / "config" / "mcp.json"


def _source(tmp_path: Path, user: str | None, **variables: str) -> McpConfigSource:
    if user is not None:
        (tmp_path / "mcp.json").write_text(user, encoding="utf-8")
    return McpConfigSource(_SHIPPED, tmp_path / "mcp.json", variables, tmp_path / "memory.jsonl")


def _load(tmp_path: Path, user: object, **variables: str) -> LoadedConfig:
    return _source(tmp_path, json.dumps(user), **variables).load()


def _server(config: LoadedConfig, name: str) -> ServerConfig:
    return next(server for server in config.servers if server.name == name)


def test_without_a_file_of_the_user_the_shipped_servers_are_there(tmp_path: Path) -> None:
    config = _source(tmp_path, None).load()
    assert config.notices == ()
    fetch, memory = config.servers
    assert (fetch.name, fetch.command, fetch.built_in) == ("fetch", sys.executable, True)
    assert fetch.args == ("-m", "sophos_desktop.core.mcp_host.servers.fetch")
    assert (memory.name, memory.command, memory.built_in) == ("memory", sys.executable, True)
    assert memory.env == {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}


@pytest.mark.parametrize("wrapped", [True, False])
def test_both_shapes_are_read(tmp_path: Path, wrapped: bool) -> None:
    servers = {"files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b"}, "type": "stdio"}}
    config = _load(tmp_path, {"mcpServers": servers} if wrapped else servers)
    files = _server(config, "files")
    assert (files.command, files.args, files.env) == ("npx", ("-y", "files"), {"A": "b"})
    assert files.unknown == {"type": "stdio"}
    assert not files.built_in
    assert config.notices == ()


def test_an_entry_of_the_same_name_replaces_the_shipped_one(tmp_path: Path) -> None:
    fetch = _server(_load(tmp_path, {"fetch": {"command": "mine"}}), "fetch")
    assert (fetch.command, fetch.args, fetch.built_in) == ("mine", (), False)


def test_disabled_turns_a_server_off_without_more_words(tmp_path: Path) -> None:
    config = _load(
        tmp_path,
        {
            "fetch": {"disabled": True},
            "memory": {"disabled": True},
            "other": {"command": "${UNSET}", "disabled": True},
        },
    )
    assert all(server.disabled and server.problem is None for server in config.servers)
    assert config.notices == ()


def test_variables_and_the_home_folder_are_filled_in(tmp_path: Path) -> None:
    entry = {
        "command": "~/bin/server",
        "args": ["--key=${KEY}", "${MEMORY_FILE_PATH}", "$KEY"],
        "env": {"TOKEN": "${KEY}-${PYTHON}"},
        "cwd": "~",
    }
    server = _server(_load(tmp_path, {"s": entry}, KEY="secret"), "s")
    assert server.command == str(Path.home() / "bin/server")
    assert server.args == ("--key=secret", str(tmp_path / "memory.jsonl"), "$KEY")
    assert server.env == {"TOKEN": f"secret-{sys.executable}"}
    assert server.cwd == str(Path.home())
    assert f"secret-{sys.executable}" not in repr(server)


def test_an_unset_variable_fails_that_server_by_name_and_no_other(tmp_path: Path) -> None:
    config = _load(tmp_path, {"a": {"command": "x", "env": {"K": "${MISSING}"}}, "b": {"command": "y"}})
    assert _server(config, "a").problem == "the variable ${MISSING} is not set"
    assert _server(config, "b").problem is None
    assert 'server "a"' in config.notices[0].text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: it is empty"),
        ("  \n", "line 1: it is empty"),
        ('{\n  "a": {},\n', "line 3: it is not JSON"),
        ('{\n  /* "a": {} */\n  b\n}', "line 3: it is not JSON"),
        ('{"a": ', "line 1: it is not JSON"),
        ("[]", "line 1: it must be an object"),
        ('{\n"mcpServers": []}', 'line 2: "mcpServers" must be an object'),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_a_file_that_says_nothing_leaves_the_shipped_servers(tmp_path: Path, text: str, words: str) -> None:
    config = _source(tmp_path, text).load()
    assert [server.name for server in config.servers] == ["fetch", "memory"]
    (notice,) = config.notices
    assert notice.code == "CONFIG_INVALID"
    assert str(tmp_path / "mcp.json") in notice.text
    assert words in notice.text


def test_bytes_that_are_no_text_and_a_folder_in_its_place_are_notices(tmp_path: Path) -> None:
    source = _source(tmp_path, None)
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xff\xfe{")
    assert "UTF-8" in source.load().notices[0].text
    path.unlink()
    path.mkdir()
    assert "cannot be read" in source.load().notices[0].text


def test_the_last_good_entries_stay_while_the_file_is_broken(tmp_path: Path) -> None:
    source = _source(tmp_path, '{"a": {"command": "x"}}')
    source.load()
    (tmp_path / "mcp.json").write_text('{"a": ')
    config = source.load()
    assert [server.name for server in config.servers] == ["a", "fetch", "memory"]
    assert len(config.notices) == 1


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (5, "must be an object"),
        ({}, '"command" or a "url"'),
        ({"command": 5}, '"command" must be a text'),
        ({"command": ""}, '"command" must be a text'),
        ({"command": "x", "args": "y"}, '"args" must be a list of texts'),
        ({"command": "x", "args": [1]}, '"args" must be a list of texts'),
        ({"command": "x", "env": {"A": 1}}, '"env" must be an object'),
        ({"command": "x", "disabled": "yes"}, '"disabled" must be true or false'),
        ({"command": "x", "approval": "maybe"}, '"approval" must be'),
        ({"command": "x", "timeout_seconds": 0}, '"timeout_seconds" must be a number above 0'),
        ({"command": "x", "timeout_seconds": True}, '"timeout_seconds" must be a number above 0'),
        ({"url": ["x"]}, '"url" must be a text'),
        ({"serverUrl": ""}, '"serverUrl" must be a text'),
        ({"command": ["npx", "-y", "x"]}, 'write its first part there and the others into "args"'),
        ({"type": "sse", "url": "https://example.org/sse"}, 'the old transport "sse" is not spoken here'),
        ({"command": "x", "env": {"K": "${input:key}"}}, "${input:key} is a question that VS Code asks"),
    ],
)
def test_a_wrong_entry_fails_alone_with_its_line(tmp_path: Path, entry: Any, words: str) -> None:
    text = json.dumps({"good": {"command": "x"}, "bad": entry}, indent=1)
    config = _source(tmp_path, text).load()
    assert words in str(_server(config, "bad").problem)
    assert _server(config, "good").problem is None
    line = next(number for number, row in enumerate(text.splitlines(), 1) if '"bad"' in row)
    assert f'line {line}: server "bad"' in config.notices[0].text


def test_a_name_that_comes_twice_is_reported_and_the_last_one_counts(tmp_path: Path) -> None:
    config = _source(tmp_path, '{"a": {"command": "x"}, "a": {"command": "y"}}').load()
    assert _server(config, "a").command == "y"
    assert 'server "a" is there twice' in config.notices[0].text


def test_a_server_by_url_is_understood(tmp_path: Path) -> None:
    entry = {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}
    server = _server(_load(tmp_path, {"remote": entry}, KEY="k"), "remote")
    assert (server.transport, server.headers) == ("http", {"Authorization": "Bearer k"})


def test_a_byte_order_mark_and_a_schema_link_do_no_harm(tmp_path: Path) -> None:
    config = _source(tmp_path, '\ufeff{"$schema": "https://example.org", "a": {"command": "x"}}').load()
    assert [server.name for server in config.servers] == ["a", "fetch", "memory"]
    assert config.notices == ()


def test_comments_and_trailing_commas_are_tolerated(tmp_path: Path) -> None:
    text = """{
  // mine, and a // in a text is none
  "mcpServers": {
    "a": {"command": "x", "args": ["http://a/*b*/",], /* no key yet */ },
  },
}"""
    config = _source(tmp_path, text).load()
    assert config.notices == ()
    assert _server(config, "a").args == ("http://a/*b*/",)


@pytest.mark.parametrize(
    "document",
    [
        {"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": []},
        {"mcp": {"servers": {"a": {"command": "x"}}}, "editor.fontSize": 12},
        {"context_servers": {"a": {"command": "x", "source": "custom"}}},
    ],
)
def test_the_places_of_other_programs_are_known(tmp_path: Path, document: Any) -> None:
    config = _load(tmp_path, document)
    assert [server.name for server in config.servers] == ["a", "fetch", "memory"]
    assert _server(config, "a").command == "x"
    assert config.notices == ()


def test_a_server_may_be_called_servers(tmp_path: Path) -> None:
    config = _load(tmp_path, {"servers": {"command": "x"}})
    assert _server(config, "servers").command == "x"


@pytest.mark.parametrize("key", ["url", "serverUrl", "httpUrl"])
def test_the_address_has_several_names(tmp_path: Path, key: str) -> None:
    server = _server(_load(tmp_path, {"a": {key: "https://example.org/mcp"}}), "a")
    assert (server.transport, server.url) == ("http", "https://example.org/mcp")
    assert server.problem is None


def test_variables_as_other_programs_write_them_are_filled_in(tmp_path: Path) -> None:
    args = ["${env:KEY}", "${KEY:-unused}", "${OTHER:-spare}", "${OTHER:-}", "${userHome}/x"]
    server = _server(_load(tmp_path, {"a": {"command": "x", "args": args}}, KEY="k"), "a")
    assert server.args == ("k", "k", "spare", "", f"{Path.home()}/x")


def test_the_fingerprint_is_that_of_the_entry_as_it_was_written(tmp_path: Path) -> None:
    entry: dict[str, Any] = {
        "command": "${KEY}",
        "args": ["a"],
        "env": {"A": "${KEY}", "B": "1"},
        "cwd": "/tmp",
    }
    written = server_fingerprint("${KEY}", ["a"], None, "/tmp", {"A": "${KEY}", "B": "1"})
    assert _server(_load(tmp_path, {"a": entry}, KEY="x"), "a").fingerprint == written
    assert (
        _server(_load(tmp_path, {"a": {**entry, "timeout_seconds": 5}}, KEY="y"), "a").fingerprint == written
    )
    for change in (
        {"args": ["b"]},
        {"env": {"A": "${KEY}"}},
        {"env": {**entry["env"], "B": "2"}},
        {"cwd": "/"},
    ):
        assert _server(_load(tmp_path, {"a": {**entry, **change}}), "a").fingerprint != written
    assert _server(_load(tmp_path, {"a": {"args": ["b"]}}), "a").fingerprint == ""


def test_without_a_folder_and_variables_the_fingerprint_is_that_of_older_versions(tmp_path: Path) -> None:
    stored = "c1d3cf9e318bd772c35d3460c1d6d5ec"
    entry = {"command": "npx", "args": ["-y", "x"], "env": {}}
    assert _server(_load(tmp_path, {"a": entry}), "a").fingerprint.startswith(stored)


def test_of_the_values_of_variables_nothing_but_a_digest_is_kept(tmp_path: Path) -> None:
    server = _server(_load(tmp_path, {"a": {"command": "x", "env": {"KEY": "very-secret"}}}), "a")
    assert re.fullmatch("[0-9a-f]{64}", server.fingerprint)
    assert "very-secret" not in repr(server)


def test_an_entry_of_the_user_under_a_built_in_name_is_not_built_in(tmp_path: Path) -> None:
    shipped = json.loads(_SHIPPED.read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert not _server(_load(tmp_path, {"memory": shipped}), "memory").built_in


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "needs a name"),
        ("a\nb", "cannot be printed"),
        ("\u202eb", "cannot be printed"),
        ("x" * 101, "longer"),
    ],
)
def test_a_hostile_name_fails_its_server_and_is_shown_on_one_line(
    tmp_path: Path, name: str, words: str
) -> None:
    config = _load(tmp_path, {name: {"command": "x"}})
    assert words in str(_server(config, name).problem)
    (notice,) = config.notices
    assert notice.text.isprintable()
    assert len(notice.text) < 600


def test_trust_is_what_the_caller_settles(tmp_path: Path) -> None:
    config = _load(tmp_path, {"a": {"command": "x", "trusted": True}, "b": {"command": "y"}})
    assert _server(config, "a").trusted
    settled = config.trusting({"b"})
    assert [server.name for server in settled.servers if server.trusted] == ["b"]
    assert [server.name for server in settled.only("a").servers] == ["a"]


def test_an_entry_without_a_program_changes_the_built_in_server(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"fetch": {"approval": "allow", "timeout_seconds": 9}}}'
    )
    source = McpConfigSource(_SHIPPED, tmp_path / "mcp.json", {}, tmp_path / "memory.jsonl")
    (fetch,) = [server for server in source.load().servers if server.name == "fetch"]
    assert (fetch.problem, fetch.built_in, fetch.approval, fetch.timeout_seconds) == (None, True, "allow", 9)
