"""Who may run: one claim per conversation, across connections; states change along the legal ways alone."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import LEGAL_TRANSITIONS, RunStatus
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.drafts import DraftStore
from sophos_desktop.core.store.rows import tool_result_from_text, tool_result_to_text
from sophos_desktop.core.store.runs import Outcome, RunStore
from sophos_desktop.foundation.clock import SystemClock
from tests.core.store.store_fixture import a_claim, connected, open_database, rows_of

CLOCK = SystemClock()


async def test_of_many_claims_over_two_connections_one_is_granted(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as one, open_database(path) as other:
        first = a_claim()
        await RunStore(one, CLOCK).claim(first)
        await RunStore(one, CLOCK).finish(first.run_id, Outcome(RunStatus.COMPLETED), owner="owner")
        claims = [RunStore(one if i % 2 else other, CLOCK) for i in range(8)]
        results = await asyncio.gather(
            *(store.claim(a_claim(first.conversation_id)) for store in claims), return_exceptions=True
        )
        outcomes = Counter(getattr(result, "code", "granted") for result in results)
        assert outcomes == {"granted": 1, ErrorCode.SESSION_IN_PROGRESS: 7}
        assert rows_of(path, "SELECT count(*) FROM runs WHERE status = 'running'") == [(1,)]


async def test_a_claim_on_a_conversation_that_waits_says_what_it_waits_for(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, claim = RunStore(database, CLOCK), a_claim()
        await store.claim(claim)
        assert await store.finish(claim.run_id, Outcome(RunStatus.WAITING), owner="owner")
        with pytest.raises(SophosError) as caught:
            await store.claim(a_claim(claim.conversation_id))
        assert caught.value.code is ErrorCode.APPROVAL_PENDING


async def test_a_refused_claim_changes_nothing(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, conversations, claim = (
            RunStore(database, CLOCK),
            ConversationStore(database, CLOCK),
            a_claim(),
        )
        await store.claim(claim)
        await DraftStore(database, "owner").save(claim.conversation_id, "still being written")
        with pytest.raises(SophosError):
            await store.claim(a_claim(claim.conversation_id))
        kept = await conversations.get(claim.conversation_id)
        assert kept is not None
        assert kept.draft == "still being written"


async def test_a_claim_on_a_deleted_conversation_finds_nothing(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, claim = RunStore(database, CLOCK), a_claim()
        await store.claim(claim)
        await store.finish(claim.run_id, Outcome(RunStatus.COMPLETED), owner="owner")
        assert await ConversationStore(database, CLOCK).bury(claim.conversation_id)
        with pytest.raises(SophosError) as caught:
            await store.claim(a_claim(claim.conversation_id))
        assert caught.value.code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("before", list(RunStatus))
async def test_a_state_changes_along_the_legal_ways_alone(tmp_path: Path, before: RunStatus) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database:
        store, claim = RunStore(database, CLOCK), a_claim()
        await store.claim(claim)
        for after in RunStatus:
            with connected(path) as other:
                other.execute("UPDATE runs SET status = ?, owner = 'owner'", (before.value,))
            allowed = after in LEGAL_TRANSITIONS[before]
            if after is RunStatus.RUNNING:
                changed = await store.reclaim(claim.run_id, "owner")
            else:
                changed = await store.finish(claim.run_id, Outcome(after), owner="owner")
            assert changed == allowed, (before, after)
            assert rows_of(path, "SELECT status FROM runs") == [((after if allowed else before).value,)]


async def test_only_the_owner_of_a_row_records_its_outcome(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, claim = RunStore(database, CLOCK), a_claim()
        await store.claim(claim)
        for owner in ("another", None):
            assert not await store.finish(claim.run_id, Outcome(RunStatus.COMPLETED), owner=owner)
        record = await store.get(claim.run_id)
        assert record is not None
        assert record.status is RunStatus.RUNNING


async def test_text_that_comes_back_stands_above_what_was_typed_meanwhile(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, conversations = RunStore(database, CLOCK), ConversationStore(database, CLOCK)
        claim = a_claim(text="first")
        await store.claim(claim)
        await DraftStore(database, "owner").save(claim.conversation_id, "second")
        outcome = Outcome(RunStatus.INTERRUPTED, draft="first")
        await store.finish(claim.run_id, outcome, owner="owner")
        kept = await conversations.get(claim.conversation_id)
        assert kept is not None
        assert kept.draft == "first\n\nsecond"


async def test_signs_of_patterns_in_titles_and_ids_are_taken_literally(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, conversations = RunStore(database, CLOCK), ConversationStore(database, CLOCK)
        titles = ["100% sure", "100 per cent", "a_b", "aXb", "back\\slash", "It's"]
        for title in titles:
            await store.claim(a_claim(text=title))
        for query, expected in [
            ("%", ["100% sure"]),
            ("_", ["a_b"]),
            ("\\", ["back\\slash"]),
            ("'", ["It's"]),
            ("A_B", ["a_b"]),
            ("100", ["100 per cent", "100% sure"]),
        ]:
            found = [entry.title for entry in await conversations.find_all(query=query)]
            assert sorted(found) == sorted(expected), query
        for part in ("%%%%", "____", "\\\\\\\\"):
            assert list(await conversations.ids_like(part)) == []
        (first, *_) = await conversations.find_all()
        for part in (first.id[-8:], first.id.replace("-", "").upper(), first.id):
            assert list(await conversations.ids_like(part)) == [first.id]


async def test_half_a_surrogate_pair_is_stored_as_a_question_mark(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store, conversations = RunStore(database, CLOCK), ConversationStore(database, CLOCK)
        claim = a_claim(text="broken \ud83d, whole 🦉")
        record = await store.claim(claim)
        assert record.input_text == "broken ?, whole 🦉"
        assert [entry.title for entry in await conversations.find_all(query="\ud83d")] == [
            "broken ?, whole 🦉"
        ]


async def test_the_latest_model_is_that_of_the_newest_completed_run(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        store = RunStore(database, CLOCK)
        assert await store.latest_model("ollama") is None
        for model, status in [
            ("old", RunStatus.COMPLETED),
            ("new", RunStatus.COMPLETED),
            ("bad", RunStatus.FAILED),
        ]:
            claim = a_claim()
            await store.claim(claim)
            await store.note_model(claim.run_id, "ollama", model)
            await store.finish(claim.run_id, Outcome(status), owner="owner")
        assert await store.latest_model("ollama") == "new"
        assert await store.latest_model("starter") is None


def test_a_recorded_result_comes_back_as_it_was() -> None:
    for result in (
        ToolResult("text", content=({"type": "text", "text": "text"},)),
        ToolResult("half a pair \ud800", is_error=True, lost=True),
    ):
        assert tool_result_from_text(tool_result_to_text(result)) == result
