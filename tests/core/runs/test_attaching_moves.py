"""What goes with a message is in one place, whatever becomes of the message: queued, taken back, not sent."""

from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.attaching import made_attachment
from sophos_desktop.core.domain.errors import SophosError
from tests.core.runs.attaching_records import NOTES, PNG, agree, contents, uses
from tests.core.runs.test_recovery import change
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    ended,
    followed,
    open_test_core,
    say,
    until_let_go,
)
from tests.support.ollama_server import OllamaServer

# In the queue


async def answered(core: Core) -> str:
    """A conversation whose run is over."""
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    return handle.conversation_id


async def test_a_queued_message_keeps_what_is_attached_until_it_is_sent(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation = await answered(core)
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        await core.queue.put(conversation, "Look", [notes])
        assert await core.attachments.of_draft(conversation) == []
        assert await agree(core)
    async with open_test_core(data_dir, server) as core:
        assert await core.attachments.of_queued(conversation) == [notes]
        image = await core.attachments.add(conversation, "owl.png", PNG)
        await core.queue.put(conversation, "Look at both", [notes, image])
        handle = await core.queue.send(conversation)
        assert end_of(await followed(handle)).status == "completed"
        question = (await core.conversations.messages(conversation))[-2]
        assert (question.text, question.attachments) == ("Look at both", (notes, image))
        assert await core.attachments.of_queued(conversation) == []
        assert {kind for kind, _ in uses(core)} == {"message"}
        assert await agree(core)


async def test_a_queued_message_that_is_nothing_but_an_attachment_is_sent(core: Core) -> None:
    conversation = await answered(core)
    notes = await core.attachments.add(conversation, "notes.txt", NOTES)
    with pytest.raises(SophosError, match="is empty"):
        await core.queue.put(conversation, "")
    await core.queue.put(conversation, "", [notes])
    assert await core.queue.get(conversation) == ""
    await followed(await core.queue.send(conversation))
    assert (await core.conversations.messages(conversation))[-2].attachments == (notes,)


async def test_what_is_taken_back_goes_to_the_draft_or_is_gone(core: Core) -> None:
    conversation = await answered(core)
    notes = await core.attachments.add(conversation, "notes.txt", NOTES)
    await core.queue.put(conversation, "Look", [notes])
    image = await core.attachments.add(conversation, "owl.png", PNG)
    assert await core.queue.remove(conversation, to_draft=True)
    assert await core.attachments.of_draft(conversation) == [notes, image]
    await core.queue.put(conversation, "Look", [notes])
    assert await core.queue.remove(conversation)
    assert not await core.queue.remove(conversation, to_draft=True)
    assert uses(core) == {("draft", "owl.png")}
    assert contents(core) == 1


async def test_a_queued_message_in_place_of_another_holds_only_its_own(core: Core) -> None:
    conversation = await answered(core)
    notes = await core.attachments.add(conversation, "notes.txt", NOTES)
    await core.queue.put(conversation, "Look", [notes])
    await core.queue.put(conversation, "No")
    assert (uses(core), contents(core)) == (set(), 0)
    with pytest.raises(SophosError, match="not attached any more"):
        await core.queue.put(conversation, "Look", [notes])
    assert await core.queue.get(conversation) == "No"


async def test_deny_all_and_send_takes_what_is_queued_and_what_is_attached_along(
    data_dir: Path, server: OllamaServer
) -> None:
    asking = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
    async with open_test_core(data_dir, server, mcp=asking) as core:
        server.script(calls(append(data_dir / "lines.txt", "x")))
        handle = await core.runs.start(None, "Go")
        assert end_of(await followed(handle)).status == "waiting"
        conversation = handle.conversation_id
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        await core.queue.put(conversation, "Then look", [notes])
        image = await core.attachments.add(conversation, "owl.png", PNG)
        server.script("Fine.")
        sent = await core.queue.deny_all_and_send(conversation, "And at this", [image])
        assert end_of(await followed(sent)).status == "completed"
        question = (await core.conversations.messages(conversation))[-2]
        assert (question.text, question.attachments) == ("Then look\n\nAnd at this", (notes, image))


@pytest.mark.parametrize(
    ("queued", "typed", "sent"),
    [
        (None, "b", "b"),
        ("a", "b", "a\n\nb"),
        ("a", "a\n\nb", "a\n\nb"),
        ("a\n\nb", "b", "a\n\nb"),
        ("a", "", "a"),
    ],
)
async def test_what_is_queued_already_goes_first_and_once(
    core: Core, queued: str | None, typed: str, sent: str
) -> None:
    conversation = await answered(core)
    if queued is not None:
        await core.queue.put(conversation, queued)
    own = made_attachment("notes.txt", NOTES)
    await followed(await core.queue.deny_all_and_send(conversation, typed, [own]))
    assert (await core.conversations.messages(conversation))[-2].text == sent


# Where the message did not arrive


async def test_a_message_that_never_reached_the_thread_comes_back_with_what_was_attached(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation = await answered(core)
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        handle = await core.runs.start(conversation, "", attachments=[notes])
        await followed(handle)
        await until_let_go(core, handle)
        image = await core.attachments.add(conversation, "owl.png", PNG)
        await core.conversations.save_draft(conversation, "typed meanwhile")
    # As if the process had been killed right after the claim: the message is another one, and nowhere.
    change(data_dir, "UPDATE attachment_uses SET ref = 'lost' WHERE kind = 'message'")
    change(
        data_dir,
        """UPDATE runs SET status = 'running', owner = 'dead', finished_at = NULL, input_text = '',
           input_message_id = 'lost' WHERE id = ?""",
        handle.run_id,
    )
    async with open_test_core(data_dir, server) as core:
        assert await core.attachments.of_draft(conversation) == [notes, image]
        assert await core.conversations.draft(conversation) == "typed meanwhile"
        assert {kind for kind, _ in uses(core)} == {"draft"}
        with pytest.raises(SophosError, match="kept as the draft"):
            change(data_dir, "UPDATE conversations SET draft = ''")
            await core.runs.resume(conversation)
        again = await core.runs.start(conversation, "Once more", attachments=[notes, image])
        assert end_of(await followed(again)).status == "completed"


async def test_a_run_that_is_stopped_before_it_began_gives_it_back(core: Core, server: OllamaServer) -> None:
    conversation = await answered(core)
    notes = await core.attachments.add(conversation, "notes.txt", NOTES)
    handle = await core.runs.start(conversation, "Look", attachments=[notes])
    core.runs.stop(conversation)
    assert (await ended(handle)).status == "cancelled"
    assert await core.conversations.draft(conversation) == "Look"
    assert await core.attachments.of_draft(conversation) == [notes]
    assert uses(core) == {("draft", "notes.txt")}


async def test_where_nobody_knows_whether_it_arrived_both_keep_it(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation = await answered(core)
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        handle = await core.runs.start(conversation, "Look", attachments=[notes])
        await followed(handle)
    change(data_dir, "UPDATE checkpoints SET checkpoint = x'c1', type = 'msgpack'")
    change(
        data_dir,
        "UPDATE runs SET status = 'running', owner = 'dead', finished_at = NULL, input_text = 'Look'"
        " WHERE id = ?",
        handle.run_id,
    )
    async with open_test_core(data_dir, server) as core:
        assert await core.attachments.of_draft(conversation) == [notes]
        assert uses(core) == {("draft", "notes.txt"), ("message", "notes.txt")}
        assert contents(core) == 1


async def test_the_doctor_names_what_is_missing_of_a_message_and_what_nothing_refers_to(
    core: Core, server: OllamaServer
) -> None:
    notes = await core.attachments.add(None, "notes.txt", NOTES)
    handle = await core.runs.start(None, "Look", attachments=[notes])
    await followed(handle)
    await until_let_go(core, handle)
    await core.attachments.add(handle.conversation_id, "owl.png", PNG)
    assert await agree(core)
    for kind, said in (("message", "of a message is missing"), ("draft", "nothing refers to it")):
        change(core.paths.data_dir, "UPDATE attachment_uses SET kind = 'queued' WHERE kind = ?", kind)
        (check,) = [check for check in await core.doctor.examine() if check.id == "journal"]
        assert not check.ok
        assert said in check.text
        change(core.paths.data_dir, "UPDATE attachment_uses SET kind = ? WHERE kind = 'queued'", kind)
