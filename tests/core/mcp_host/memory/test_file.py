"""What the memory server does with its file, in whatever state it finds it."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from sophos_desktop.core.mcp_host.servers.memory import graph_file
from sophos_desktop.core.mcp_host.servers.memory.graph import Graph, create_entities
from sophos_desktop.core.mcp_host.servers.memory.graph_file import FileIsBusy, GraphFile
from sophos_desktop.core.mcp_host.servers.memory.tools import call_tool
from tests.core.mcp_host.memory.wire import OURS, Json, Wire, entity, names, serving

ADA = '{"type":"entity","name":"Ada","entityType":"person","observations":["counts"]}'
KNOWS = '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the memory is; not there yet."""
    return tmp_path / "memory.jsonl"


@pytest.fixture
def wire(file: Path) -> Iterator[Wire]:
    """A server on it."""
    with serving(OURS, file) as server:
        yield server


def mode_of(path: Path) -> int:
    """The permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


def texts(result: Json) -> list[str]:
    """The texts of a result."""
    return [part["text"] for part in result["content"]]


def test_a_missing_folder_and_file_are_made_for_nobody_else_to_read(tmp_path: Path) -> None:
    file = tmp_path / "not" / "there" / "memory.jsonl"
    with serving(OURS, file) as wire:
        assert names(wire.call("read_graph")) == []
        assert not file.exists()
        wire.call("create_entities", entities=[entity("Ada", "counts", kind="person")])
        assert file.read_text(encoding="utf-8") == ADA
        assert (mode_of(file), mode_of(file.parent)) == (0o600, 0o700)
        assert wire.close() == ""
    assert {path.name for path in file.parent.iterdir()} == {"memory.jsonl", "memory.jsonl.lock"}


def test_permissions_and_a_link_are_left_as_the_person_made_them(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.jsonl"
    real.parent.mkdir()
    real.write_text(ADA)
    real.chmod(0o640)
    file.symlink_to(real)
    with serving(OURS, file) as wire:
        wire.call("create_entities", entities=[entity("Bob")])
    assert file.is_symlink()
    assert len(real.read_text().splitlines()) == 2
    assert mode_of(real) == 0o640


def test_an_edit_by_hand_is_seen_at_the_next_call(file: Path, wire: Wire) -> None:
    wire.call("create_entities", entities=[entity("Ada", "counts", kind="person")])
    status = file.stat()
    file.write_text(ADA.replace("Ada", "Eva"))  # as long as it was, and by the clock as old
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert names(wire.call("read_graph")) == ["Eva"]
    # In the order and with the line ends of another editor.
    file.write_bytes(b"\xef\xbb\xbf" + f"{KNOWS}\r\n\r\n{ADA}\r\n".encode())
    assert names(wire.call("search_nodes", query="COUNT")) == ["Ada"]
    wire.call("add_observations", observations=[{"entityName": "Ada", "contents": ["writes"]}])
    assert file.read_text().splitlines() == [ADA.replace('"counts"', '"counts","writes"'), KNOWS]
    file.unlink()
    assert names(wire.call("read_graph")) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (ADA[:40].encode(), "it is not JSON"),
        (b"\xff\xfe\x00", "it is not UTF-8"),
        (b"[" * 50_000, "it is not JSON"),
        (b"[1]", "it is neither an entity nor a relation"),
        (b'{"name": "Ada"}', "it is neither an entity nor a relation"),
        (b'{"type": "entity", "name": "Ada"}', 'its "entityType" must be a text'),
        (b'{"type":"entity","name":"","entityType":"","observations":[1]}', "must be a list of texts"),
        (b'{"type":"relation","from":"a","to":5}', 'its "to" must be a text'),
    ],
)
def test_a_damaged_line_is_told_by_its_number_and_kept(file: Path, line: bytes, words: str) -> None:
    file.write_bytes(b"\n".join([ADA.encode(), line, KNOWS.encode()]))
    with serving(OURS, file) as wire:
        first = wire.call("read_graph")
        assert names(first) == ["Ada"]
        assert len(first["structuredContent"]["relations"]) == 1
        assert json.loads(texts(first)[0]) == first["structuredContent"]
        assert texts(first)[1].startswith("Line 2 of the memory file is damaged (")
        assert words in texts(first)[1]
        second = wire.call("create_entities", entities=[entity("Bob")])
        assert texts(second)[1].startswith("Line 4 of the memory file is damaged (")
        assert file.read_bytes().split(b"\n")[3] == line
        assert names(wire.call("read_graph")) == ["Ada", "Bob"]
        resource = wire.request("resources/read", {"uri": "memory://knowledge-graph"})["result"]
        assert len(json.loads(resource["contents"][0]["text"])["entities"]) == 2
        file.write_text(ADA)
        assert len(texts(wire.call("read_graph"))) == 1
        said = wire.close().splitlines()
    assert [sentence[:7] for sentence in said] == ["Line 2 ", "Line 4 "]


def test_many_damaged_lines_are_not_all_told(file: Path) -> None:
    file.write_text("\n".join(["{"] * 30))
    with serving(OURS, file) as wire:
        (_, told) = texts(wire.call("read_graph"))
    assert told.count("damaged") == 5
    assert told.endswith("So are 25 more.")


def test_a_record_of_another_kind_is_kept_without_a_word(file: Path) -> None:
    note = '{"type":"note","text":"of another program"}'
    file.write_text(f"{note}\n{ADA}")
    with serving(OURS, file) as wire:
        assert len(texts(wire.call("delete_entities", entityNames=["Bob"]))) == 1
        assert wire.close() == ""
    assert file.read_text() == f"{ADA}\n{note}"


def test_a_change_that_fails_changes_nothing(file: Path, wire: Wire) -> None:
    wire.call("create_entities", entities=[entity("Ada", "counts", kind="person")])
    additions = [{"entityName": name, "contents": ["more"]} for name in ("Ada", "Nobody")]
    failed = wire.call("add_observations", observations=additions)
    assert failed["isError"]
    assert file.read_text() == ADA


def test_what_changes_nothing_writes_nothing(file: Path, wire: Wire) -> None:
    wire.call("create_entities", entities=[entity("Ada")])
    before = file.stat().st_ino
    wire.call("create_entities", entities=[entity("Ada")])
    wire.call("delete_relations", relations=[])
    assert file.stat().st_ino == before


def test_what_a_kill_left_beside_the_file_goes_with_the_next_write(file: Path, tmp_path: Path) -> None:
    left = tmp_path / "memory.jsonl.tmp"
    left.write_text("half of a")
    with serving(OURS, file) as wire:
        wire.call("create_entities", entities=[entity("Ada", "counts", kind="person")])
    assert file.read_text() == ADA
    assert not left.exists()


def test_a_folder_in_its_place_is_an_answer_and_no_end(file: Path, wire: Wire) -> None:
    file.mkdir()
    for answer in (wire.call("read_graph"), wire.call("create_entities", entities=[entity("Ada")])):
        assert answer["isError"]
        assert str(file) in texts(answer)[0]
    file.rmdir()
    assert names(wire.call("create_entities", entities=[entity("Ada")])) == ["Ada"]


@pytest.mark.skipif(sys.platform == "win32", reason="there a file is closed to others by its permissions")
def test_a_disk_that_takes_no_more_leaves_the_file_as_it_was(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(ADA)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    arguments = {"entities": [entity("Bob")]}
    outcome = call_tool(GraphFile(str(file)), "create_entities", arguments)
    assert "could not be written: No space left on device" in outcome.result
    assert '"isError":true' in outcome.result
    assert file.read_text() == ADA
    assert not file.with_name("memory.jsonl.tmp").exists()


def test_a_lock_that_is_never_given_back_is_an_answer(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_file, "_LOCK_SECONDS", 0.05)

    def add(graph: Graph) -> tuple[Graph, object]:
        return create_entities(graph, [entity("Ada")])

    with FileLock(f"{file}.lock"), pytest.raises(FileIsBusy, match="locked"):
        GraphFile(str(file)).change(add)
    assert GraphFile(str(file)).change(add)[0].entities[0].name == "Ada"
