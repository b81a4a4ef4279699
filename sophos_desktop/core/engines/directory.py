"""The engines as the rest of the core sees them: models, choice, endpoint, status (port `EngineDirectory`).

Invariant: what the caller named is never replaced by something else; what the caller left open is filled
in by the settings, and what these leave open by what answers, with a sentence that says which and why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import (
    Capability,
    EngineChoice,
    EngineKind,
    EngineStatus,
    ModelEndpoint,
    ModelInfo,
    full_model_name,
)
from sophos_desktop.core.engines.ollama_api import ModelFacts, ModelTag, OllamaApi, model_info, model_missing
from sophos_desktop.core.engines.ollama_host import parse_host
from sophos_desktop.core.engines.starter_process import FETCH, STARTER_MODEL, StarterProcess

PROBE_SECONDS = 1.5
_FACTS_SECONDS = 60.0
_SHOWS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class EngineConfiguration:
    """What the settings say. `kind` None is `auto`; `host` in any form that `OLLAMA_HOST` may have."""

    kind: EngineKind | None = None
    host: str = ""
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Cached:
    facts: ModelFacts
    at: float


class Engines:
    """Lives as long as the core, on its loop; `close` ends the starter too."""

    def __init__(
        self,
        configuration: Callable[[], EngineConfiguration],
        starter: StarterProcess,
        last_used: Callable[[], Awaitable[str | None]],
    ) -> None:
        """`configuration` is asked at each use; `last_used` gives the model of the latest Ollama run."""
        self._configuration = configuration
        self._starter = starter
        self._last_used = last_used
        self._apis: dict[str, OllamaApi] = {}
        self._facts: dict[tuple[str, str, str], _Cached] = {}

    async def models(self, engine: EngineKind) -> Sequence[ModelInfo]:
        """What an engine has. Raises SophosError ENGINE_UNREACHABLE or ENGINE_ERROR."""
        if engine is EngineKind.STARTER:
            return await self._starter_models()
        api = self._api()
        tags, loaded = await asyncio.gather(api.tags(), api.loaded())
        return await self._described(api, tags, loaded)

    async def choose(self, engine: EngineKind | None, model: str | None) -> EngineChoice:
        """Fill in what the caller left open. Raises SophosError."""
        configuration = self._configuration()
        kind = engine or configuration.kind
        if kind is EngineKind.STARTER:
            return EngineChoice(EngineKind.STARTER, model or STARTER_MODEL)
        wanted = model or configuration.model
        if kind is EngineKind.OLLAMA:
            return EngineChoice(kind, wanted) if wanted else await self._pick()
        return await (self._find(wanted) if wanted else self._choose_freely())

    async def endpoint(self, choice: EngineChoice) -> ModelEndpoint:
        """Where it answers; starts the starter. Raises SophosError (MODEL_UNAVAILABLE, …)."""
        if choice.engine is EngineKind.STARTER:
            return await self._starter_endpoint(choice.model)
        api = self._api()
        tags = await api.tags()
        tag = _match(choice.model, tags)
        if tag is None:
            raise model_missing(choice.model, api.base_url, [tag.name for tag in tags])
        facts = await self._facts_of(api, tag)
        return ModelEndpoint(
            EngineKind.OLLAMA, tag.name, api.base_url, facts.capabilities, facts.context_length
        )

    async def status(self, engine: EngineKind | None = None) -> EngineStatus:
        """How an engine stands now; None: the one that the settings lead to."""
        configuration = self._configuration()
        kind = engine or configuration.kind
        if kind is EngineKind.STARTER:
            return await self._starter_status("")
        api = self._api()
        try:
            version = await api.version(PROBE_SECONDS)
            choice = await self.choose(None, None) if engine is None else None
        except SophosError as error:
            if kind is None and not configuration.model:
                return await self._starter_status(f"{error.title}; ")
            return EngineStatus(EngineKind.OLLAMA, reachable=False, text=error.title, remedy=error.remedy)
        if choice is not None and choice.engine is EngineKind.STARTER:
            return await self._starter_status(f"Ollama at {api.base_url} has no model that can chat; ")
        text = f"Ollama {version} answers at {api.base_url}"
        return EngineStatus(EngineKind.OLLAMA, reachable=True, text=text, version=version)

    async def close(self) -> None:
        """End the starter and give back the clients."""
        try:
            await self._starter.close()
        finally:
            while self._apis:
                await self._apis.popitem()[1].close()

    def _api(self) -> OllamaApi:
        """A client for the address that the settings name now. Idle ones hold no connection."""
        base_url = parse_host(self._configuration().host)
        if base_url not in self._apis:
            self._apis[base_url] = OllamaApi(base_url)
        return self._apis[base_url]

    async def _find(self, wanted: str) -> EngineChoice:
        """The engine for a model that was named, where no engine was."""
        if wanted == STARTER_MODEL and not await self._ollama_has(wanted):
            return EngineChoice(EngineKind.STARTER, STARTER_MODEL)
        return EngineChoice(EngineKind.OLLAMA, wanted)

    async def _ollama_has(self, name: str) -> bool:
        try:
            return _match(name, await self._api().tags(PROBE_SECONDS)) is not None
        except SophosError:
            return False

    async def _choose_freely(self) -> EngineChoice:
        try:
            return await self._pick()
        except SophosError as error:
            reason = f"{error.title}, so the built-in starter model answers"
            return EngineChoice(EngineKind.STARTER, STARTER_MODEL, reason)

    async def _pick(self) -> EngineChoice:
        """The last used model of Ollama, else the newest, preferring one with tools. Raises SophosError."""
        api = self._api()
        tags = await api.tags(PROBE_SECONDS)
        models = [model for model in await self._described(api, tags, frozenset()) if model.can_chat]
        if not models:
            raise SophosError(
                ErrorCode.MODEL_UNAVAILABLE,
                f"Ollama at {api.base_url} has no model that can chat",
                "Get one, for example with `ollama pull llama3.2`",
            )
        last = await self._last_used()
        if last is not None and (tag := _match(last, tags)) and any(m.name == tag.name for m in models):
            reason = f"Ollama at {api.base_url} has {tag.name}, which you used last"
            return EngineChoice(EngineKind.OLLAMA, tag.name, reason)
        with_tools = [model for model in models if Capability.TOOLS in model.capabilities]
        newest = max(with_tools or models, key=lambda model: model.modified_at)
        kind = "model with tools" if with_tools else "model"
        reason = f"Ollama answers at {api.base_url}, and {newest.name} is its newest {kind}"
        return EngineChoice(EngineKind.OLLAMA, newest.name, reason)

    async def _described(
        self, api: OllamaApi, tags: Sequence[ModelTag], loaded: frozenset[str]
    ) -> Sequence[ModelInfo]:
        """Tags with their facts, asked for a few at once. A model that vanishes meanwhile is left out."""
        at_once = asyncio.Semaphore(_SHOWS_AT_ONCE)

        async def describe(tag: ModelTag) -> ModelInfo | None:
            try:
                async with at_once:
                    facts = await self._facts_of(api, tag)
            except SophosError as error:
                if error.code is ErrorCode.MODEL_UNAVAILABLE:
                    return None
                raise
            return model_info(tag, facts, loaded=tag.name in loaded)

        found = await asyncio.gather(*(describe(tag) for tag in tags))
        return [model for model in found if model is not None]

    async def _facts_of(self, api: OllamaApi, tag: ModelTag) -> ModelFacts:
        """What the tag itself says, else what the server says of the model, kept for a minute."""
        if tag.capabilities is not None and tag.context_length is not None:
            return ModelFacts(tag.capabilities, tag.context_length)
        key = (api.base_url, tag.name, tag.digest)
        cached = self._facts.get(key)
        now = time.monotonic()
        if cached is not None and cached.facts.context_length and now - cached.at < _FACTS_SECONDS:
            return cached.facts
        facts = await api.show(tag.name)
        self._facts[key] = _Cached(facts, now)
        return facts

    async def _starter_models(self) -> Sequence[ModelInfo]:
        size = await asyncio.to_thread(_file_size, self._starter)
        if size is None:
            return ()
        return (
            ModelInfo(
                engine=EngineKind.STARTER,
                name=STARTER_MODEL,
                size_bytes=size,
                context_length=self._starter.context_length,
                capabilities=frozenset({Capability.COMPLETION.value}),
                loaded=self._starter.alive,
            ),
        )

    async def _starter_endpoint(self, model: str) -> ModelEndpoint:
        if full_model_name(model) != full_model_name(STARTER_MODEL):
            raise SophosError(
                ErrorCode.MODEL_UNAVAILABLE,
                f"The built-in starter does not have the model {model}; it has {STARTER_MODEL}",
                "Choose that one, or Ollama as the engine",
            )
        address = await self._starter.ensure()
        return ModelEndpoint(
            engine=EngineKind.STARTER,
            model=STARTER_MODEL,
            base_url=f"{address.base_url}/v1",
            capabilities=frozenset({Capability.COMPLETION.value}),
            context_length=self._starter.context_length,
            api_key=address.api_key,
        )

    async def _starter_status(self, why: str) -> EngineStatus:
        if await self._starter_models():
            text = f"{why}the built-in starter model {STARTER_MODEL} answers"
            return EngineStatus(EngineKind.STARTER, reachable=True, text=_sentence(text))
        text = _sentence(f"{why}the built-in starter model is not there")
        return EngineStatus(EngineKind.STARTER, reachable=False, text=text, remedy=FETCH)


def _match(name: str, tags: Sequence[ModelTag]) -> ModelTag | None:
    """The tag with this name; a name without tag means `:latest`."""
    return next((tag for tag in tags if tag.name == name or tag.name == full_model_name(name)), None)


def _file_size(starter: StarterProcess) -> int | None:
    try:
        model = starter.find_model()
        return None if model is None else model.stat().st_size
    except OSError:
        return None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
