"""Talks to Ollama's own API: version, models, what they can do, which are loaded.

Invariant: every failure is a SophosError that names the address; nothing here chats. Requests to this
machine bypass proxies, and no connection is kept, so that a restarted Ollama is found at once.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

import httpx

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import Capability, EngineKind, ModelInfo
from sophos_desktop.foundation.loopback import is_loopback

ANSWER_SECONDS = 30.0
CONNECT_SECONDS = 5.0
# An entry of the list takes under 1 kB: room for tens of thousands of models, and a bound on the memory that
# whatever else answers at the address can take.
LARGEST_ANSWER_BYTES = 32 * 1024 * 1024

_EMBEDDING_FAMILIES = frozenset({"bert", "nomic-bert", "xlm-roberta", "gte", "jina-bert-v2"})
_VISION_FAMILIES = frozenset({"clip", "mllama"})


@dataclass(frozen=True, slots=True)
class ModelTag:
    """One entry of `/api/tags`. `capabilities` and `context_length` are None if the server does not say."""

    name: str
    digest: str
    size_bytes: int
    modified_at: str
    families: frozenset[str]
    capabilities: frozenset[str] | None
    context_length: int | None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What `/api/show` says of a model: what it can do, and its own limit in tokens."""

    capabilities: frozenset[str]
    context_length: int | None


class OllamaApi:
    """A client for one address. Lives until `close`; all methods on one event loop."""

    def __init__(self, base_url: str) -> None:
        """`base_url` as `parse_host` gives it."""
        self.base_url = base_url
        self._client: httpx.AsyncClient | None = None

    async def version(self, timeout_seconds: float = ANSWER_SECONDS) -> str:
        """The server's version. Raises SophosError."""
        answer = await self._json("GET", "/api/version", timeout_seconds=timeout_seconds)
        return str(answer.get("version", ""))

    async def tags(self, timeout_seconds: float = ANSWER_SECONDS) -> Sequence[ModelTag]:
        """The models that it has, in its order. Raises SophosError."""
        answer = await self._json("GET", "/api/tags", timeout_seconds=timeout_seconds)
        return [_tag(entry) for entry in _models(answer)]

    async def show(self, name: str) -> ModelFacts:
        """Facts about one model. Raises SophosError, MODEL_UNAVAILABLE if it is not there."""
        answer = await self._json("POST", "/api/show", body={"model": name})
        return facts_from_show(answer)

    async def loaded(self) -> frozenset[str]:
        """Names of the models in memory now. Raises SophosError."""
        answer = await self._json("GET", "/api/ps")
        return frozenset(str(entry.get("name", "")) for entry in _models(answer))

    async def close(self) -> None:
        """Give back what the client holds."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _json(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        timeout_seconds: float = ANSWER_SECONDS,
    ) -> Mapping[str, Any]:
        timeout = httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_SECONDS))
        try:
            async with self._http().stream(method, path, json=body, timeout=timeout) as response:
                content = await self._content(response, path)
        except (httpx.TransportError, httpx.InvalidURL, ValueError, ImportError) as error:
            # The last two: a proxy in the environment that cannot be used.
            raise unreachable(self.base_url, error) from error
        words = _error_words(response, content)
        if response.status_code >= 400:
            raise self._refused(response.status_code, words, body)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise SophosError(
                ErrorCode.ENGINE_ERROR,
                f"What answers at {self.base_url} is not Ollama",
                "Set `engine.host` to the address where Ollama runs",
            )
        return answer

    async def _content(self, response: httpx.Response, path: str) -> bytes:
        """The whole body. Raises SophosError ENGINE_ERROR beyond the bound, httpx.TransportError."""
        announced = response.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > LARGEST_ANSWER_BYTES:
            raise self._too_large(path)
        content = bytearray()
        async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_bytes())) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > LARGEST_ANSWER_BYTES:
                    raise self._too_large(path)
        return bytes(content)

    def _too_large(self, path: str) -> SophosError:
        return SophosError(
            ErrorCode.ENGINE_ERROR,
            f"The answer to {path} at {self.base_url} is larger than "
            f"{LARGEST_ANSWER_BYTES // (1024 * 1024)} MB, and was not read to its end",
            "See what answers there: Ollama's own answers are far smaller",
        )

    def _refused(self, status: int, words: str, body: Mapping[str, Any] | None) -> SophosError:
        if status == 503:
            return SophosError(
                ErrorCode.ENGINE_BUSY,
                "Ollama has too much to do",
                "Try again when it has less to do",
                details=words,
            )
        if status == 404 and body is not None:
            return model_missing(str(body.get("model", "")), self.base_url, ())
        return SophosError(
            ErrorCode.ENGINE_ERROR,
            f"Ollama at {self.base_url} refused the request",
            "Try again; if it is refused again, see whether Ollama runs as it should and is up to date",
            details=f"{words} (status {status})",
        )

    def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                base_url=self.base_url,
                trust_env=not is_loopback(self.base_url),
                # Loading certificates takes 30 ms of the loop; plain HTTP never looks at them.
                verify=self.base_url.startswith("https:"),
                limits=httpx.Limits(max_keepalive_connections=0),
            )
        return self._client


def unreachable(base_url: str, error: BaseException) -> SophosError:
    """Nobody answers at the address."""
    reason = str(error) or type(error).__name__
    return SophosError(
        ErrorCode.ENGINE_UNREACHABLE,
        f"Ollama does not answer at {base_url}",
        "Start it with `ollama serve`, or set `engine.host` to the address where it runs",
        details=reason,
    )


def model_missing(name: str, base_url: str, available: Sequence[str]) -> SophosError:
    """The engine does not have the model; says what it has."""
    has = f"; it has {', '.join(available)}" if available else ""
    return SophosError(
        ErrorCode.MODEL_UNAVAILABLE,
        f"Ollama at {base_url} does not have the model {name}{has}",
        f"Get it with `ollama pull {name}`, or choose another model",
    )


def facts_from_show(answer: Mapping[str, Any]) -> ModelFacts:
    """Facts from the answer of `/api/show`; servers before 0.6.4 give no capabilities: derive them."""
    info = answer.get("model_info")
    info = info if isinstance(info, dict) else {}
    length = info.get(f"{info.get('general.architecture', '')}.context_length")
    told = answer.get("capabilities")
    if isinstance(told, list):
        capabilities = frozenset(str(item) for item in told)
    else:
        families = _families(answer.get("details"))
        template = str(answer.get("template", ""))
        capabilities = derive_capabilities(families, has_tools=".Tools" in template)
    return ModelFacts(capabilities, length if isinstance(length, int) else None)


def derive_capabilities(families: frozenset[str], *, has_tools: bool) -> frozenset[str]:
    """What a model can do by its families, where the server is too old to say."""
    if families & _EMBEDDING_FAMILIES:
        return frozenset({Capability.EMBEDDING.value})
    capabilities = {Capability.COMPLETION.value}
    if has_tools:
        capabilities.add(Capability.TOOLS.value)
    if families & _VISION_FAMILIES:
        capabilities.add(Capability.VISION.value)
    return frozenset(capabilities)


def model_info(tag: ModelTag, facts: ModelFacts, *, loaded: bool) -> ModelInfo:
    """Tag and facts as the domain's type."""
    return ModelInfo(
        engine=EngineKind.OLLAMA,
        name=tag.name,
        size_bytes=tag.size_bytes,
        context_length=facts.context_length,
        capabilities=facts.capabilities,
        loaded=loaded,
        modified_at=tag.modified_at,
    )


def _models(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = answer.get("models")
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict) and entry.get("name")]


def _tag(entry: Mapping[str, Any]) -> ModelTag:
    told = entry.get("capabilities")
    details = entry.get("details")
    length = details.get("context_length") if isinstance(details, dict) else None
    size = entry.get("size")
    return ModelTag(
        name=str(entry["name"]),
        digest=str(entry.get("digest", "")),
        size_bytes=size if isinstance(size, int) else 0,
        modified_at=str(entry.get("modified_at", "")),
        families=_families(details),
        capabilities=frozenset(str(item) for item in told) if isinstance(told, list) else None,
        context_length=length if isinstance(length, int) else None,
    )


def _families(details: Any) -> frozenset[str]:
    if not isinstance(details, dict):
        return frozenset()
    several = details.get("families")
    names = several if isinstance(several, list) else []
    return frozenset(str(name) for name in [*names, details.get("family")] if name)


def _error_words(response: httpx.Response, content: bytes) -> str:
    """The engine's own words for an error, or the beginning of whatever came."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and answer.get("error"):
        return str(answer["error"])
    return content[:2000].decode("utf-8", "replace").strip()[:200] or response.reason_phrase
