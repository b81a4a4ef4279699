"""A thread whose newest rows are gone is reported with both numbers, never taken for a shorter one."""

from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from tests.core.runs.test_recovery import change
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    followed,
    lines_of,
    open_test_core,
    paths_of,
    say,
    until_let_go,
)
from tests.support.ollama_server import OllamaServer

_NEWEST = "(SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id DESC LIMIT {})"
CUTS = [
    (
        f"DELETE FROM checkpoints WHERE checkpoint_id IN {_NEWEST.format(3)}",
        f"DELETE FROM writes WHERE checkpoint_id IN {_NEWEST.format(3)}",
    ),
    ("DELETE FROM checkpoints", "DELETE FROM writes"),
    (
        "UPDATE writes SET value ="
        " (SELECT value FROM writes WHERE channel = 'messages' ORDER BY rowid LIMIT 1)"
        " WHERE rowid = (SELECT max(rowid) FROM writes WHERE channel = 'messages')",
    ),
]


@pytest.mark.parametrize("cut", CUTS)
async def test_a_thread_whose_newest_rows_are_gone_is_neither_shown_nor_exported_nor_continued(
    data_dir: Path, server: OllamaServer, cut: tuple[str, ...]
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        await until_let_go(core, handle)
        await say(core, handle.conversation_id, "Again")
        assert len(await core.conversations.messages(handle.conversation_id)) == 4
    for statement in reversed(cut):  # writes first: the others name the newest checkpoints
        change(data_dir, statement)
    async with open_test_core(data_dir, server) as core:
        for refused in (
            core.conversations.messages(handle.conversation_id),
            core.exports.write([handle.conversation_id], data_dir / "out.md", ExportFormat.MARKDOWN),
            core.exports.write([handle.conversation_id], data_dir / "out.jsonl", ExportFormat.CHECKPOINTS),
            core.runs.resume(handle.conversation_id),
        ):
            with pytest.raises(SophosError) as caught:
                await refused
            assert caught.value.code is ErrorCode.THREAD_UNREADABLE
            assert "of the 4 messages that were counted in it" in caught.value.title
        stored = rows_of(paths_of(data_dir).database, "SELECT count(*) FROM checkpoints")
        _, events = await say(core, handle.conversation_id, "And now?")
        assert (end_of(events).status, end_of(events).error_code) == ("failed", "THREAD_UNREADABLE")
        assert rows_of(paths_of(data_dir).database, "SELECT count(*) FROM checkpoints") == stored
        assert (await core.conversations.find(handle.conversation_id)).draft == "And now?"
        (threads,) = [check for check in await core.doctor.examine() if check.id == "threads"]
        assert not threads.ok


async def test_a_call_whose_result_was_let_go_is_never_made_anew_where_the_thread_lost_it(
    data_dir: Path, server: OllamaServer, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        server.script(calls(append(file, "x")))
        handle = await core.runs.start(None, "Go")
        await followed(handle)
        await until_let_go(core, handle)
    database = paths_of(data_dir).database
    newest = rows_of(
        database, "SELECT DISTINCT checkpoint_id FROM writes WHERE channel = 'messages' ORDER BY 1 DESC"
    )
    # As after a kill before the outcome: the tools step is open again, and nothing was counted.
    after_tools, tools = newest[0][0], newest[1][0]
    change(data_dir, "DELETE FROM checkpoints WHERE checkpoint_id >= ?", after_tools)
    change(data_dir, "DELETE FROM writes WHERE checkpoint_id >= ?", tools)
    change(data_dir, "UPDATE conversations SET message_count = 0")
    change(data_dir, "UPDATE runs SET unfinished = 1")
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        with pytest.raises(SophosError) as caught:
            await core.runs.resume(handle.conversation_id)
        assert caught.value.code is ErrorCode.THREAD_UNREADABLE
        assert "1 result that it held is not in it" in caught.value.title
        assert "The newest state that can be read is of" in caught.value.remedy
    assert lines_of(file) == ["x"]


async def test_a_run_that_was_killed_over_a_thread_that_lost_its_message_is_reported(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
    change(data_dir, "DELETE FROM checkpoints")
    change(data_dir, "DELETE FROM writes")
    change(data_dir, "UPDATE conversations SET message_count = 0")
    change(data_dir, "UPDATE runs SET status = 'running', owner = 'gone', finished_at = NULL")
    async with open_test_core(data_dir, server) as core:
        (found,) = core.recovered
        assert found.status.value == "failed"
        assert "1 message that it held is not in it" in found.what
    assert handle.run_id == found.run_id
