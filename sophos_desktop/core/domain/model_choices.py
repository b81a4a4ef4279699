"""Which model a person chose for a conversation, and what a front end shows of models.

Invariant: frozen. Having chosen "as in the settings" is another thing than never having chosen: only without
a choice does a conversation stay with the model that it used last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelInfo

CHOICE_KEY = "model_choice"
"""Where a conversation's metadata hold the choice."""


class ModelOrigin(StrEnum):
    """Why a message goes to a model, from the strongest reason to the weakest."""

    CALLER = "caller"
    CHOSEN = "chosen"
    LAST_USED = "last_used"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A choice. `engine` and `model` are both None for "as in the settings"."""

    engine: EngineKind | None = None
    model: str | None = None

    def to_json(self) -> dict[str, Any]:
        """How it is kept."""
        return {"engine": self.engine.value if self.engine else None, "model": self.model}


@dataclass(frozen=True, slots=True)
class Preference:
    """What is decided of engine and model before an engine is asked; None is left open."""

    engine: EngineKind | None
    model: str | None
    origin: ModelOrigin


@dataclass(frozen=True, slots=True)
class EngineModels:
    """The models of one engine that can chat; `problem` says why there are none."""

    engine: EngineKind
    models: tuple[ModelInfo, ...] = ()
    problem: SophosError | None = None

    @property
    def answered(self) -> bool:
        """True if these are all its models, and not only those that could be learnt of."""
        return self.problem is None or self.problem.code is ErrorCode.MODEL_UNAVAILABLE


@dataclass(frozen=True, slots=True)
class ModelStanding:
    """What the next message of a conversation goes to and why, and what it would go to without a choice.

    Each is None where no engine can be asked; `problem` then says why, for the next message."""

    origin: ModelOrigin
    following: EngineChoice | None
    by_settings: EngineChoice | None
    problem: SophosError | None = None


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How much of the model's context the last call filled: what it read and what it wrote, in tokens."""

    prompt_tokens: int
    output_tokens: int
    context_tokens: int

    @property
    def used_tokens(self) -> int:
        """What the next call begins with, at least."""
        return self.prompt_tokens + self.output_tokens


def context_use(fields: Mapping[str, Any]) -> ContextUse | None:
    """The use that a `model_call` event tells of; None where it does not know, as one of an older version."""
    prompt, context = fields.get("prompt_tokens"), fields.get("context_tokens")
    if not isinstance(prompt, int) or not isinstance(context, int) or context <= 0:
        return None
    output = fields.get("output_tokens")
    return ContextUse(prompt, output if isinstance(output, int) else 0, context)


def chosen_model(value: object) -> ChosenModel | None:
    """The choice that `ChosenModel.to_json` gave; anything else, as from another version, is none."""
    if not isinstance(value, Mapping):
        return None
    engine, model = value.get("engine"), value.get("model")
    if engine is None and model is None:
        return ChosenModel()
    if engine in tuple(EngineKind) and isinstance(model, str) and model:
        return ChosenModel(EngineKind(engine), model)
    return None
