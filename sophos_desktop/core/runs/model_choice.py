"""Which engine and model one sitting takes, and where they answer.

The order of reasons: what the caller named for this run, what was chosen for the conversation, what it used
last, the settings. Invariant: a choice that fails ends the run only when the model is needed, so that the
user's message is in the thread by then and can be answered by a resume (DURABILITY.md, rule 2).
"""

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.model_choices import (
    CHOICE_KEY,
    ChosenModel,
    ModelOrigin,
    Preference,
    chosen_model,
)
from sophos_desktop.core.domain.ports import EngineDirectory
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelEndpoint
from sophos_desktop.core.store.runs import RunStore

AS_THE_SETTINGS_SAY = Preference(None, None, ModelOrigin.SETTINGS)


def preferred(conversation: Conversation, setting: str, *, goes_on: bool = False) -> Preference:
    """What a conversation prefers where the caller named nothing. `setting`: engine.kind in the settings;
    `goes_on`: for a run that has begun, whose model a later choice does not change.

    What was used last counts where the settings leave it open. A conversation that fell back to the starter
    is not held to it: Ollama may be there by now."""
    choice = None if goes_on else chosen_model(conversation.metadata.get(CHOICE_KEY))
    if choice is not None:
        return of_choice(choice)
    last = conversation.last_run
    if last is None or last.engine is None:
        return AS_THE_SETTINGS_SAY
    if setting == last.engine or (setting == "auto" and last.engine == EngineKind.OLLAMA.value):
        return Preference(EngineKind(last.engine), last.model, ModelOrigin.LAST_USED)
    return AS_THE_SETTINGS_SAY


def of_choice(choice: ChosenModel | None) -> Preference:
    """What a choice alone prefers."""
    if choice is None or choice.engine is None:
        return AS_THE_SETTINGS_SAY
    return Preference(choice.engine, choice.model, ModelOrigin.CHOSEN)


class ModelChoice:
    """Lives for one sitting."""

    def __init__(
        self,
        engines: EngineDirectory,
        runs: RunStore,
        run_id: str,
        engine: EngineKind | None,
        model: str | None,
    ) -> None:
        """`engine` and `model`: what the caller, or the conversation, already decided."""
        self._engines = engines
        self._runs = runs
        self._run_id = run_id
        self._engine = engine
        self._model = model
        self._choice: EngineChoice | None = None
        self._failure: SophosError | None = None
        self._endpoint: ModelEndpoint | None = None

    @property
    def engine(self) -> str | None:
        """The engine's name, as far as it is known."""
        chosen = self._choice.engine if self._choice else self._engine
        return chosen.value if chosen else None

    @property
    def model(self) -> str | None:
        """The model's name, as far as it is known."""
        return self._choice.model if self._choice else self._model

    async def make(self) -> Notice | None:
        """Choose and record it; the sentence that says why where nobody chose."""
        try:
            self._choice = await self._engines.choose(self._engine, self._model)
        except SophosError as error:
            self._failure = error
            return None
        await self._runs.note_model(self._run_id, self._choice.engine.value, self._choice.model)
        if self._choice.reason is None:
            return None
        return Notice(NoticeCode.ENGINE_CHOSEN.value, self._choice.reason)

    async def endpoint(self) -> ModelEndpoint:
        """Where the model answers. Raises SophosError."""
        if self._failure is not None:
            raise self._failure
        assert self._choice is not None
        if self._endpoint is None or self._choice.engine is EngineKind.STARTER:
            # The starter may have died since; asking starts it again.
            self._endpoint = await self._engines.endpoint(self._choice)
        return self._endpoint
