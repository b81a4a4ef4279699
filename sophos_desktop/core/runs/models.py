"""Which models there are, which one the next message of a conversation goes to, and how full its context is.

Invariant: a choice is kept before it is told; asking is bounded in time, and an engine that does not answer
is said and hides none of the others.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.model_choices import (
    ChosenModel,
    ContextUse,
    EngineModels,
    ModelOrigin,
    ModelStanding,
    Preference,
    context_use,
)
from sophos_desktop.core.domain.ports import EngineDirectory
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelInfo
from sophos_desktop.core.engines.starter_process import FETCH
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.model_choices import ModelChoiceStore

LOOK_SECONDS = 5.0


class Preferences(Protocol):
    """What is preferred before an engine is asked; `SittingFactory` knows."""

    def preferred(self, conversation: Conversation) -> Preference:
        """For the next message of a conversation."""

    async def preferred_for_new_chat(self) -> Preference:
        """For the first message of the chat that does not exist yet."""


class ModelDirectory:
    """Lives as long as the core."""

    def __init__(
        self,
        engines: EngineDirectory,
        conversations: ConversationStore,
        choices: ModelChoiceStore,
        preferences: Preferences,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """`look_seconds`: how long an engine may take to list its models."""
        self._engines = engines
        self._conversations = conversations
        self._choices = choices
        self._preferences = preferences
        self._look_seconds = look_seconds

    async def all(self) -> Sequence[ModelInfo]:
        """Those that can chat, of every engine that answers; an engine that does not is left out."""
        return [model for engine in await self.by_engine() for model in engine.models]

    async def by_engine(self) -> Sequence[EngineModels]:
        """Those that can chat, of every engine, or why an engine has none; within `look_seconds`."""
        return await asyncio.gather(*(self._of(engine) for engine in EngineKind))

    async def _of(self, engine: EngineKind) -> EngineModels:
        try:
            async with asyncio.timeout(self._look_seconds):
                found = await self._engines.models(engine)
        except TimeoutError:
            problem = SophosError(
                ErrorCode.ENGINE_UNREACHABLE,
                f"{engine.label} did not list its models within {self._look_seconds:g} seconds",
                "See whether it is busy, then try again",
            )
            return EngineModels(engine, problem=problem)
        except SophosError as error:
            return EngineModels(engine, problem=error)
        chatting = tuple(model for model in found if model.can_chat)
        return EngineModels(engine, chatting, None if chatting else _nothing_there(engine))

    async def chosen(self, conversation_id: str | None) -> EngineChoice:
        """What the next message would go to. Raises SophosError NOT_FOUND, ENGINE_*, MODEL_UNAVAILABLE."""
        preference = await self._preference(conversation_id)
        return await self._engines.choose(preference.engine, preference.model)

    async def standing(self, conversation_id: str | None) -> ModelStanding:
        """What the next message would go to and why, and what the settings say. Raises SophosError NOT_FOUND,
        STORE_*; a choice that no engine can fill in is the answer's problem."""
        preference = await self._preference(conversation_id)
        by_settings, problem = await self._filled_in(None, None)
        if preference.origin is ModelOrigin.SETTINGS:
            return ModelStanding(preference.origin, by_settings, by_settings, problem)
        following, problem = await self._filled_in(preference.engine, preference.model)
        return ModelStanding(preference.origin, following, by_settings, problem)

    async def _filled_in(
        self, engine: EngineKind | None, model: str | None
    ) -> tuple[EngineChoice | None, SophosError | None]:
        try:
            return await self._engines.choose(engine, model), None
        except SophosError as error:
            return None, error

    async def _preference(self, conversation_id: str | None) -> Preference:
        if conversation_id is None:
            return await self._preferences.preferred_for_new_chat()
        conversation = await self._conversations.get(conversation_id)
        if conversation is None:
            raise _no_conversation()
        return self._preferences.preferred(conversation)

    async def choose(self, conversation_id: str | None, engine: EngineKind | None, model: str | None) -> None:
        """Take this model from the next run on; twice None leaves it to the settings, whatever was used last.

        None as the conversation: for the chat that does not exist yet. Raises SophosError BAD_REQUEST (an
        engine without a model, or the other way round), NOT_FOUND, STORE_*."""
        if (engine is None) != (not model):
            raise SophosError(
                ErrorCode.BAD_REQUEST, "A model is chosen together with its engine", "Name both, or neither"
            )
        choice = ChosenModel(engine, model or None).to_json()
        if conversation_id is None:
            await self._choices.keep_for_new_chat(choice)
        elif not await self._choices.keep(conversation_id, choice):
            raise _no_conversation()

    async def context_use(self, conversation_id: str) -> ContextUse | None:
        """How much of its context the last call of a conversation filled; None where that is not known."""
        fields = await self._choices.last_call(conversation_id)
        return None if fields is None else context_use(fields)


def _nothing_there(engine: EngineKind) -> SophosError:
    if engine is EngineKind.STARTER:
        return SophosError(ErrorCode.MODEL_UNAVAILABLE, "The built-in starter model is not there", FETCH)
    return SophosError(
        ErrorCode.MODEL_UNAVAILABLE,
        f"{engine.label} has no model that can chat",
        "Get one, for example with `ollama pull llama3.2`",
    )


def _no_conversation() -> SophosError:
    return SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list` for what there is")
