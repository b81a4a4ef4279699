"""What is in the composer is lost neither by a kill nor by somebody else's message."""

from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.support.core_fixture import open_test_core, say
from tests.support.ollama_server import OllamaServer


async def test_a_message_leaves_a_draft_alone_that_says_something_else(data_dir: Path) -> None:
    async with OllamaServer() as server, open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "First")
        await core.conversations.save_draft(handle.conversation_id, "not sent yet")
        await say(core, handle.conversation_id, "Second")
        assert await core.conversations.draft(handle.conversation_id) == "not sent yet"


@pytest.mark.parametrize("saved", ["Second", "Sec", "Second \n"])
async def test_a_message_takes_the_draft_along_that_was_saved_while_it_was_typed(
    data_dir: Path, saved: str
) -> None:
    async with OllamaServer() as server, open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "First")
        await core.conversations.save_draft(handle.conversation_id, saved)
        await say(core, handle.conversation_id, "Second")
        assert await core.conversations.draft(handle.conversation_id) == ""


async def test_resume_says_that_what_was_written_last_is_kept_as_the_draft(data_dir: Path) -> None:
    async with OllamaServer() as server, open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "First")
        await core.conversations.save_draft(handle.conversation_id, "precious")
        with pytest.raises(SophosError) as caught:
            await core.runs.resume(handle.conversation_id)
    assert caught.value.code is ErrorCode.RUN_NOT_RESUMABLE
    assert "kept as the draft" in caught.value.title
