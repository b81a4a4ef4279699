"""The engines of the fake core and the models they have, without a server.

Invariant: as in the core: a choice belongs to one conversation, and that of the chat that does not exist yet
to the conversation that begins. `gate` holds back the list of models, `lists` counts how often it was asked
for.
"""

import asyncio
from collections.abc import Sequence

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.model_choices import (
    ChosenModel,
    ContextUse,
    EngineModels,
    ModelOrigin,
    ModelStanding,
)
from sophos_desktop.core.domain.specs import (
    Capability,
    EngineChoice,
    EngineKind,
    EngineStatus,
    ModelInfo,
)

BY_SETTINGS = EngineChoice(EngineKind.OLLAMA, "qwen3:8b", "It was used last")


def model(
    name: str, *capabilities: Capability, loaded: bool = False, size_bytes: int = 5_200_000_000
) -> ModelInfo:
    """A model of Ollama that can chat."""
    found = frozenset({Capability.COMPLETION, *capabilities})
    return ModelInfo(EngineKind.OLLAMA, name, size_bytes, 40_960, found, loaded)


def some_models() -> list[EngineModels]:
    """What two engines have."""
    starter = ModelInfo(
        EngineKind.STARTER, "smollm2:135m", 98_000_000, 8_192, frozenset({Capability.COMPLETION})
    )
    return [
        EngineModels(
            EngineKind.OLLAMA,
            (
                model("qwen3:8b", Capability.TOOLS, Capability.THINKING, loaded=True),
                model("llama3.2-vision:11b", Capability.VISION, size_bytes=7_800_000_000),
                model("mistral-nemo:12b", Capability.TOOLS, size_bytes=5_600_000_000),
            ),
        ),
        EngineModels(EngineKind.STARTER, (starter,)),
    ]


class FakeEngines:
    """One engine."""

    def __init__(self) -> None:
        self.current = EngineStatus(
            EngineKind.OLLAMA, True, "Ollama 0.12.6 answers at 127.0.0.1:11434", version="0.12.6"
        )
        self.others: dict[EngineKind, EngineStatus] = {}
        self.asked = 0

    async def choose(self, engine: EngineKind | None, model: str | None) -> EngineChoice:
        """Always the same."""
        return BY_SETTINGS

    async def status(self, engine: EngineKind | None = None) -> EngineStatus:
        """As the test set it."""
        self.asked += 1
        return self.current if engine is None else self.others.get(engine, self.current)


class FakeModels:
    """In memory; `choices` and `uses` are what the test may look at, and set."""

    def __init__(self) -> None:
        self.engines = some_models()
        self.by_settings: EngineChoice | None = BY_SETTINGS
        self.problem: SophosError | None = None
        self.choices: dict[str | None, ChosenModel] = {}
        self.last_used: dict[str | None, EngineChoice] = {}
        self.uses: dict[str, ContextUse] = {}
        self.error: SophosError | None = None
        self.lists = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def all(self) -> Sequence[ModelInfo]:
        """Of every engine."""
        return [one for engine in await self.by_engine() for one in engine.models]

    async def by_engine(self) -> Sequence[EngineModels]:
        """Held by `gate`."""
        self.lists += 1
        await self.gate.wait()
        return list(self.engines)

    async def chosen(self, conversation_id: str | None) -> EngineChoice:
        """What was chosen, else what was used last, else what the settings say."""
        standing = await self.standing(conversation_id)
        if standing.following is None:
            assert standing.problem is not None
            raise standing.problem
        return standing.following

    async def standing(self, conversation_id: str | None) -> ModelStanding:
        """The same, with its reason."""
        choice = self.choices.get(conversation_id)
        if choice is not None and choice.engine is not None and choice.model is not None:
            following = EngineChoice(choice.engine, choice.model)
            return ModelStanding(ModelOrigin.CHOSEN, following, self.by_settings)
        last = self.last_used.get(conversation_id)
        if choice is None and last is not None:
            return ModelStanding(ModelOrigin.LAST_USED, last, self.by_settings)
        return ModelStanding(ModelOrigin.SETTINGS, self.by_settings, self.by_settings, self.problem)

    async def context_use(self, conversation_id: str) -> ContextUse | None:
        """As the test set it."""
        return self.uses.get(conversation_id)

    async def choose(self, conversation_id: str | None, engine: EngineKind | None, model: str | None) -> None:
        """Refused with `error`."""
        if self.error is not None:
            raise self.error
        self.choices[conversation_id] = ChosenModel(engine, model)

    def begin(self, conversation_id: str, *, as_chosen: bool) -> None:
        """A conversation takes over what was chosen for the chat that did not exist yet."""
        if as_chosen and None in self.choices:
            self.choices[conversation_id] = self.choices.pop(None)
