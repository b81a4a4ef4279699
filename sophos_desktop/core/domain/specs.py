"""What crosses the ports: models, tools and servers, described without any library's types.

Invariant: standard library only; frozen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EngineKind(StrEnum):
    """What serves a model."""

    OLLAMA = "ollama"
    STARTER = "starter"


class Capability(StrEnum):
    """What a model can do; the words are Ollama's."""

    COMPLETION = "completion"
    TOOLS = "tools"
    THINKING = "thinking"
    VISION = "vision"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that an engine has. `context_length` is the model's own limit, in tokens."""

    engine: EngineKind
    name: str
    size_bytes: int
    context_length: int | None
    capabilities: frozenset[str]
    loaded: bool = False
    modified_at: str = ""

    @property
    def can_chat(self) -> bool:
        """True unless it is an embedding model."""
        return Capability.COMPLETION in self.capabilities

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "engine": self.engine.value,
            "name": self.name,
            "size_bytes": self.size_bytes,
            "context_length": self.context_length,
            "capabilities": sorted(self.capabilities),
            "loaded": self.loaded,
        }


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """Where a model answers, ready to be called. `api_key` never goes into a log (it has no repr)."""

    engine: EngineKind
    model: str
    base_url: str
    capabilities: frozenset[str]
    context_length: int | None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which engine and model a run takes, and the sentence that says why where nobody chose them."""

    engine: EngineKind
    model: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What the status bar says of an engine: `text` is a sentence, `remedy` what to do if it is down."""

    engine: EngineKind
    reachable: bool
    text: str
    remedy: str = ""
    version: str | None = None


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """A server's own hints. They count only where the server is built in or trusted by the user."""

    read_only: bool | None = None
    idempotent: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None
    title: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The hints under the protocol's names; those that were not given are left out."""
        named = {
            "readOnlyHint": self.read_only,
            "idempotentHint": self.idempotent,
            "destructiveHint": self.destructive,
            "openWorldHint": self.open_world,
            "title": self.title,
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `name` is `server__tool`, safe, unique and at most 64 characters;
    `input_schema` is JSON Schema; `trusted`: its server is built in or trusted by the user."""

    name: str
    server: str
    tool: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: ToolAnnotations = ToolAnnotations()
    trusted: bool = False

    @property
    def repeatable(self) -> bool:
        """True if an interrupted call may be made again without asking (DURABILITY.md, rule 6)."""
        hints = self.annotations
        return self.trusted and bool(hints.read_only or hints.idempotent)

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "name": self.tool,
            "description": self.description,
            "schema": dict(self.input_schema),
            "annotations": self.annotations.to_json(),
        }


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: `text` for the model; `content` the parts as the protocol gave them; `lost`: it was
    sent and nothing came back, so nobody knows whether it took effect."""

    text: str
    is_error: bool = False
    content: tuple[Mapping[str, Any], ...] = ()
    lost: bool = False


class ServerState(StrEnum):
    """Where a tool server stands."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A tool server as it is shown. `reason` is a sentence; `since` is ISO 8601 in UTC."""

    name: str
    transport: str
    state: ServerState
    reason: str
    since: str
    pid: int | None = None
    stderr_tail: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "name": self.name,
            "transport": self.transport,
            "state": self.state.value,
            "reason": self.reason,
            "pid": self.pid,
            "since": self.since,
            "stderr_tail": list(self.stderr_tail),
            "tools": [tool.to_json() for tool in self.tools],
        }
