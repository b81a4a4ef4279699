"""Which engine and model one sitting takes, and where they answer.

Invariant: a choice that fails ends the run only when the model is needed, so that the user's message is in
the thread by then and can be answered by a resume (DURABILITY.md, rule 2).
"""

from sophos_desktop.core.domain.errors import NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.ports import EngineDirectory
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelEndpoint
from sophos_desktop.core.store.runs import RunStore


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
