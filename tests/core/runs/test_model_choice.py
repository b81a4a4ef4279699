"""Which model a run takes, and what its engine is told each time."""

import hashlib
from pathlib import Path

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import NoticeCode
from sophos_desktop.core.domain.events import Notice, RunStarted
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
from tests.support.ollama_server import OllamaServer


async def test_every_request_says_the_context_and_forbids_forgetting(
    data_dir: Path, server: OllamaServer, tmp_path: Path
) -> None:
    settings = OLLAMA + "[answer]\nnum_ctx = 3072\ntemperature = 0.5\n"
    async with open_test_core(data_dir, server, mcp=LINES, settings=settings) as core:
        server.script(calls(append(tmp_path / "lines.txt", "x")), "Done.")
        handle, _ = await say(core, None, "Go")
        await say(core, handle.conversation_id, "Again")
    assert len(server.chats) == 3
    for request in server.chats:
        assert request.body["options"] == {"num_ctx": 3072, "temperature": 0.5}
        assert request.body["truncate"] is False
        assert request.body["shift"] is False
        assert {tool["function"]["name"] for tool in request.body["tools"]} == {
            "lines__append_line",
            "lines__read_lines",
            "lines__slow_append",
        }
        assert not any("sophos" in str(message) for message in request.body["messages"][1:])


async def test_the_context_is_the_smaller_of_the_models_and_ours(core: Core, server: OllamaServer) -> None:
    await say(core, None, "Hi")
    assert server.chats[0].body["options"] == {"num_ctx": 8192}


async def test_an_edit_of_the_system_prompt_counts_at_the_next_call(
    data_dir: Path, core: Core, server: OllamaServer
) -> None:
    file = data_dir / "config" / "system.md"
    handle, _ = await say(core, None, "Hi")
    shipped = server.chats[-1].body["messages"][0]
    assert shipped["role"] == "system"
    record = await core.conversations.find_run(handle.run_id)
    assert record.prompt_sha256 == hashlib.sha256(shipped["content"].encode()).hexdigest()

    file.write_text("Speak like a pirate. ⚓\n", encoding="utf-8")
    handle, _ = await say(core, handle.conversation_id, "And now?")
    sent = server.chats[-1].body["messages"]
    assert sent[0] == {"role": "system", "content": "Speak like a pirate. ⚓"}
    assert [message["role"] for message in sent].count("system") == 1
    record = await core.conversations.find_run(handle.run_id)
    assert record.prompt_sha256 == hashlib.sha256("Speak like a pirate. ⚓".encode()).hexdigest()

    file.write_text("\n", encoding="utf-8")
    handle, _ = await say(core, handle.conversation_id, "None?")
    assert server.chats[-1].body["messages"][0]["role"] == "user"
    assert (await core.conversations.find_run(handle.run_id)).prompt_sha256 is None


async def test_a_model_without_tools_gets_none_and_that_is_said_once(
    data_dir: Path, server: OllamaServer
) -> None:
    settings = '[engine]\nkind = "ollama"\nmodel = "plain:latest"\n'
    async with open_test_core(data_dir, server, mcp=LINES, settings=settings) as core:
        await core.tool_host.settle(10)
        handle, first = await say(core, None, "Hi")
        _, second = await say(core, handle.conversation_id, "Hi again")
        said = [notice.text for notice in facts(first, Notice) if notice.code == NoticeCode.MODEL_LACKS_TOOLS]
        assert said == ["plain:latest cannot use tools; it answers without them"]
        assert facts(second, Notice) == []
    assert all("tools" not in request.body for request in server.chats)


async def test_a_model_without_thinking_is_not_asked_to_think(data_dir: Path, server: OllamaServer) -> None:
    settings = '[engine]\nkind = "ollama"\nmodel = "plain:latest"\n[answer]\nthinking = true\n'
    async with open_test_core(data_dir, server, settings=settings) as core:
        _, events = await say(core, None, "Hi")
        assert end_of(events).status == "completed"
        assert [notice.code for notice in facts(events, Notice)] == [NoticeCode.MODEL_LACKS_THINKING]
    assert "think" not in server.chats[0].body


async def test_a_choice_that_nobody_made_is_said(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server, settings='[engine]\nkind = "auto"\n') as core:
        handle, events = await say(core, None, "Hi")
        (notice,) = facts(events, Notice)
        assert notice.code == NoticeCode.ENGINE_CHOSEN
        assert "smol:latest" in notice.text
        record = await core.conversations.find_run(handle.run_id)
        assert (record.engine, record.model) == ("ollama", "smol:latest")
        _, events = await say(core, handle.conversation_id, "And now?")
        assert facts(events, Notice) == []


async def test_a_conversation_keeps_its_model(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        handle = await core.runs.start(None, "Hi", model="plain:latest")
        await followed(handle)
        await until_let_go(core, handle)
        assert (await core.conversations.find(handle.conversation_id)).model == "plain:latest"
        _, events = await say(core, handle.conversation_id, "And now?")
        assert facts(events, RunStarted)[0].model == "plain:latest"
    async with open_test_core(data_dir, server) as core:
        await server.stop()
        failed, events = await say(core, handle.conversation_id, "Are you there?")
        assert facts(events, RunStarted)[0].model == "plain:latest"
        await until_let_go(core, failed)
        async with OllamaServer(tuple(server.models), port=server.port) as back:
            await followed(await core.runs.resume(handle.conversation_id))
            assert back.chats[0].body["model"] == "plain:latest"


async def test_another_model_is_kept_from_then_on(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    other = await core.runs.start(handle.conversation_id, "You?", model="plain:latest")
    await followed(other)
    await until_let_go(core, other)
    _, events = await say(core, handle.conversation_id, "Still you?")
    assert facts(events, RunStarted)[0].model == "plain:latest"
