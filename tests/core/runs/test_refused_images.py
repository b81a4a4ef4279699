"""An image that an engine will not take ends one run, and no other."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice, SittingEnded
from tests.core.runs.attaching_records import NOTES, PNG
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    facts,
    followed,
    open_test_core,
    paths_of,
    say,
    transcript,
    until_let_go,
)
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer

WEBP = b"RIFF\x10\0\0\0WEBPVP8 "
UNKNOWN = Reply(status=500, error="Failed to create new sequence: image: unknown format")
CRASH = Reply(status=500, error="model runner has unexpectedly stopped, check the logs")
IN_STREAM = Reply(ending="error_line", error="unable to make llava embedding from image")


@pytest.fixture(name="server")
async def _server() -> AsyncIterator[OllamaServer]:
    """Two models that see and one that does not."""
    seeing = FakeModel("smol:latest", ("completion", "tools", "vision"))
    other = FakeModel("other-vision:latest", ("completion", "vision"), digest="o")
    async with OllamaServer(
        (seeing, other, FakeModel("plain:latest", ("completion",), digest="p"))
    ) as running:
        yield running


async def ask(
    core: Core, conversation_id: str | None, text: str, **files: bytes
) -> tuple[str, SittingEnded, list[str]]:
    """Send a message with files and follow its run: the conversation, the end, the notices."""
    given = [
        await core.attachments.add(conversation_id, name.replace("_", "."), content)
        for name, content in files.items()
    ]
    handle = await core.runs.start(conversation_id, text, attachments=given)
    events = await followed(handle)
    await until_let_go(core, handle)
    return handle.conversation_id, end_of(events), [notice.text for notice in facts(events, Notice)]


async def go_on(core: Core, conversation_id: str, model: str | None = None) -> tuple[SittingEnded, list[str]]:
    """Resume, and follow the run."""
    handle = await core.runs.resume(conversation_id, model=model)
    events = await followed(handle)
    await until_let_go(core, handle)
    return end_of(events), [notice.text for notice in facts(events, Notice)]


def images_of(server: OllamaServer) -> list[int]:
    """How many images each request showed."""
    return [sum(len(message.get("images", ())) for message in chat.body["messages"]) for chat in server.chats]


@pytest.mark.parametrize("refusal", [UNKNOWN, IN_STREAM], ids=["status", "within the stream"])
async def test_the_error_names_the_file_and_a_resume_goes_on_without_it(
    data_dir: Path, server: OllamaServer, refusal: Reply
) -> None:
    server.script(refusal)
    async with open_test_core(data_dir, server) as core:
        conversation_id, end, _ = await ask(core, None, "Who?", owl_webp=WEBP)
        assert (end.status, end.resumable) == ("failed", True)
        assert "smol:latest did not take “owl.webp”" in str(end.error_message)
        assert refusal.error in str(end.error_message)
        assert "Resume to go on without it" in str(end.error_message)
    async with open_test_core(data_dir, server) as core:
        end, notices = await go_on(core, conversation_id)
        assert end.status == "completed"
        assert notices == ["“owl.webp” was left out, since smol:latest did not take it"]
        assert "[The user attached the image “owl.webp”" in str(server.chats[-1].body)
        _, end, notices = await ask(core, conversation_id, "Again?")
        assert (end.status, notices) == (
            "completed",
            ["“owl.webp” was left out, since smol:latest did not take it"],
        )
    assert images_of(server) == [1, 0, 0]


async def test_a_new_message_goes_on_too_and_the_prompt_is_the_same_at_each_resume(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(UNKNOWN, CRASH, CRASH)
    async with open_test_core(data_dir, server) as core:
        conversation_id, _, _ = await ask(core, None, "Who?", owl_png=PNG)
        _, end, _ = await ask(core, conversation_id, "Never mind the owl")
        assert end.error_code == "ENGINE_ERROR"
    for _ in range(2):
        async with open_test_core(data_dir, server) as core:
            end, _ = await go_on(core, conversation_id)
    assert end.status == "completed"
    assert images_of(server) == [1, 0, 0, 0]
    prompts = [chat.body["messages"] for chat in server.chats[1:]]
    assert prompts[0] == prompts[1] == prompts[2]


async def test_a_failure_without_a_reason_is_tried_once_more_with_the_image(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(CRASH, CRASH)
    async with open_test_core(data_dir, server) as core:
        conversation_id, end, _ = await ask(core, None, "Who?", owl_png=PNG)
        assert "if that fails too, the next prompt does without “owl.png”" in str(end.error_message)
        end, _ = await go_on(core, conversation_id)
        assert "did not take “owl.png”" in str(end.error_message)
        end, notices = await go_on(core, conversation_id)
        assert end.status == "completed"
        assert notices == ["“owl.png” was left out, since smol:latest did not take it"]
    assert images_of(server) == [1, 1, 0]


async def test_what_was_answered_over_before_is_not_put_down_to_an_image(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script("An owl.", CRASH, CRASH, CRASH)
    async with open_test_core(data_dir, server) as core:
        conversation_id, end, _ = await ask(core, None, "Who?", owl_png=PNG)
        assert end.status == "completed"
        _, end, _ = await ask(core, conversation_id, "Sure?")
        for _ in range(2):
            end, _ = await go_on(core, conversation_id)
        assert "owl.png" not in str(end.error_message)
        end, _ = await go_on(core, conversation_id)
        assert end.status == "completed"
    assert images_of(server) == [1, 1, 1, 1, 1]


async def test_an_image_that_was_answered_over_stays_when_a_later_one_is_refused(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script("An owl.", UNKNOWN)
    async with open_test_core(data_dir, server) as core:
        conversation_id, _, _ = await ask(core, None, "Who?", owl_png=PNG)
        _, end, _ = await ask(core, conversation_id, "And?", a_webp=WEBP, b_webp=WEBP + b"!", notes_txt=NOTES)
        assert "did not take “a.webp” and “b.webp”" in str(end.error_message)
        end, notices = await go_on(core, conversation_id)
        assert end.status == "completed"
        assert notices == ["“a.webp” and “b.webp” were left out, since smol:latest did not take them"]
        assert "milk" in str(server.chats[-1].body)
        _, end, _ = await ask(core, conversation_id, "Now?", a_webp=WEBP)
        assert end.status == "completed"
    assert images_of(server) == [1, 3, 1, 2]  # what is attached again is tried again


async def test_another_model_is_shown_what_one_would_not_take(data_dir: Path, server: OllamaServer) -> None:
    server.script(UNKNOWN)
    async with open_test_core(data_dir, server) as core:
        conversation_id, _, _ = await ask(core, None, "Who?", owl_png=PNG)
        end, notices = await go_on(core, conversation_id, "other-vision:latest")
        assert (end.status, notices) == ("completed", [])
    assert images_of(server) == [1, 1]


async def test_a_conversation_with_images_goes_on_with_a_model_that_sees_none(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script("An owl.", UNKNOWN)
    async with open_test_core(data_dir, server) as core:
        conversation_id, _, _ = await ask(core, None, "Who?", owl_png=PNG)
        await ask(core, conversation_id, "And this?", cat_webp=WEBP)
        handle = await core.runs.start(conversation_id, "In words?", model="plain:latest")
        events = await followed(handle)
        assert end_of(events).status == "completed"
        said = [
            notice.text for notice in facts(events, Notice) if notice.code == NoticeCode.MODEL_LACKS_VISION
        ]
        assert said == ["plain:latest cannot see images; it was told that 2 images could not be shown to it"]
    assert images_of(server) == [1, 2, 0]
    assert "you cannot see images" in str(server.chats[-1].body)


async def test_a_refusal_that_is_about_something_else_leaves_the_image_alone(
    data_dir: Path, server: OllamaServer
) -> None:
    no_tools = Reply(status=400, error="registry.example/library/other-vision does not support thinking")
    keyless = Reply(status=401, error="this image needs a key")
    server.script(no_tools, keyless, Reply(status=503, error="server busy"))
    async with open_test_core(data_dir, server) as core:
        conversation_id, end, _ = await ask(core, None, "Who?", owl_png=PNG)
        for _ in range(2):
            assert "owl.png" not in str(end.error_message)
            end, _ = await go_on(core, conversation_id)
        end, _ = await go_on(core, conversation_id)
        assert end.status == "completed"
    assert images_of(server) == [1, 1, 1, 1]


async def test_a_models_name_that_says_vision_is_no_word_about_an_image(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(Reply(status=500, error="runner of other-vision:latest stopped"))
    async with open_test_core(data_dir, server) as core:
        image = await core.attachments.add(None, "owl.png", PNG)
        handle = await core.runs.start(None, "Who?", model="other-vision:latest", attachments=[image])
        assert "if that fails too" in str(end_of(await followed(handle)).error_message)


async def test_a_tool_turn_does_without_it_at_each_step_and_says_so_once(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(UNKNOWN, calls(append(data_dir / "lines.txt", "x")), "Done.")
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        conversation_id, _, _ = await ask(core, None, "Who?", owl_png=PNG)
        end, notices = await go_on(core, conversation_id)
        assert end.status == "completed"
        assert len(notices) == 1
        assert [role for role, _ in await transcript(core, conversation_id)] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
    assert images_of(server) == [1, 0, 0]


async def test_the_refusal_is_gone_with_its_conversation_and_keeps_the_chosen_model(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script("Hi.", UNKNOWN)
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        await until_let_go(core, handle)
        await core.models.choose(handle.conversation_id, None, None)
        await ask(core, handle.conversation_id, "Who?", owl_png=PNG)
        ((metadata,),) = rows_of(paths_of(data_dir).database, "SELECT metadata FROM conversations")
        kept = json.loads(metadata)
        assert set(kept) == {"model_choice", "refused_images"}
        assert [one["failures"] for one in kept["refused_images"]] == [2]
        await core.conversations.delete(handle.conversation_id)
        assert rows_of(paths_of(data_dir).database, "SELECT metadata FROM conversations") == []
