"""Bytes that are not those that were attached are never handed out as them, and people are told."""

from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from tests.core.runs.attaching_records import NOTES
from tests.core.runs.test_recovery import change
from tests.support.core_fixture import end_of, facts, followed, open_test_core, say, until_let_go
from tests.support.ollama_server import OllamaServer

CHANGED = "UPDATE attachments SET content = x'6d6967687420626520616e797468696e67'"
MISSING = "DELETE FROM attachments"


@pytest.mark.parametrize("damage", [CHANGED, MISSING])
async def test_what_is_damaged_or_missing_is_told_to_the_model_and_to_the_user(
    data_dir: Path, server: OllamaServer, damage: str
) -> None:
    async with open_test_core(data_dir, server) as core:
        notes = await core.attachments.add(None, "notes.txt", NOTES)
        handle = await core.runs.start(None, "Look", attachments=[notes])
        await followed(handle)
        await until_let_go(core, handle)
        change(data_dir, damage)
        _, events = await say(core, handle.conversation_id, "And now?")
        assert end_of(events).status == "completed"
        (notice,) = facts(events, Notice)
        assert notice.code == NoticeCode.ATTACHMENT_UNREADABLE
        assert "“notes.txt”" in notice.text
        prompt = str(server.requests[-1].body)
        assert "It could not be read" in prompt
        assert "might be anything" not in prompt
        (journal,) = [check for check in await core.doctor.examine() if check.id == "journal"]
        assert not journal.ok
        assert notes.sha256[:8] in journal.text


async def test_changed_bytes_are_handed_out_nowhere(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        notes = await core.attachments.add(None, "notes.txt", NOTES)
        assert await core.attachments.content(notes.sha256) == NOTES
        change(data_dir, CHANGED)
        for read in (core.attachments.content(notes.sha256), core.conversations.attachment(notes.sha256)):
            with pytest.raises(SophosError) as caught:
                await read
            assert caught.value.code is ErrorCode.STORE_CORRUPT
            assert notes.sha256[:8] in caught.value.title
