"""Results that are more than a short text: whole for the user, bounded in the thread, gone when deleted."""

import asyncio
import base64
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import AttachmentRef, Message
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ToolCallFinished
from sophos_desktop.core.domain.exports import ExportFormat
from tests.core.store.store_fixture import connected, rows_of
from tests.support.core_fixture import (
    PROJECT,
    calls,
    end_of,
    facts,
    open_test_core,
    paths_of,
    say,
    until_let_go,
)
from tests.support.ollama_server import OllamaServer

RICH: Mapping[str, Mapping[str, Any]] = {
    "rich": {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.rich_results"],
        "cwd": str(PROJECT),
        "approval": "allow",
    }
}
MARKER = "marker-7f3c2d1e-of-this-test"
HUGE_BYTES = 60_000_000


@pytest.fixture(name="rich_core")
async def _rich_core(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    async with open_test_core(data_dir, server, mcp=RICH) as opened:
        yield opened


def rich(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": f"rich__{tool}", "arguments": {"marker": MARKER, **arguments}}


async def result_of(core: Core, conversation_id: str) -> tuple[Message, AttachmentRef]:
    """The only result of a conversation, and what holds the whole of it."""
    messages = await core.conversations.messages(conversation_id)
    (found,) = [message for message in messages if message.tool_call_id]
    (ref,) = found.attachments
    return found, ref


@pytest.mark.parametrize("tool", ["image", "structured"])
async def test_what_is_more_than_text_is_there_as_the_protocol_gave_it(
    rich_core: Core, server: OllamaServer, tool: str
) -> None:
    server.script(calls(rich(tool)), "I see.")
    handle, events = await say(rich_core, None, "Show me")
    assert end_of(events).status == "completed"
    message, ref = await result_of(rich_core, handle.conversation_id)
    kept = await rich_core.conversations.attachment(ref.sha256)
    assert kept.ref == ref
    whole = json.loads(kept.content)
    result = await rich_core.conversations.tool_result(handle.conversation_id, str(message.tool_call_id))
    assert list(result.content) == whole["content"]
    if tool == "image":
        assert message.text == f"Here:\n[image, image/png, {len(MARKER)} bytes]"
        assert base64.b64decode(result.content[1]["data"]).decode() == MARKER
        assert result.meta == {"note": MARKER}
    else:
        assert message.text == "a weather report"
        assert result.structured == {"sky": MARKER, "none": None}
    part = await rich_core.conversations.attachment(ref.sha256[:8])
    assert part.content == kept.content


async def test_a_short_result_is_given_as_its_text(rich_core: Core, server: OllamaServer) -> None:
    server.script(calls(rich("huge", size_bytes=200)), "I see.")
    handle, _ = await say(rich_core, None, "Show me")
    messages = await rich_core.conversations.messages(handle.conversation_id)
    assert [message.attachments for message in messages] == [()] * 4
    call_id = str(messages[2].tool_call_id)
    result = await rich_core.conversations.tool_result(handle.conversation_id, call_id)
    assert list(result.content) == [{"type": "text", "text": messages[2].text}]
    for missing in (
        rich_core.conversations.tool_result(handle.conversation_id, "none:0"),
        rich_core.conversations.attachment("0" * 64),
    ):
        with pytest.raises(SophosError) as caught:
            await missing
        assert caught.value.code is ErrorCode.NOT_FOUND


async def test_sixty_megabytes_are_whole_for_the_user_and_a_head_everywhere_else(
    rich_core: Core, data_dir: Path, server: OllamaServer
) -> None:
    server.script(calls(rich("huge", size_bytes=HUGE_BYTES)), "That was long.")
    handle = await rich_core.runs.start(None, "Go")
    async with asyncio.timeout(90):
        events = [event async for event in handle.events()]
    assert end_of(events).status == "completed"
    (told,) = facts(events, ToolCallFinished)
    message, ref = await result_of(rich_core, handle.conversation_id)
    assert told.text == message.text
    assert len(message.text) < 257_000
    assert message.text.endswith(f"it is kept whole as attachment {ref.sha256[:8]} …]")
    assert len(json.dumps(server.chats[-1].body)) < 100_000
    result = await rich_core.conversations.tool_result(handle.conversation_id, str(message.tool_call_id))
    text = result.content[0]["text"]
    assert len(text) == HUGE_BYTES
    assert text.startswith(MARKER)
    assert text.endswith(MARKER)
    database = paths_of(data_dir).database
    assert rows_of(database, "SELECT result FROM tool_attempts") == [(None,)]
    thread_bytes = "SELECT sum(length(checkpoint)) FROM checkpoints", "SELECT sum(length(value)) FROM writes"
    assert sum(rows_of(database, statement)[0][0] for statement in thread_bytes) < 1_000_000
    pieces = rich_core.exports.document(handle.conversation_id, ExportFormat.MARKDOWN)
    document = "".join([piece async for piece in pieces])
    assert f"```\n\n\\[result of 60.0 MB, kept whole as attachment {ref.sha256[:8]}\\]\n" in document
    assert len(document) < 300_000


def traces_of(data_dir: Path, marker: str) -> list[str]:
    """The files of the store that hold the marker."""
    database = paths_of(data_dir).database
    files = [database, *database.parent.glob("sophos.db-*")]
    return [file.name for file in files if marker.encode() in file.read_bytes()]


async def test_deleting_a_conversation_leaves_nothing_of_its_attachments_in_the_files(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, mcp=RICH) as core:
        database = paths_of(data_dir).database
        ids = []
        for tool in (rich("huge", size_bytes=2_000_000), rich("structured")):
            server.script(calls(tool), "There.")
            handle, _ = await say(core, None, "Go")
            await until_let_go(core, handle)
            ids.append(handle.conversation_id)
        assert len(rows_of(database, "SELECT 1 FROM attachments")) == 2
        assert traces_of(data_dir, MARKER)
        await core.conversations.delete(ids[0])
        assert len(rows_of(database, "SELECT 1 FROM attachments")) == 1
        await core.conversations.delete(ids[1])
        assert rows_of(database, "SELECT sha256 FROM attachment_uses") == []
    assert traces_of(data_dir, MARKER) == []


async def test_what_two_conversations_hold_stays_until_the_second_is_deleted(
    rich_core: Core, server: OllamaServer
) -> None:
    ids = []
    for _ in range(2):
        server.script(calls(rich("structured")), "Sky.")
        handle, _ = await say(rich_core, None, "Go")
        await until_let_go(rich_core, handle)
        ids.append(handle.conversation_id)
    _, ref = await result_of(rich_core, ids[0])
    assert (await result_of(rich_core, ids[1]))[1] == ref
    await rich_core.conversations.delete(ids[0])
    assert (await rich_core.conversations.attachment(ref.sha256)).ref == ref
    await rich_core.conversations.delete(ids[1])
    with pytest.raises(SophosError) as caught:
        await rich_core.conversations.attachment(ref.sha256)
    assert caught.value.code is ErrorCode.NOT_FOUND


async def test_a_deletion_that_was_cut_off_takes_the_attachments_along_at_the_next_start(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, mcp=RICH) as core:
        server.script(calls(rich("structured")), "Sky.")
        await say(core, None, "Go")
    with connected(paths_of(data_dir).database) as other:
        other.execute("UPDATE conversations SET deleted_at = '2026-01-01T00:00:00.000Z'")
    async with open_test_core(data_dir, server):
        assert rows_of(paths_of(data_dir).database, "SELECT sha256 FROM attachments") == []
        assert rows_of(paths_of(data_dir).database, "SELECT sha256 FROM attachment_uses") == []
