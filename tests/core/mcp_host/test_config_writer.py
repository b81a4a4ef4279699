"""What a change of `mcp.json` leaves as it was, and what is refused."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.mcp_host import commented_json
from sophos_desktop.core.mcp_host.config import McpConfigSource
from sophos_desktop.core.mcp_host.config_writer import McpConfigWriter
from sophos_desktop.core.mcp_host.configuration import McpConfiguration, Removal

_SHIPPED = Path(__file__).parents[3] / "config" / "mcp.json"
_COMMENTED = """{
\t// my servers
\t"$schema": "https://example.org/schema",
\t"mcpServers": {
\t\t"files": {"command": "npx", "args": ["-y", "files"], "x-note": "keep me"}, // the first
\t\t/* the second is slow */
\t\t"notes": {
\t\t\t"command": "notes", // why not
\t\t\t"timeout_seconds": 300,
\t\t},
\t},
\t"other": [1, 2,], // not ours
}
"""
_ADDED = """\t\t"new": {
\t\t\t"command": "x",
\t\t\t"args": []
\t\t},
"""


def _writer(tmp_path: Path, text: str | None) -> McpConfigWriter:
    if text is not None:
        (tmp_path / "mcp.json").write_bytes(text.encode())
    return McpConfigWriter(tmp_path / "mcp.json")


def _text(tmp_path: Path) -> str:
    return (tmp_path / "mcp.json").read_bytes().decode()


def _put(writer: McpConfigWriter, name: str = "new", *, replace: bool = False, **entry: Any) -> None:
    writer.put({name: entry or {"command": "x", "args": []}}, replace=replace)


def test_an_added_server_is_one_more_member_and_nothing_else(tmp_path: Path) -> None:
    _put(_writer(tmp_path, _COMMENTED))
    before, after = _COMMENTED.split('\t},\n\t"other"')
    assert _text(tmp_path) == f'{before}{_ADDED}\t}},\n\t"other"{after}'


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_adding_and_removing_a_server_gives_the_same_bytes_again(tmp_path: Path, line_end: str) -> None:
    text = "\ufeff" + _COMMENTED.replace("\n", line_end)
    writer = _writer(tmp_path, text)
    _put(writer)
    assert _text(tmp_path).count(line_end) == _text(tmp_path).count("\n") == text.count("\n") + 4
    writer.remove("new")
    assert _text(tmp_path) == text


def test_a_removed_server_takes_nothing_along(tmp_path: Path) -> None:
    _writer(tmp_path, _COMMENTED).remove("notes")
    text = _text(tmp_path)
    assert "/* the second is slow */" in text
    assert '"x-note": "keep me"}, // the first' in text
    assert set(commented_json.parse(text)["mcpServers"]) == {"files"}


def test_a_field_is_set_and_taken_out_where_it_is(tmp_path: Path) -> None:
    writer = _writer(tmp_path, _COMMENTED)
    writer.set_field("notes", "disabled", True)
    assert _text(tmp_path) == _COMMENTED.replace("300,\n", '300,\n\t\t\t"disabled": true,\n')
    writer.remove_field("notes", "disabled")
    writer.remove_field("notes", "disabled")
    assert _text(tmp_path) == _COMMENTED


def test_a_replaced_server_keeps_its_further_fields_but_not_the_users_word(tmp_path: Path) -> None:
    old = {"command": "old", "env": {"K": "v"}, "timeout_seconds": 9, "x": 1, "trusted": True}
    writer = _writer(tmp_path, json.dumps({"a": old, "b": {"command": "y"}}))
    _put(writer, "a", replace=True, url="https://example.org/mcp")
    assert json.loads(_text(tmp_path)) == {
        "a": {"url": "https://example.org/mcp", "timeout_seconds": 9, "x": 1},
        "b": {"command": "y"},
    }
    assert "\n" not in _text(tmp_path), "a file of one line stays one"


def test_a_taken_name_is_refused_without_replace(tmp_path: Path) -> None:
    writer = _writer(tmp_path, _COMMENTED)
    with pytest.raises(SophosError, match="a server “notes” already"):
        _put(writer, "notes")
    assert _text(tmp_path) == _COMMENTED


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_file_that_is_not_there_is_made_for_this_user_alone(tmp_path: Path, text: str | None) -> None:
    if text is None:
        old_mask = os.umask(0)
        try:
            _put(_writer(tmp_path, None), command="x", env={"KEY": "secret"})
        finally:
            os.umask(old_mask)
        assert (tmp_path / "mcp.json").stat().st_mode & 0o777 == 0o600
    else:
        _put(_writer(tmp_path, text), command="x", env={"KEY": "secret"})
    assert json.loads(_text(tmp_path)) == {"mcpServers": {"new": {"command": "x", "env": {"KEY": "secret"}}}}
    assert _text(tmp_path).endswith("}\n")


def test_the_mode_and_the_link_of_a_file_that_is_there_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    (tmp_path / "mcp.json").symlink_to(real)
    _put(McpConfigWriter(tmp_path / "mcp.json"))
    assert (tmp_path / "mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "new" in real.read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": ', "line 1: it is not JSON"),
        ("[]", "it must be an object"),
        ('{"mcpServers": []}', '"mcpServers" must be an object'),
        ("// nothing but words\n", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_never_written(tmp_path: Path, text: str, words: str) -> None:
    writer = _writer(tmp_path, text)
    changes: list[Callable[[], None]] = [
        lambda: _put(writer, replace=True),
        lambda: writer.remove("a"),
        lambda: writer.set_field("a", "disabled", True),
    ]
    for change in changes:
        with pytest.raises(SophosError) as refused:
            change()
        assert refused.value.code is ErrorCode.CONFIG_INVALID
        assert refused.value.exit_code == 2
        assert words in refused.value.title
    assert _text(tmp_path) == text


def test_bytes_that_are_no_text_and_a_folder_in_its_place_are_refused(tmp_path: Path) -> None:
    writer = _writer(tmp_path, None)
    (tmp_path / "mcp.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(SophosError, match="not UTF-8"):
        _put(writer)
    (tmp_path / "mcp.json").unlink()
    (tmp_path / "mcp.json").mkdir()
    with pytest.raises(SophosError, match="cannot be changed"):
        _put(writer)


@pytest.mark.parametrize(
    "name",
    ["", "a\nb", "../a", "a/b", "a\\b", 'a"b', "x" * 300, "\x1b[31m", "-x", ".x", "$schema", "\u202ea"],
)
def test_hostile_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SophosError) as refused:
        _put(_writer(tmp_path, None), name)
    assert refused.value.code is ErrorCode.BAD_REQUEST
    assert refused.value.title.isprintable()
    assert not (tmp_path / "mcp.json").exists()


def test_an_entry_that_could_not_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SophosError, match='"args" must be a list'):
        _put(_writer(tmp_path, None), command="x", args="y")
    assert not (tmp_path / "mcp.json").exists()


def test_a_name_that_is_there_twice_is_removed_twice(tmp_path: Path) -> None:
    _writer(tmp_path, '{"a": {"command": "x"}, "b": {}, "a": {"command": "y"}}').remove("a")
    assert _text(tmp_path) == '{"b": {}}'


def test_writers_at_the_same_time_take_turns(tmp_path: Path) -> None:
    names = [f"server{number}" for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: _put(McpConfigWriter(tmp_path / "mcp.json"), name), names))
    assert set(json.loads(_text(tmp_path))["mcpServers"]) == set(names)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_DOCUMENTS = st.dictionaries(st.text(max_size=5), _VALUES, max_size=4)


def _with_comments(text: str, draw: Any) -> str:
    """The same JSON, with comments, trailing commas and odd spaces between its tokens."""
    decoder, out, position, last = json.JSONDecoder(), "", 0, ""
    extras = st.sampled_from(["", "", " ", "\n", "/*,*/", '// } "\n', " \n\t"])
    while position < len(text):
        if text[position] == '"':
            _, end = decoder.raw_decode(text, position)
        else:
            end = position + 1
        token = text[position:end]
        position = end
        if token in "}]" and last not in "{[" and draw(st.booleans()):
            out += ","
        out += token
        last = token if token.strip() else last
        if token in '{}[],:"' or token.startswith('"'):
            out += draw(extras)
    return out


@given(document=_DOCUMENTS, name=st.text(max_size=5), value=_VALUES, data=st.data())
def test_any_document_says_the_same_after_a_change_but_for_the_change(
    document: dict[str, Any], name: str, value: Any, data: st.DataObject
) -> None:
    indent = data.draw(st.sampled_from([None, 2, "\t"]))
    text = _with_comments(json.dumps(document, indent=indent, ensure_ascii=False), data.draw)
    assert commented_json.parse(text) == document
    changed = commented_json.set_member(text, (name,), value)
    assert commented_json.parse(changed) == {**document, name: value}
    assert list(commented_json.parse(changed)) == list({**document, name: value})
    removed = commented_json.remove_member(changed, (name,))
    assert commented_json.parse(removed) == {key: item for key, item in document.items() if key != name}
    if name not in document:
        assert "".join(removed.split()) == "".join(text.split()), "more than the member was touched"


def test_a_paste_with_one_wrong_entry_writes_none(tmp_path: Path) -> None:
    configuration = _configuration(tmp_path)
    text = '{"servers": {"good": {"command": "x"}, "old": {"type": "sse", "url": "https://example.org"}}}'
    with pytest.raises(SophosError, match='"sse" is not spoken here'):
        configuration.add_pasted(text, replace=False)
    assert not (tmp_path / "mcp.json").exists()


def _configuration(tmp_path: Path) -> McpConfiguration:
    source = McpConfigSource(_SHIPPED, tmp_path / "mcp.json", {}, tmp_path / "memory.jsonl")
    return McpConfiguration(source)


def test_a_shipped_server_is_switched_off_and_may_be_replaced_then(tmp_path: Path) -> None:
    configuration = _configuration(tmp_path)
    with pytest.raises(SophosError, match="a server “memory” already"):
        configuration.add({"memory": {"command": "x"}}, replace=False)
    assert configuration.remove("memory") is Removal.SWITCHED_OFF
    assert json.loads(_text(tmp_path)) == {"mcpServers": {"memory": {"disabled": True}}}
    configuration.add({"memory": {"command": "mine"}}, replace=False)
    (memory,) = configuration.load().only("memory").servers
    assert (memory.command, memory.built_in, memory.disabled) == ("mine", False, False)
    configuration.add({"mine": {"command": "x"}}, replace=False)
    assert configuration.remove("mine") is Removal.REMOVED
    with pytest.raises(SophosError) as refused:
        configuration.remove("mine")
    assert refused.value.code is ErrorCode.NOT_FOUND
    assert refused.value.remedy == "Servers in it: memory"
