"""Checkpoints are untrusted input: what is no data of ours is an error, and runs nothing."""

import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Send

from sophos_desktop.core.agent.graph_runner import GraphRunner
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store import serializer as serializer_module
from sophos_desktop.core.store.serializer import COMPRESS_FROM_BYTES, StrictSerializer, UnreadableCheckpoint
from tests.core.store.store_fixture import METADATA, a_checkpoint, connected, open_database, open_saver, place
from tests.support.guards import ExpectedLogs

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def extension(code: int, *parts: object) -> bytes:
    """What LangGraph's own format has for an object."""
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> Any:
        return os.system, (self._command,)


def hostile_rows(marker: Path) -> dict[str, tuple[str, bytes]]:
    """Type and bytes of rows that would make the file `marker`, or use up the memory."""
    command = f"touch '{marker}'"
    bomb = zlib.compress(ormsgpack.packb(b"\0" * 5_000_000))
    return {
        "single argument": ("msgpack", extension(0, "os", "system", command)),
        "positional arguments": ("msgpack", extension(1, "os", "system", [command])),
        "keyword arguments": ("msgpack", extension(2, "subprocess", "run", {"args": ["touch", str(marker)]})),
        "method": ("msgpack", extension(3, "pathlib", "Path", str(marker), "touch")),
        "pydantic": ("msgpack", extension(5, "os", "system", {"command": command}, "system")),
        "compressed": ("msgpack+zlib", zlib.compress(extension(0, "os", "system", command))),
        "pickle": ("pickle", pickle.dumps(Evil(command))),
        "json": (
            "json",
            json.dumps({"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [command]}).encode(),
        ),
        "bomb": ("msgpack+zlib", bomb),
        "cut": ("msgpack+zlib", bomb[:-10]),
        "no zlib": ("msgpack+zlib", b"nonsense"),
        "no msgpack": ("msgpack", b"\xc1\xc1\xc1"),
    }


@pytest.mark.parametrize(("table", "column"), [("checkpoints", "checkpoint"), ("writes", "value")])
async def test_a_hostile_row_makes_the_thread_unreadable_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs, table: str, column: str
) -> None:
    expected_logs("Blocked deserialization", at_least=0)  # said once a process
    monkeypatch.setattr(serializer_module, "LARGEST_BLOB_BYTES", 1_000_000)
    path, marker = tmp_path / "sophos.db", tmp_path / "marker"
    async with open_database(path), open_saver(path) as saver:
        checkpoint = a_checkpoint()
        await saver.aput(place(), checkpoint, METADATA, {})
        await saver.aput_writes(place(checkpoint_id=checkpoint["id"]), [("messages", [])], "task", "path")
        for name, (kind, blob) in hostile_rows(marker).items():
            with connected(path) as other:
                other.execute(f"UPDATE {table} SET type = ?, {column} = ?", (kind, blob))
            with pytest.raises(SophosError) as caught:
                await GraphRunner(saver).read("thread")
            assert caught.value.code is ErrorCode.THREAD_UNREADABLE, name
            assert not marker.exists(), name


async def test_a_hostile_object_within_a_checkpoint_is_found_too(
    tmp_path: Path, expected_logs: ExpectedLogs
) -> None:
    expected_logs("Blocked deserialization", at_least=0)  # said once a process
    marker = tmp_path / "marker"
    inner = ormsgpack.Ext(0, ormsgpack.packb(("os", "system", f"touch '{marker}'")))
    blob = ormsgpack.packb({"channel_values": {"messages": [inner]}})
    with pytest.raises(UnreadableCheckpoint, match=r"os\.system"):
        StrictSerializer().loads_typed(("msgpack", blob))
    assert not marker.exists()


async def test_metadata_that_is_no_json_makes_the_thread_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path), open_saver(path) as saver:
        await saver.aput(place(), a_checkpoint(), METADATA, {})
        with connected(path) as other:
            other.execute("UPDATE checkpoints SET metadata = ?", (b"{nonsense",))
        with pytest.raises(SophosError) as caught:
            await GraphRunner(saver).read("thread")
        assert caught.value.code is ErrorCode.THREAD_UNREADABLE


@settings(max_examples=40)
@given(JSON)
def test_data_comes_back_as_it_was(value: object) -> None:
    serializer = StrictSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(value)) == value


@settings(max_examples=40)
@given(
    st.lists(
        st.builds(HumanMessage, st.text(), id=st.uuids().map(str))
        | st.builds(
            AIMessage,
            st.text(),
            id=st.uuids().map(str),
            tool_calls=st.lists(
                st.fixed_dictionaries(
                    {"id": st.text(), "name": st.text(min_size=1), "args": st.dictionaries(st.text(), JSON)}
                ),
                max_size=2,
            ),
            additional_kwargs=st.fixed_dictionaries({"sophos": st.dictionaries(st.text(), JSON)}),
        )
        | st.builds(ToolMessage, st.text(), tool_call_id=st.text(), id=st.uuids().map(str)),
        max_size=3,
    )
)
def test_messages_come_back_as_they_were(messages: list[BaseMessage]) -> None:
    serializer = StrictSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(messages)) == messages


def test_what_langgraph_itself_stores_comes_back() -> None:
    serializer = StrictSerializer()
    sends = [Send("tools", {"id": "1", "args": {}}), Send("tools", {"id": "2", "args": {"a": [1]}})]
    for value in (None, b"bytes", sends, ValueError("an error").args):
        assert serializer.loads_typed(serializer.dumps_typed(value)) in (
            value,
            list(value) if isinstance(value, tuple) else value,
        )


def test_what_is_large_is_compressed_and_what_does_not_shrink_is_not() -> None:
    serializer = StrictSerializer()
    kind, blob = serializer.dumps_typed("word " * 1000)
    assert kind == "msgpack+zlib"
    assert len(blob) < 200
    assert serializer.loads_typed((kind, blob)) == "word " * 1000
    assert serializer.dumps_typed("x" * (COMPRESS_FROM_BYTES - 10))[0] == "msgpack"
    assert serializer.dumps_typed(os.urandom(1000))[0] == "bytes"
