"""Exports of real conversations: whole files or none, beside the runs, one or many."""

import asyncio
import errno
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import TextDelta
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.history import CheckpointRecord
from sophos_desktop.core.export.checkpoint_lines import checkpoint_line
from sophos_desktop.core.runs import exporting
from sophos_desktop.core.store import checkpoints
from sophos_desktop.foundation.atomic_file import atomic_writer
from sophos_desktop.foundation.tasks import TaskOwner
from tests.support.core_fixture import PATIENCE_SECONDS, append, calls, ended, followed, say, until_event
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

MARKDOWN, CHECKPOINTS = ExportFormat.MARKDOWN, ExportFormat.CHECKPOINTS


async def document(core: Core, conversation_id: str, kind: ExportFormat = MARKDOWN) -> str:
    return "".join([piece async for piece in core.exports.document(conversation_id, kind)])


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    made = tmp_path / "exports #1 100%"
    made.mkdir()
    return made


async def test_everything_that_was_said_and_done_is_in_the_document(
    core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    server.script(
        calls(append(file, "one"), {"name": "lines__forget", "arguments": {"a": 1}}, text="I write."),
        Reply(thinking=("Hm, ", "well."), pieces=("Done ", "it.")),
        Reply(pieces=("Half",), ending="cut"),
    )
    handle, _ = await say(core, None, "Write *one*")
    await say(core, handle.conversation_id, "Again")
    text = await document(core, handle.conversation_id)
    parts = [
        "# Write \\*one\\*\n",
        f"- Conversation: `{handle.conversation_id}`\n",
        "\n\n## You · 2",
        "\n\nWrite *one*\n",
        "\n\n## Assistant · `smol:latest` · 2",
        "\n\nI write.\n",
        "\n\n### Tool call · `lines.append_line` · ok · ",
        f'"file": {json.dumps(str(file), ensure_ascii=False)}',
        "\n\nResult:\n\n```text\nappended one\n```\n",
        "\n\n### Tool call · `lines__forget` · error\n",
        "There is no tool called lines__forget",
        "\n\n> **Thinking**\n>\n> Hm, well.\n\nDone it.\n",
        "\n\nAgain\n",
        "\n\nHalf\n\n> **Incomplete** · the answer was cut off here\n",
        "\n\n> **Run failed** · `STREAM_INCOMPLETE` · 2",
    ]
    place = 0
    for part in parts:
        place = text.find(part, max(0, place - 1))
        assert place >= 0, f"{part!r} is not where it belongs in\n{text}"
        place += len(part)
    assert text == await document(core, handle.conversation_id), "the same again"


async def test_a_run_that_failed_without_an_answer_stands_behind_its_message(
    core: Core, server: OllamaServer
) -> None:
    handle, _ = await say(core, None, "One")
    await server.stop()
    await say(core, handle.conversation_id, "Two")
    await followed(await core.runs.resume(handle.conversation_id))
    tail = (await document(core, handle.conversation_id)).split("\n\nTwo\n")[1]
    assert tail.count("> **Run failed** · `ENGINE_UNREACHABLE`") == 2
    assert "## " not in tail


async def test_an_export_goes_on_beside_a_run_and_holds_what_was_stored_when_it_began(
    core: Core, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAGE_LENGTH", 2)
    monkeypatch.setattr(exporting, "_CHUNK_CHARACTERS", 1)
    handle, _ = await say(core, None, "One")
    before = (await document(core, handle.conversation_id, CHECKPOINTS)).splitlines()
    pieces = core.exports.document(handle.conversation_id, CHECKPOINTS)
    async with aclosing(pieces):
        lines = [await anext(pieces)]
        _, events = await say(core, handle.conversation_id, "Two")
        assert events
        lines += [piece async for piece in pieces]
    assert "".join(lines).splitlines() == before
    after = (await document(core, handle.conversation_id, CHECKPOINTS)).splitlines()
    assert after[: len(before)] == before
    assert [json.loads(line)["step"] for line in after] == list(range(-1, len(after) - 1))
    assert json.loads(after[-1])["last_message"]["text"] == "Hello!"


async def test_a_run_that_goes_on_is_shown_as_such(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("Slow", "ly"), hold_after=1))
    handle = await core.runs.start(None, "Go")
    await until_event(handle, TextDelta)
    assert (await document(core, handle.conversation_id)).endswith("\n\nGo\n\n> **Run in progress**\n")
    core.runs.stop(handle.conversation_id)
    await ended(handle)
    text = await document(core, handle.conversation_id)
    assert text.endswith("\n\nSlow\n\n> **Stopped** · the answer was stopped here\n")


async def test_one_file_gets_the_name_that_was_chosen_and_replaces_what_was_there(
    core: Core, folder: Path
) -> None:
    handle, _ = await say(core, None, "One")
    target = folder / "notes.md"
    target.write_text("old")
    assert await core.exports.write([handle.conversation_id], target, MARKDOWN) == [target]
    assert target.read_bytes().decode() == await document(core, handle.conversation_id)
    assert target.stat().st_mode & 0o777 == 0o600
    (named,) = await core.exports.write([handle.conversation_id], folder, CHECKPOINTS)
    assert named == folder / f"{handle.conversation_id}.checkpoints.jsonl"
    assert left_in(folder) == sorted([named.name, "notes.md"])


async def test_many_go_into_a_folder_with_their_progress(core: Core, folder: Path) -> None:
    ids = [(await say(core, None, text))[0].conversation_id for text in ("One", "Two", "Three")]
    seen: list[tuple[int, int]] = []
    target = folder / "new" / "deep"
    written = await core.exports.write(
        [*ids, ids[0]], target, MARKDOWN, lambda done, total: seen.append((done, total))
    )
    assert written == [target / f"{conversation_id}.md" for conversation_id in ids]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert [path.read_text().splitlines()[0] for path in written] == ["# One", "# Two", "# Three"]
    assert await core.exports.write([ids[0]], folder / "x", MARKDOWN, into_folder=True) == [
        folder / "x" / f"{ids[0]}.md"
    ]
    assert await core.exports.write([], folder / "none", MARKDOWN) == []


async def test_what_cannot_be_written_says_why_and_leaves_nothing(
    core: Core, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, _ = await say(core, None, "One")
    file = folder / "file.md"
    file.write_text("old")

    @contextmanager
    def full(path: Path) -> Iterator[BinaryIO]:
        with atomic_writer(path) as writer:
            writer.write(b"half of it")
            yield writer
            raise OSError(errno.ENOSPC, "No space left on device")

    async def refused(target: Path, *ids: str) -> SophosError:
        with pytest.raises(SophosError) as error:
            await core.exports.write(ids or [handle.conversation_id], target, MARKDOWN)
        assert error.value.code is ErrorCode.EXPORT_FAILED
        assert error.value.remedy
        assert (left_in(folder), file.read_text()) == (["file.md"], "old")
        return error.value

    missing = await refused(folder / "nowhere" / "x.md")
    assert missing.title == f"{folder / 'nowhere' / 'x.md'} cannot be written: No such file or directory"
    assert "Not a directory" in (await refused(file / "x.md")).title
    assert "File exists" in (await refused(file, handle.conversation_id, "another")).title
    assert "File name too long" in (await refused(folder / ("x" * 300))).title
    monkeypatch.setattr(exporting, "atomic_writer", full)
    no_space = await refused(file)
    assert "No space left on device" in no_space.title
    assert no_space.remedy.startswith("Free some space")


async def test_cancelling_leaves_no_half_file(
    core: Core, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [(await say(core, None, text))[0].conversation_id for text in ("One", "Two")]
    loop, reached, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    names = iter(ids)
    second = [False]

    def slow_line(record: CheckpointRecord) -> str:
        if record.step == -1:
            second[0] = next(names) == ids[1]
        if second[0]:
            loop.call_soon_threadsafe(reached.set)
            assert go_on.wait(PATIENCE_SECONDS)
        return checkpoint_line(record)

    monkeypatch.setattr(exporting, "checkpoint_line", slow_line)
    monkeypatch.setattr(exporting, "_CHUNK_CHARACTERS", 1)
    tasks = TaskOwner(lambda error: pytest.fail(str(error)))
    writing = tasks.spawn(core.exports.write(ids, folder, CHECKPOINTS), "export")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await reached.wait()
        writing.cancel()
        await asyncio.sleep(0)
        assert not writing.done(), "it waits for its thread"
        writing.cancel()
        go_on.set()
        await asyncio.wait([writing])
    assert writing.cancelled()
    assert left_in(folder) == [f"{ids[0]}.checkpoints.jsonl"], "what was done stays"


async def test_a_document_may_be_left_early(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_CHUNK_CHARACTERS", 1)
    handle, _ = await say(core, None, "One")
    for kind in ExportFormat:
        async with aclosing(core.exports.document(handle.conversation_id, kind)) as pieces:
            assert await anext(pieces)


async def test_a_thread_that_cannot_be_read_is_reported_and_the_others_are_written(
    core: Core, folder: Path
) -> None:
    bad, good = [(await say(core, None, text))[0].conversation_id for text in ("Bad", "Good")]
    with closing(sqlite3.connect(core.paths.database)) as connection, connection:
        connection.execute("UPDATE writes SET type = 'pickle', value = x'80' WHERE thread_id = ?", [bad])
    for kind in ExportFormat:
        with pytest.raises(SophosError) as alone:
            await core.exports.write([bad], folder / "x", kind)
        assert alone.value.code is ErrorCode.THREAD_UNREADABLE
        with pytest.raises(SophosError) as shown:
            await document(core, bad, kind)
        assert shown.value.code is ErrorCode.THREAD_UNREADABLE
    seen: list[int] = []
    with pytest.raises(SophosError) as among_many:
        await core.exports.write([bad, good], folder, MARKDOWN, lambda done, _: seen.append(done))
    assert among_many.value.code is ErrorCode.THREAD_UNREADABLE
    assert bad in among_many.value.title
    assert (seen, left_in(folder)) == ([1, 2], [f"{good}.md"])


async def test_a_conversation_that_is_not_there_is_said_so(core: Core, folder: Path) -> None:
    for kind in ExportFormat:
        with pytest.raises(SophosError) as missing:
            await core.exports.write(["nothing"], folder / "x", kind)
        assert missing.value.code is ErrorCode.NOT_FOUND
    assert left_in(folder) == []
