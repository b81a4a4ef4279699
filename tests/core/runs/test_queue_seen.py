"""Who says what he saw in the queue changes that alone; what another window queued meanwhile stays."""

from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.queued import NOTHING, Queued
from tests.core.runs.attaching_records import NOTES, agree
from tests.core.runs.test_attaching_moves import answered
from tests.support.core_fixture import followed, open_test_core
from tests.support.ollama_server import OllamaServer


async def test_nothing_but_what_was_seen_is_removed_replaced_or_sent(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation = await answered(core)
        await core.queue.put(conversation, "Mine")
        seen = await core.queue.waiting(conversation)
        assert seen == Queued("Mine")
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        assert await core.queue.put(conversation, "Mine", [notes], seen=seen)
        now = Queued("Mine", (notes,))
        assert not await core.queue.remove(conversation, seen=seen)
        assert not await core.queue.remove(conversation, to_draft=True, seen=NOTHING)
        assert not await core.queue.put(conversation, "Other", seen=seen)
        with pytest.raises(SophosError, match="changed meanwhile") as caught:
            await core.queue.send(conversation, seen=seen)
        assert caught.value.code is ErrorCode.NOT_FOUND
        assert await core.queue.waiting(conversation) == now
        assert await agree(core)
        await followed(await core.queue.send(conversation, seen=now))
        assert await core.queue.waiting(conversation) == NOTHING


async def test_what_is_added_goes_behind_what_waits_even_if_it_says_the_same(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation = await answered(core)
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        assert await core.queue.add(conversation, "ok", [notes]) == Queued("ok", (notes,))
        assert await core.queue.add(conversation, "ok") == Queued("ok\n\nok", (notes,))
        assert await agree(core)
