"""Two processes write a draft of one conversation: neither takes away what the other one holds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.drafts import Draft, holds, together
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import followed, open_test_core, paths_of, say
from tests.support.ollama_server import OllamaServer


@asynccontextmanager
async def two_cores(data_dir: Path) -> AsyncIterator[tuple[Core, Core, str]]:
    """Two owners of one file, and a conversation."""
    async with (
        OllamaServer() as server,
        open_test_core(data_dir, server) as one,
        open_test_core(data_dir, server) as other,
    ):
        handle, _ = await say(one, None, "First")
        yield one, other, handle.conversation_id


def kept_beside(data_dir: Path) -> list[str]:
    """The texts beside shared drafts, as they lie in the file."""
    found = rows_of(
        paths_of(data_dir).database,
        "SELECT value FROM app_state WHERE key LIKE 'draft.beside:%' ORDER BY key",
    )
    return [row[0] for row in found]


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_text_that_another_window_has_not_seen_is_kept_and_so_is_that_ones_own(
    data_dir: Path, is_new: bool
) -> None:
    async with two_cores(data_dir) as (one, other, conversation_id):
        where = None if is_new else conversation_id
        assert await one.conversations.save_draft(where, "of the one", seen="") == Draft(
            "of the one", "of the one"
        )
        kept = await other.conversations.save_draft(where, "of the other", seen="")
        assert (kept, kept.other) == (Draft("of the other", "of the one"), "of the one")
        assert await one.conversations.draft_here(where) == Draft("of the one", "of the one")
        assert await other.conversations.draft_here(where) == kept
        # Each goes on as it began.
        assert (await one.conversations.save_draft(where, "of the one!", seen="of the one")).other == ""
        kept = await other.conversations.save_draft(where, "of the other!", seen="")
        assert kept == Draft("of the other!", "of the one!")


async def test_who_has_seen_the_other_text_or_holds_it_takes_its_place(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, other, where):
        await one.conversations.save_draft(where, "of the one", seen="")
        await other.conversations.save_draft(where, "of the other", seen="")
        assert kept_beside(data_dir) == ["of the other"]
        kept = await other.conversations.save_draft(where, "of the one\nof the other", seen="")
        assert kept.shared == "of the one\nof the other"
        assert kept_beside(data_dir) == []
        kept = await one.conversations.save_draft(where, "all new", seen=kept.shared)
        assert kept.shared == "all new"


async def test_a_draft_that_was_emptied_elsewhere_is_in_nobodys_way(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, other, where):
        await one.conversations.save_draft(where, "of the one", seen="")
        await other.conversations.save_draft(where, "of the other", seen="")
        await one.conversations.save_draft(where, "", seen="of the one")
        assert (await other.conversations.save_draft(where, "of the other!", seen="")).other == ""
        assert await one.conversations.draft(where) == "of the other!"
        assert kept_beside(data_dir) == []


async def test_an_emptied_text_is_kept_beside_no_longer(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, other, where):
        await one.conversations.save_draft(where, "of the one", seen="")
        await other.conversations.save_draft(where, "of the other", seen="")
        kept = await other.conversations.save_draft(where, " ", seen="")
        assert (kept.shared, kept.other) == ("of the one", "")
        assert kept_beside(data_dir) == []


async def test_a_message_takes_its_own_draft_along_and_leaves_the_other_windows(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, other, where):
        await one.conversations.save_draft(where, "of the one", seen="")
        await other.conversations.save_draft(where, "of the other", seen="")
        await followed(await other.runs.start(where, "of the other"))
        assert kept_beside(data_dir) == []
        assert await other.conversations.draft_here(where) == Draft("of the one", "of the one")
        await other.conversations.save_draft(where, "next", seen="")
        await followed(await one.runs.start(where, "of the one"))
        assert await other.conversations.draft_here(where) == Draft("next", "")


@pytest.mark.parametrize("is_new", [True, False])
async def test_what_a_window_that_is_gone_kept_beside_goes_below_the_shared_draft(
    data_dir: Path, is_new: bool
) -> None:
    async with OllamaServer() as server, open_test_core(data_dir, server) as one:
        handle, _ = await say(one, None, "First")
        where = None if is_new else handle.conversation_id
        await one.conversations.save_draft(where, "of the one", seen="")
        async with open_test_core(data_dir, server) as other:
            await other.conversations.save_draft(where, "of the other", seen="")
            async with open_test_core(data_dir, server) as third:
                assert await third.conversations.draft(where) == "of the one"  # the other one still lives
        async with open_test_core(data_dir, server) as later:
            assert await later.conversations.draft(where) == "of the one\n\nof the other"
        assert kept_beside(data_dir) == []
        assert await one.conversations.draft(where) == "of the one\n\nof the other"


async def test_a_deletion_takes_what_was_kept_beside_along(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, other, where):
        await one.conversations.save_draft(where, "of the one", seen="")
        await other.conversations.save_draft(where, "QJX-of-the-other", seen="")
        await other.conversations.save_draft(None, "of a new chat", seen="never")
        await one.conversations.delete(where)
        assert kept_beside(data_dir) == []
        assert await other.conversations.save_draft(where, "typed since", seen="") == Draft(
            "typed since", "typed since"
        )
        assert kept_beside(data_dir) == []
        assert await one.conversations.draft(None) == "of a new chat"
    database = paths_of(data_dir).database
    assert b"QJX-of-the-other" not in database.read_bytes()


async def test_half_a_character_is_no_difference(data_dir: Path) -> None:
    async with two_cores(data_dir) as (one, _other, where):
        kept = await one.conversations.save_draft(where, "half \ud83e", seen="")
        assert kept == Draft("half ?", "half ?")
        kept = await one.conversations.save_draft(where, "half", seen="half \ud83e")
        assert kept == Draft("half", "half")


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("anything", "", True),
        ("anything", "  \n ", True),
        ("one\ntwo", "one", True),
        ("one\n\n two ", "one\ntwo", True),
        ("one\ntwo and more", "one\n\ntwo", True),
        ("before\none", "one", True),
        ("banana", "nana", False),
        ("one", "one\ntwo", False),
        ("", "one", False),
    ],
)
def test_a_text_holds_another_that_it_says_from_the_beginning_of_a_line(
    text: str, part: str, expected: bool
) -> None:
    assert holds(text, part) is expected
    assert holds(together(part, text), text)
    assert holds(together(part, text), part)
