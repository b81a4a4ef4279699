"""What stands in the list of the model picker, and what it says in words.

Invariant: pure; every row can be read by itself: its words hold all that marks and places tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.model_choices import EngineModels, ModelOrigin, ModelStanding
from sophos_desktop.core.domain.specs import Capability, EngineChoice, EngineKind, ModelInfo
from sophos_desktop.shell.theme.icons import Mark

LOOKING = "Looking…"
_NOTHING_FITS = "No model has that in its name"
_NO_MODEL = "No model"
_CAPABILITIES = (
    (Capability.TOOLS, Mark.TOOL, "can use tools"),
    (Capability.VISION, Mark.EYE, "can see images"),
    (Capability.THINKING, Mark.THINKING, "can think before it answers"),
)
_REASONS = {
    ModelOrigin.CALLER: "Named for this run",
    ModelOrigin.CHOSEN: "Chosen for this conversation",
    ModelOrigin.LAST_USED: "Used last in this conversation",
    ModelOrigin.SETTINGS: "As in the settings",
}


class RowKind(Enum):
    """What a row is."""

    SETTINGS = "settings"
    MODEL = "model"
    GONE = "gone"
    PROBLEM = "problem"
    LOOKING = "looking"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One row. `title` and `detail` are its two lines; `engine` and `model` are what choosing it means, both
    None for "as in the settings"."""

    kind: RowKind
    title: str
    detail: str = ""
    engine: EngineKind | None = None
    model: str | None = None
    capabilities: frozenset[str] = frozenset()
    is_loaded: bool = False
    is_chosen: bool = False

    @property
    def can_be_chosen(self) -> bool:
        """False for what is only said."""
        return self.kind in (RowKind.SETTINGS, RowKind.MODEL)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What the model can do, as marks."""
        return tuple(mark for name, mark, _ in _CAPABILITIES if name in self.capabilities)

    @property
    def abilities(self) -> str:
        """What the model can do, in words; empty if it only answers."""
        return ", ".join(words for name, _, words in _CAPABILITIES if name in self.capabilities)

    @property
    def words(self) -> str:
        """The whole row, for who does not see it."""
        parts = [self.title, self.detail, self.abilities]
        parts += ["loaded"] if self.is_loaded else []
        parts += ["chosen"] if self.is_chosen else []
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class PickedModel:
    """What the picker itself shows. `is_gone`: the engine answers and does not have the model."""

    name: str
    engine: EngineKind | None = None
    reason: str = ""
    marks: tuple[Mark, ...] = ()
    abilities: str = ""
    is_gone: bool = False


def picked(standing: ModelStanding, engines: Sequence[EngineModels] | None) -> PickedModel:
    """What the next message goes to. `engines` is None while they are looked at."""
    following = standing.following
    if following is None:
        return PickedModel(_NO_MODEL, reason=_said(standing.problem), is_gone=True)
    info = _info_of(following, engines or ())
    row = _model_row(info, is_chosen=True) if info is not None else None
    if is_gone(following, engines):
        missing = f"{following.engine.label} has no model {following.model} any more"
        why = f"{missing}. Choose another, or get it again"
        return PickedModel(following.model, following.engine, why, is_gone=True)
    reason = _REASONS[standing.origin]
    if following.reason and standing.origin is ModelOrigin.SETTINGS:
        reason = f"{reason}: {following.reason}"
    marks, abilities = (row.marks, row.abilities) if row is not None else ((), "")
    return PickedModel(following.model, following.engine, reason, marks, abilities)


def is_gone(choice: EngineChoice, engines: Sequence[EngineModels] | None) -> bool:
    """True if the engine has answered and does not have the model."""
    of_engine = [one for one in engines or () if one.engine is choice.engine]
    return any(one.answered for one in of_engine) and _info_of(choice, engines or ()) is None


def rows_of(
    standing: ModelStanding | None,
    engines: Sequence[EngineModels] | None,
    wanted: str = "",
    *,
    is_looking: bool = False,
) -> list[ModelRow]:
    """The list from the top. `engines` is what was known last, None for nothing; `wanted`: parts of a name,
    any case; `is_looking`: the engines are being asked."""
    rows = [] if standing is None or wanted.strip() else [_settings_row(standing)]
    looking = [ModelRow(RowKind.LOOKING, LOOKING)]
    if standing is None or engines is None:
        return rows + looking
    chosen = standing.following if standing.origin is not ModelOrigin.SETTINGS else None
    fitting = []
    for engine in engines:
        for info in engine.models:
            if _fits(info, wanted):
                is_chosen = chosen is not None and _means(chosen, info)
                fitting.append(_model_row(info, is_chosen=is_chosen))
    if chosen is not None and not wanted.strip() and is_gone(chosen, engines):
        detail = f"{chosen.engine.label} does not have it any more"
        rows.append(ModelRow(RowKind.GONE, chosen.model, detail, chosen.engine, chosen.model, is_chosen=True))
    rows += fitting
    rows += [
        ModelRow(RowKind.PROBLEM, engine.problem.title, engine.problem.remedy, engine.engine)
        for engine in engines
        if engine.problem is not None
    ]
    if wanted.strip() and not fitting:
        rows.insert(0, ModelRow(RowKind.LOOKING, _NOTHING_FITS))
    return rows + looking if is_looking else rows


def _settings_row(standing: ModelStanding) -> ModelRow:
    settings = standing.by_settings
    name = f" ({settings.model})" if settings is not None else ""
    detail = "No model could be found" if settings is None else settings.reason or settings.engine.label
    is_chosen = standing.origin is ModelOrigin.SETTINGS
    return ModelRow(RowKind.SETTINGS, f"As in the settings{name}", detail, is_chosen=is_chosen)


def _model_row(info: ModelInfo, *, is_chosen: bool) -> ModelRow:
    parts = [info.engine.label, size_words(info.size_bytes)]
    if info.context_length:
        parts.append(f"context {info.context_length:,} tokens")
    return ModelRow(
        RowKind.MODEL,
        info.name,
        " · ".join(parts),
        info.engine,
        info.name,
        info.capabilities,
        info.loaded,
        is_chosen,
    )


def _fits(info: ModelInfo, wanted: str) -> bool:
    name = f"{info.engine.label} {info.name}".casefold()
    return all(part in name for part in wanted.casefold().split())


def _info_of(choice: EngineChoice, engines: Sequence[EngineModels]) -> ModelInfo | None:
    models = (info for engine in engines for info in engine.models)
    return next((info for info in models if _means(choice, info)), None)


def _means(choice: EngineChoice, info: ModelInfo) -> bool:
    return info.engine is choice.engine and info.is_called(choice.model)


def _said(problem: SophosError | None) -> str:
    return problem.message if problem is not None else ""


def size_words(size_bytes: int) -> str:
    """`98 MB`, `5.2 GB`: as engines and shops of models count, in thousands."""
    if size_bytes < 1_000_000_000:
        return f"{max(1, round(size_bytes / 1_000_000))} MB"
    return f"{size_bytes / 1_000_000_000:.1f} GB"
