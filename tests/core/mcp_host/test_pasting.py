"""What people paste: other programs' shapes become ours, or a sentence that says what to do."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.mcp_host import config_writer
from sophos_desktop.core.mcp_host.config import McpConfigSource, parse_entry
from sophos_desktop.core.mcp_host.configuration import McpConfiguration
from sophos_desktop.core.mcp_host.pasting import pasted_servers
from sophos_desktop.core.settings import service
from sophos_desktop.foundation.paths import resolve_paths

_ENTRY: dict[str, Any] = {
    "command": "npx",
    "args": ["-y", "server-files", "/tmp"],
    "env": {"KEY": "${FILES_KEY}"},
}
_LISTED = json.dumps(["npx", *_ENTRY["args"]])
_PLAIN = json.dumps(_ENTRY)
_CLAUDE = f'{{"mcpServers": {{"files": {_PLAIN}}}}}'
_TOML = """
# ~/.codex/config.toml
model = "o3"

[mcp_servers.files]
command = "npx"
args = ["-y", "server-files", "/tmp"]

[mcp_servers.files.env]
KEY = "${FILES_KEY}"
"""


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{_CLAUDE}\n```",
        f"Add this to your configuration:\n\n  ~~~\n  {_CLAUDE}\n  ~~~\n\nThen restart.",
        f"```jsonc\n// as in the manual\n{_CLAUDE}",
        f"`{_CLAUDE}`",
        f'{{"servers": {{"files": {_PLAIN}}}, "inputs": []}}',
        f'{{"mcp": {{"servers": {{"files": {_PLAIN}}}, "inputs": []}}, "editor.fontSize": 13}}',
        '{"context_servers": {"files": {"source": "custom", "enabled": true, "settings": {}, '
        f"{_PLAIN[1:]}}}}}",
        '{"context_servers": {"files": {"command": {"path": "npx", "args": ["-y", "server-files", "/tmp"], '
        '"env": {"KEY": "${FILES_KEY}"}}}}}',
        '{"$schema": "https://example.org/config.json", "mcp": {"files": {"type": "local", "enabled": true, '
        f'"command": {_LISTED}, "environment": {{"KEY": "{{env:FILES_KEY}}"}}}}}}}}',
        _TOML,
        f"```toml\n{_TOML}```\n",
        f'{{"name": "files", {_PLAIN[1:]}',
    ],
)
def test_the_shapes_of_other_programs_come_out_as_ours(text: str) -> None:
    pasted = pasted_servers(text)
    (entry,) = (pasted.servers["files"],)
    assert {key: entry[key] for key in _ENTRY} == _ENTRY
    assert pasted.notes == ()
    assert parse_entry("files", entry).problem is None
    assert "disabled" not in entry


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (
            '{"mcp": {"far": {"type": "remote", "url": "https://x.example/mcp", "enabled": false, '
            '"headers": {"Authorization": "Bearer {env:KEY}"}}}}',
            {
                "type": "http",
                "url": "https://x.example/mcp",
                "headers": {"Authorization": "Bearer ${KEY}"},
                "disabled": True,
            },
        ),
        (
            '[mcp_servers.far]\nurl = "https://x.example/mcp"\nbearer_token_env_var = "KEY"\n'
            'http_headers = { A = "b" }\nenv_http_headers = { C = "D" }\nstartup_timeout_sec = 20\n',
            {
                "url": "https://x.example/mcp",
                "headers": {"A": "b", "C": "${D}", "Authorization": "Bearer ${KEY}"},
                "initialize_timeout_seconds": 20,
            },
        ),
        (
            '[mcp_servers.far]\ncommand = "x"\nenv_vars = ["KEY"]\nenabled = false\ntool_timeout_sec = 5.5\n',
            {"command": "x", "env": {"KEY": "${KEY}"}, "disabled": True, "timeout_seconds": 5.5},
        ),
        (
            '{"context_servers": {"far": {"command": "x", "env": null, "timeout": 7}}}',
            {"command": "x", "timeout": 7},
        ),
    ],
)
def test_what_else_they_say_is_kept_or_said_in_our_words(text: str, entry: dict[str, Any]) -> None:
    assert pasted_servers(text).servers == {"far": entry}


@pytest.mark.parametrize("text", [_PLAIN, f"```\n{_PLAIN}\n```", _PLAIN[1:-1]])
def test_one_server_without_its_name_asks_for_one_and_takes_it(text: str) -> None:
    with pytest.raises(SophosError) as refused:
        pasted_servers(text)
    assert refused.value.code is ErrorCode.BAD_REQUEST
    assert refused.value.title == "What was pasted is one server without its name"
    assert refused.value.remedy == "Give it a name: `mcp add NAME --paste -`"
    assert pasted_servers(text, "mine").servers == {"mine": _ENTRY}


def test_the_only_server_of_a_document_may_be_called_otherwise() -> None:
    assert list(pasted_servers(_CLAUDE, "mine").servers) == ["mine"]
    with pytest.raises(SophosError, match="holds 2 servers, each with a name of its own: a, b"):
        pasted_servers('{"a": {"command": "x"}, "b": {"command": "y"}}', "mine")


@pytest.mark.parametrize(
    ("text", "title", "remedy"),
    [
        ("extensions:\n  files:\n    cmd: npx\n", "looks like YAML, which is not read", "mcp add NAME --"),
        ("```json\n{}\n```\nor\n```json\n{}\n```\n", "holds 2 blocks of code", "Paste one of them"),
        ("[mcp_servers.x]\ncommand = npx\n", "looks like TOML and is not", "mcpServers"),
        ('{"context_servers": {"x": {"settings": {}}}}', "an extension of Zed", "Nothing was written"),
        ('{"context_servers": {"x": {"command": {"args": []}}}}', 'object without a "path"', "Nothing"),
        ('{"servers": {}}', "holds no server", "mcpServers"),
        ('{"mcp": {}}', "holds no server", "mcpServers"),
        ('{"x": "npx"}', "must be an object with a command or a url", "Nothing was written"),
    ],
)
def test_what_cannot_be_understood_is_a_sentence(text: str, title: str, remedy: str) -> None:
    with pytest.raises(SophosError) as refused:
        pasted_servers(text)
    assert refused.value.code is ErrorCode.BAD_REQUEST
    assert title in refused.value.title
    assert remedy in refused.value.remedy


def _configuration(folder: Path) -> McpConfiguration:
    return McpConfiguration(
        McpConfigSource(folder / "shipped.json", folder / "mcp.json", {}, folder / "memory.jsonl")
    )


def test_what_asks_a_question_of_vs_code_is_added_switched_off_and_said(tmp_path: Path) -> None:
    text = (
        '{"inputs": [{"id": "key", "type": "promptString", "password": true}], "servers": {'
        '"asks": {"command": "x", "env": {"KEY": "${input:key}"}}, "plain": {"command": "y"}}}'
    )
    pasted = _configuration(tmp_path).add_pasted(text, replace=False)
    (note,) = pasted.notes
    assert note.startswith("asks was added switched off: ${input:key} is a question that VS Code asks")
    asks, plain = _configuration(tmp_path).load().servers
    assert (asks.disabled, asks.problem, plain.disabled) == (True, None, False)
    written = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]["asks"]
    assert written["env"] == {"KEY": "${input:key}"}, "nothing is lost"


@pytest.mark.parametrize("shape", ['{{"servers": {{"evil": {0}}}}}', '{{"name": "evil", "x": 1, {1}'])
def test_a_page_neither_trusts_nor_allows_and_that_is_said(tmp_path: Path, shape: str) -> None:
    entry = '{"command": "evil", "trusted": true, "approval": "allow"}'
    pasted = _configuration(tmp_path).add_pasted(shape.format(entry, entry[1:]), replace=False)
    assert pasted.notes == (
        '"trusted" was left out of evil; see `mcp trust` and `mcp allow`',
        '"approval" was left out of evil; see `mcp trust` and `mcp allow`',
    )
    (server,) = _configuration(tmp_path).load().servers
    assert (server.command, server.trusted, server.approval) == ("evil", False, None)


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("npx -y server-files", 'Write "command": "npx" and put "-y", "server-files" first into "args"'),
        ("npx -y @scope/files", 'Write "command": "npx" and put "-y", "@scope/files" first into "args"'),
        ("sh -c 'a b'", 'Write "command": "sh" and put "-c", "a b" first into "args"'),
        ("/bin/sh -c x", 'Write "command": "/bin/sh" and put "-c", "x" first into "args"'),
    ],
)
def test_a_program_and_its_arguments_in_one_text_are_refused_with_the_right_form(
    tmp_path: Path, command: str, form: str
) -> None:
    with pytest.raises(SophosError) as refused:
        _configuration(tmp_path).add({"x": {"command": command}}, replace=False)
    assert refused.value.code is ErrorCode.BAD_REQUEST
    assert refused.value.title.endswith("its command holds its arguments too")
    assert refused.value.remedy == f"{form}; nothing was written"
    assert not (tmp_path / "mcp.json").exists()


def test_a_path_with_spaces_is_no_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "my tools"
    folder.mkdir()
    (folder / "server").write_text("#!/bin/sh\n")
    (folder / "server").chmod(0o700)
    paths = {"here": str(folder / "server"), "later": str(folder / "not yet"), "open": "${HOME}/my tools/x"}
    _configuration(tmp_path).add({name: {"command": path} for name, path in paths.items()}, replace=False)
    assert {item.name for item in _configuration(tmp_path).load().servers} == set(paths)


_OF_A_MANUAL = '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "/tmp"]}}}'
_MANUALS = [
    _OF_A_MANUAL,
    '{"servers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "server-files", "/tmp"]}}}',
    '"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "/tmp"]}}',
    '"files": {"command": "npx", "args": ["-y", "server-files", "/tmp"]}',
    '{\n// as in the manual\n"files": {"command": "npx", "args": ["-y", "server-files", "/tmp",],},}',
]


@pytest.mark.parametrize("text", _MANUALS)
def test_a_configuration_from_another_programs_manual_is_understood(text: str) -> None:
    (entry,) = (pasted_servers(text).servers["files"],)
    assert (entry["command"], entry["args"]) == ("npx", ["-y", "server-files", "/tmp"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("npx -y server-files", "not JSON"),
        ("[]", "is not an object"),
        ("{}", "holds no server"),
        ('{"mcpServers": "files"}', '"mcpServers" must be an object'),
        ("", "not JSON"),
    ],
)
def test_what_is_no_configuration_is_refused_with_what_to_paste(text: str, words: str) -> None:
    with pytest.raises(SophosError) as refused:
        pasted_servers(text)
    assert words in refused.value.title
    assert '{"mcpServers"' in refused.value.remedy


@pytest.mark.parametrize(
    "word", ["trust", "alwaysAllow", "always_allow", "autoApprove", "autoapprove", "auto-approve"]
)
def test_what_other_programs_call_trust_is_left_out_and_said_too(tmp_path: Path, word: str) -> None:
    document = {"mcpServers": {"evil": {"command": "evil", word: ["delete"]}}}
    pasted = _configuration(tmp_path).add_pasted(json.dumps(document), replace=False)
    assert pasted.notes == (f'"{word}" was left out of evil; see `mcp trust` and `mcp allow`',)
    assert json.loads((tmp_path / "mcp.json").read_text())["mcpServers"] == {"evil": {"command": "evil"}}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"url": "file:///etc/passwd"}, "must begin with http:// or https://"),
        ({"serverUrl": "javascript:alert(1)"}, "must begin with http:// or https://"),
        ({"command": "npx", "url": "https://example.org/mcp"}, 'a "command" and a "url"'),
        ({"command": "npx", "args": ["a\0b"]}, "has a NUL or half a character"),
        ({"command": "np\ud800x"}, "has a NUL or half a character"),
        ({"command": "npx", "env": {"A": "\udfff"}}, "has a NUL or half a character"),
    ],
)
def test_what_could_never_be_started_or_means_two_things_is_refused(
    tmp_path: Path, entry: dict[str, Any], words: str
) -> None:
    with pytest.raises(SophosError) as caught:
        _configuration(tmp_path).add_pasted(json.dumps({"mcpServers": {"odd": entry}}), replace=False)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert words in caught.value.title
    assert not (tmp_path / "mcp.json").exists()


def test_an_address_out_of_a_variable_or_in_capitals_may_be_added(tmp_path: Path) -> None:
    servers = {"one": {"url": "${BASE}/mcp"}, "two": {"url": "HTTPS://example.org"}}
    assert _configuration(tmp_path).add_pasted(json.dumps(servers), replace=False).notes == ()


def test_a_name_that_stands_twice_is_said_and_the_last_one_counts(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a": {"command": "one"}, "a": {"command": "two"}, "b": {"command": "x"}}}'
    pasted = _configuration(tmp_path).add_pasted(text, replace=False)
    assert pasted.notes == ('"a" stands twice in what was pasted; the last one counts',)
    assert pasted.servers["a"] == {"command": "two"}


def test_a_full_disk_is_told_as_that_and_not_as_a_missing_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(config_writer, "write_atomically", full)
    monkeypatch.setattr(service, "write_atomically", full)
    settings = service.SettingsService(resolve_paths(tmp_path, {}), {})
    changes: tuple[Callable[[], None], ...] = (
        lambda: _configuration(tmp_path).add({"a": {"command": "x"}}, replace=False),
        lambda: settings.set("answer.step_limit", "5"),
    )
    for change in changes:
        with pytest.raises(SophosError) as caught:
            change()
        assert caught.value.code is ErrorCode.STORE_FULL
        assert caught.value.remedy == "Free some space on the disk, then try again; nothing was changed"
