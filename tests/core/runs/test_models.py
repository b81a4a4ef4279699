"""Which model a conversation goes to: named, chosen, used last, or as the settings say; and what there is."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ModelCallFinished, RunStarted
from sophos_desktop.core.domain.model_choices import ChosenModel, ModelOrigin, chosen_model
from sophos_desktop.core.domain.specs import EngineKind
from tests.support.core_fixture import end_of, facts, followed, open_test_core, say, until_let_go
from tests.support.ollama_server import OllamaServer

OLLAMA, STARTER = EngineKind.OLLAMA, EngineKind.STARTER


async def model_of(core: Core, conversation_id: str | None, text: str = "Hi") -> tuple[str, str | None]:
    """Send a message as the window does; its conversation, and the model that its run took."""
    handle = await core.runs.start(conversation_id, text, as_chosen=True)
    events = await followed(handle)
    await until_let_go(core, handle)
    return handle.conversation_id, facts(events, RunStarted)[0].model


async def test_a_choice_holds_from_the_next_run_on_and_over_a_restart(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        conversation_id, model = await model_of(core, None)
        assert model == "smol:latest"
        updated_at = (await core.conversations.find(conversation_id)).updated_at
        await core.models.choose(conversation_id, OLLAMA, "plain:latest")
        assert (await core.conversations.find(conversation_id)).updated_at == updated_at
        assert (await core.models.chosen(conversation_id)).model == "plain:latest"
        assert (await model_of(core, conversation_id))[1] == "plain:latest"
        other, model = await model_of(core, None)
        assert model == "smol:latest"
    async with open_test_core(data_dir, server) as core:
        standing = await core.models.standing(conversation_id)
        assert (standing.origin, standing.following and standing.following.model) == (
            ModelOrigin.CHOSEN,
            "plain:latest",
        )
        assert standing.by_settings is not None
        assert standing.by_settings.model == "smol:latest"
        assert (await model_of(core, conversation_id))[1] == "plain:latest"
        assert (await model_of(core, other))[1] == "smol:latest"


async def test_what_was_chosen_for_a_new_chat_goes_over_to_its_conversation_alone(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        await core.models.choose(None, OLLAMA, "plain:latest")
    async with open_test_core(data_dir, server) as core:
        assert (await core.models.chosen(None)).model == "plain:latest"
        _, events = await say(core, None, "As the command line does")
        assert facts(events, RunStarted)[0].model == "smol:latest"
        assert (await core.models.standing(None)).origin is ModelOrigin.CHOSEN
        conversation_id, model = await model_of(core, None)
        assert model == "plain:latest"
        assert (await core.models.standing(conversation_id)).origin is ModelOrigin.CHOSEN
        assert (await core.models.standing(None)).origin is ModelOrigin.SETTINGS
        assert (await model_of(core, None))[1] == "smol:latest"


async def test_a_claim_that_is_refused_leaves_the_choice_with_the_new_chat(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        await core.models.choose(None, OLLAMA, "plain:latest")
        with pytest.raises(SophosError):
            await core.runs.start(None, " ", as_chosen=True)
        assert (await core.models.chosen(None)).model == "plain:latest"


async def test_a_model_named_for_one_message_does_not_change_the_choice(core: Core) -> None:
    conversation_id, _ = await model_of(core, None)
    await core.models.choose(conversation_id, OLLAMA, "smol:latest")
    named = await core.runs.start(conversation_id, "You?", model="plain:latest")
    assert facts(await followed(named), RunStarted)[0].model == "plain:latest"
    await until_let_go(core, named)
    assert (await model_of(core, conversation_id))[1] == "smol:latest"


async def test_as_in_the_settings_holds_against_what_was_used_last(core: Core) -> None:
    conversation_id, _ = await model_of(core, None)
    await core.models.choose(conversation_id, OLLAMA, "plain:latest")
    await model_of(core, conversation_id)
    await core.models.choose(conversation_id, None, None)
    standing = await core.models.standing(conversation_id)
    assert (standing.origin, standing.following) == (ModelOrigin.SETTINGS, standing.by_settings)
    assert (await model_of(core, conversation_id))[1] == "smol:latest"


async def test_without_a_choice_what_was_used_last_is_said_as_the_reason(core: Core) -> None:
    handle = await core.runs.start(None, "Hi", model="plain:latest")
    await followed(handle)
    await until_let_go(core, handle)
    standing = await core.models.standing(handle.conversation_id)
    assert standing.origin is ModelOrigin.LAST_USED
    assert standing.following is not None
    assert standing.following.model == "plain:latest"


async def test_a_chosen_model_that_is_gone_ends_the_run_and_the_choice_stays(
    core: Core, server: OllamaServer
) -> None:
    conversation_id, _ = await model_of(core, None)
    await core.models.choose(conversation_id, OLLAMA, "plain:latest")
    server.models = [model for model in server.models if model.name != "plain:latest"]
    handle, events = await say(core, conversation_id, "Are you there?")
    assert end_of(events).error_code == ErrorCode.MODEL_UNAVAILABLE
    assert (await core.models.chosen(conversation_id)).model == "plain:latest"
    await until_let_go(core, handle)
    await core.models.choose(conversation_id, OLLAMA, "smol:latest")
    resumed = await followed(await core.runs.resume(conversation_id))
    assert facts(resumed, RunStarted)[0].model == "smol:latest"
    assert end_of(resumed).status == "completed"


async def test_what_cannot_be_chosen_is_refused(core: Core) -> None:
    with pytest.raises(SophosError) as unknown:
        await core.models.choose("0197f0f0-0000-7000-8000-000000000000", OLLAMA, "plain:latest")
    assert unknown.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(SophosError) as half:
        await core.models.choose(None, OLLAMA, None)
    assert half.value.code is ErrorCode.BAD_REQUEST
    with pytest.raises(SophosError) as nowhere:
        await core.models.standing("0197f0f0-0000-7000-8000-000000000000")
    assert nowhere.value.code is ErrorCode.NOT_FOUND


async def test_the_rest_of_a_conversations_metadata_stays(data_dir: Path, core: Core) -> None:
    conversation_id, _ = await model_of(core, None)
    with sqlite3.connect(data_dir / "sophos.db") as other:
        other.execute("UPDATE conversations SET metadata = ?", (json.dumps({"tags": ["work"]}),))
    other.close()
    await core.models.choose(conversation_id, OLLAMA, "plain:latest")
    conversation = await core.conversations.find(conversation_id)
    assert conversation.tags == ("work",)
    assert chosen_model(conversation.metadata["model_choice"]) == ChosenModel(OLLAMA, "plain:latest")


@pytest.mark.parametrize(
    "kept", [None, "plain", [], {"engine": "ollama"}, {"engine": "other", "model": "m"}, {"model": "m"}]
)
def test_a_choice_that_this_version_cannot_read_is_none(kept: object) -> None:
    assert chosen_model(kept) is None


async def test_every_engine_is_listed_and_one_that_is_down_says_why(core: Core, server: OllamaServer) -> None:
    ollama, starter = await core.models.by_engine()
    assert ollama.engine is OLLAMA
    assert ollama.problem is None
    assert {model.name for model in ollama.models} >= {"smol:latest", "plain:latest"}
    assert all(model.can_chat for model in ollama.models)
    assert starter.engine is STARTER
    await server.stop()
    ollama, _ = await core.models.by_engine()
    assert ollama.models == ()
    assert ollama.problem is not None
    assert ollama.problem.code is ErrorCode.ENGINE_UNREACHABLE
    assert not ollama.answered
    assert all(model.engine is STARTER for model in await core.models.all())


async def test_an_engine_without_a_model_says_so_and_how_to_get_one(core: Core, server: OllamaServer) -> None:
    server.models = []
    ollama, _ = await core.models.by_engine()
    assert ollama.answered
    assert ollama.problem is not None
    assert "ollama pull" in ollama.problem.remedy


async def test_the_size_of_the_context_is_told_and_stored(data_dir: Path, server: OllamaServer) -> None:
    settings = '[engine]\nkind = "ollama"\nmodel = "smol:latest"\n[answer]\nnum_ctx = 3072\n'
    async with open_test_core(data_dir, server, settings=settings) as core:
        handle, events = await say(core, None, "Hi")
        (call,) = facts(events, ModelCallFinished)
        assert call.context_tokens == 3072
        await until_let_go(core, handle)
    async with open_test_core(data_dir, server) as core:
        use = await core.models.context_use(handle.conversation_id)
        assert use is not None
        assert (use.prompt_tokens, use.output_tokens, use.context_tokens) == (
            call.prompt_tokens,
            call.output_tokens,
            3072,
        )
        assert await core.models.context_use("0197f0f0-0000-7000-8000-000000000000") is None
        with sqlite3.connect(data_dir / "sophos.db") as other:
            other.execute("UPDATE trace_events SET data = json_remove(data, '$.context_tokens')")
        other.close()
        assert await core.models.context_use(handle.conversation_id) is None


async def test_a_run_that_waits_goes_on_with_the_model_it_began_with(core: Core) -> None:
    conversation_id, _ = await model_of(core, None)
    conversation = await core.conversations.find(conversation_id)
    await core.models.choose(conversation_id, OLLAMA, "plain:latest")
    chosen = await core.conversations.find(conversation_id)
    factory = core.runs._factory
    assert factory.preference(chosen, None, None) == (OLLAMA, "plain:latest")
    assert factory.preference(chosen, None, None, goes_on=True) == (OLLAMA, "smol:latest")
    assert conversation.last_run == chosen.last_run


async def test_an_engine_that_hangs_is_given_up_and_the_others_are_listed(
    data_dir: Path, server: OllamaServer
) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    hanging = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = hanging.sockets[0].getsockname()[1]
    async with hanging, open_test_core(data_dir, f"http://127.0.0.1:{port}") as core:
        core.models._look_seconds = 0.2
        ollama, starter = await core.models.by_engine()
        assert ollama.problem is not None
        assert ollama.problem.code is ErrorCode.ENGINE_UNREACHABLE
        assert starter.engine is STARTER


async def test_a_context_that_is_larger_than_the_models_own_is_not_believed(
    data_dir: Path, server: OllamaServer
) -> None:
    settings = '[engine]\nkind = "ollama"\nmodel = "smol:latest"\n[answer]\nnum_ctx = 1000000\n'
    async with open_test_core(data_dir, server, settings=settings) as core:
        own = next(model for model in await core.models.all() if model.name == "smol:latest").context_length
        _, events = await say(core, None, "Hi")
        assert own is not None
        assert facts(events, ModelCallFinished)[0].context_tokens == own
        assert server.chats[0].body["options"]["num_ctx"] == own
