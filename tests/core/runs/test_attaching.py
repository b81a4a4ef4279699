"""Text files and images that go with a message: kept with the draft, shown to the model."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.attaching import MOST_ATTACHMENTS, made_attachment
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.exports import ExportFormat
from tests.core.runs.attaching_records import NOTES, PNG, agree, contents, uses
from tests.core.runs.test_recovery import CUT
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import (
    LINES,
    OLLAMA,
    append,
    calls,
    end_of,
    facts,
    followed,
    open_test_core,
    say,
    until_let_go,
)
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer

BLIND = OLLAMA.replace("smol:latest", "plain:latest")


@pytest.fixture(name="server")
async def _server() -> AsyncIterator[OllamaServer]:
    """A model that sees and one that does not."""
    seeing = FakeModel("smol:latest", ("completion", "tools", "vision"))
    async with OllamaServer((seeing, FakeModel("plain:latest", ("completion",), digest="p"))) as running:
        yield running


async def refused(core: Core, name: str, content: bytes, conversation_id: str | None = None) -> SophosError:
    with pytest.raises(SophosError) as caught:
        await core.attachments.add(conversation_id, name, content)
    return caught.value


# With the draft


async def test_what_is_attached_stays_with_its_draft_over_a_restart(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        conversation = handle.conversation_id
        image = await core.attachments.add(conversation, "dir/owl.png", PNG)
        notes = await core.attachments.add(conversation, "notes.txt", NOTES)
        assert await core.attachments.add(conversation, "again.txt", NOTES) == notes, "kept once"
        new = await core.attachments.add(None, "notes.txt", NOTES)
    async with open_test_core(data_dir, server) as core:
        assert await core.attachments.of_draft(conversation) == [image, notes]
        assert await core.attachments.of_draft(None) == [new]
        assert image == AttachmentRef(image.sha256, "owl.png", "image/png", len(PNG))
        assert await core.attachments.content(image.sha256) == PNG
        assert contents(core) == 2
        await core.attachments.remove(conversation, notes.sha256)
        await core.attachments.remove(conversation, notes.sha256)
        assert await core.attachments.of_draft(conversation) == [image]
        assert await core.attachments.content(notes.sha256) == NOTES, "the other draft holds it"
        await core.attachments.remove(None, notes.sha256)
        with pytest.raises(SophosError) as caught:
            await core.attachments.content(notes.sha256)
        assert caught.value.code is ErrorCode.NOT_FOUND
        assert await agree(core)


async def test_a_draft_takes_what_models_take_and_only_so_many(core: Core) -> None:
    assert (await refused(core, "a.bin", b"\0")).code is ErrorCode.BAD_REQUEST
    assert (await refused(core, "a", NOTES, "no such")).code is ErrorCode.NOT_FOUND
    for number in range(MOST_ATTACHMENTS):
        await core.attachments.add(None, f"{number}.txt", b"%d" % number)
    error = await refused(core, "more.txt", b"more")
    assert (error.code, "10 attachments" in error.title) == (ErrorCode.BAD_REQUEST, True)
    assert len(await core.attachments.of_draft(None)) == contents(core) == MOST_ATTACHMENTS


# With a message


async def test_a_message_takes_exactly_what_it_names_and_the_draft_keeps_the_rest(
    core: Core, server: OllamaServer
) -> None:
    notes = await core.attachments.add(None, "notes.txt", NOTES)
    await core.attachments.add(None, "later.txt", b"later")
    image = await core.attachments.add(None, "owl.png", PNG)
    handle = await core.runs.start(None, "Look", attachments=[image, notes])
    events = await followed(handle)
    assert end_of(events).status == "completed"
    question = (await core.conversations.messages(handle.conversation_id))[0]
    assert (question.text, question.attachments) == ("Look", (image, notes))
    assert [ref.name for ref in await core.attachments.of_draft(None)] == ["later.txt"]
    assert uses(core) == {("message", "owl.png"), ("message", "notes.txt"), ("draft", "later.txt")}
    sent = server.chats[0].body["messages"][-1]
    assert sent["content"] == 'Look\n\n<attachment name="notes.txt">\nmilk\nbread\n\n</attachment>'
    assert sent["images"] == [base64.b64encode(PNG).decode()]
    assert facts(events, Notice) == []
    stored = rows_of(core.paths.database, "SELECT group_concat(hex(checkpoint)) FROM checkpoints")[0][0]
    assert b"bread".hex().upper() not in stored
    pieces = core.exports.document(handle.conversation_id, ExportFormat.MARKDOWN)
    document = "".join([piece async for piece in pieces])
    assert f"\\[attached: notes.txt, 11 bytes, attachment {notes.sha256[:8]}\\]" in document
    assert await agree(core)
    await until_let_go(core, handle)
    await core.conversations.delete(handle.conversation_id)
    assert uses(core) == {("draft", "later.txt")}
    assert contents(core) == 1


async def test_a_message_may_be_nothing_but_an_attachment(core: Core, server: OllamaServer) -> None:
    notes = await core.attachments.add(None, "notes.txt", NOTES)
    handle = await core.runs.start(None, "", attachments=[notes])
    assert end_of(await followed(handle)).status == "completed"
    assert (await core.conversations.find(handle.conversation_id)).title == "notes.txt"
    assert server.chats[0].body["messages"][-1]["content"].startswith("<attachment ")
    with pytest.raises(SophosError, match="is empty"):
        await core.runs.start(None, " ")


async def test_what_is_attached_no_longer_is_refused_and_nothing_is_sent(core: Core) -> None:
    notes = await core.attachments.add(None, "notes.txt", NOTES)
    await core.attachments.remove(None, notes.sha256)
    with pytest.raises(SophosError, match=r"“notes\.txt” is not attached any more"):
        await core.runs.start(None, "Look", attachments=[notes])
    assert await core.conversations.find_all() == []
    many = [made_attachment(f"{n}.txt", b"%d" % n) for n in range(MOST_ATTACHMENTS + 1)]
    with pytest.raises(SophosError, match="10 attachments"):
        await core.runs.start(None, "Look", attachments=many)
    assert (await core.conversations.find_all(), contents(core)) == ([], 0)


async def test_a_message_may_bring_its_own_which_the_draft_keeps_too(core: Core) -> None:
    kept = await core.attachments.add(None, "notes.txt", NOTES)
    own = made_attachment("mine.txt", NOTES)
    handle = await core.runs.start(None, "Look", attachments=[own])
    await followed(handle)
    assert uses(core) == {("draft", "notes.txt"), ("message", "mine.txt")}
    assert await core.attachments.of_draft(None) == [kept]
    assert contents(core) == 1


async def test_later_turns_and_a_resume_show_it_again(core: Core, server: OllamaServer) -> None:
    notes = await core.attachments.add(None, "notes.txt", NOTES)
    server.script(CUT)
    handle = await core.runs.start(None, "Look", attachments=[notes])
    assert end_of(await followed(handle)).status == "failed"
    await until_let_go(core, handle)
    resumed = await core.runs.resume(handle.conversation_id)
    await followed(resumed)
    await until_let_go(core, resumed)
    await say(core, handle.conversation_id, "And?")
    assert ["milk" in str(chat.body) for chat in server.chats] == [True] * 3


async def test_a_tool_turn_shows_it_at_each_step(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        notes = await core.attachments.add(None, "owl.png", PNG)
        server.script(calls(append(data_dir / "lines.txt", "x")), "Done.")
        handle = await core.runs.start(None, "Look", attachments=[notes])
        assert end_of(await followed(handle)).status == "completed"
    assert [sum("images" in one for one in chat.body["messages"]) for chat in server.chats] == [1, 1]


async def test_a_model_that_cannot_see_is_told_of_the_image_and_the_user_once(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server, settings=BLIND) as core:
        image = await core.attachments.add(None, "owl.png", PNG)
        handle = await core.runs.start(None, "Who?", attachments=[image])
        events = await followed(handle)
        await until_let_go(core, handle)
        _, again = await say(core, handle.conversation_id, "Really?")
    assert [notice.code for notice in facts(events, Notice)] == [NoticeCode.MODEL_LACKS_VISION]
    assert "an image could not be shown" in facts(events, Notice)[0].text
    assert facts(again, Notice) == []
    for chat in server.chats:
        assert not any("images" in message for message in chat.body["messages"])
        assert "[The user attached the image “owl.png”" in str(chat.body)


async def test_a_text_that_does_not_fit_is_named_and_the_next_message_goes(
    core: Core, server: OllamaServer
) -> None:
    large = await core.attachments.add(None, "large.txt", b"word " * 150_000)
    handle = await core.runs.start(None, "Sum it up", attachments=[large])
    end = end_of(await followed(handle))
    assert (end.status, end.error_code) == ("failed", "CONTEXT_EXCEEDED")
    assert "“large.txt” (750 kB) does not fit" in str(end.error_message)
    await until_let_go(core, handle)
    _, events = await say(core, handle.conversation_id, "Never mind")
    assert end_of(events).status == "completed"
    assert facts(events, Notice)[0].code == NoticeCode.CONTEXT_TRIMMED
