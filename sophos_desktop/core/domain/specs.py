"""What crosses the ports: models, tools and servers, described without any library's types.

Invariant: standard library only; frozen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from sophos_desktop.core.domain.conversation import AttachmentRef


class EngineKind(StrEnum):
    """What serves a model."""

    OLLAMA = "ollama"
    STARTER = "starter"

    @property
    def label(self) -> str:
        """What a person reads."""
        return self.value.capitalize()


class Capability(StrEnum):
    """What a model can do; the words are Ollama's."""

    COMPLETION = "completion"
    TOOLS = "tools"
    THINKING = "thinking"
    VISION = "vision"
    EMBEDDING = "embedding"


def full_model_name(name: str) -> str:
    """The name with its tag; the colon of a registry's port is not one of a tag."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


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

    def is_called(self, name: str) -> bool:
        """True if `name` means this model; one without a tag means `:latest`."""
        return full_model_name(self.name) == full_model_name(name)

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
    `input_schema` is JSON Schema; `trusted`: its server is built in or trusted by the user;
    `fingerprint` changes whenever its definition or its server's command does."""

    name: str
    server: str
    tool: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: ToolAnnotations = ToolAnnotations()
    trusted: bool = False
    fingerprint: str = ""

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
    """What a call gave. `text` is for the model; `content`, `structured` and `meta` are the parts, the
    structured content and the `_meta` as the protocol gave them; `lost`: it was sent and nothing came back,
    so nobody knows whether it took effect.

    Where a result is kept as an attachment, `text` is its head, the parts are in the attachment alone, and
    `whole` holds its bytes until the journal has stored them."""

    text: str
    is_error: bool = False
    content: tuple[Mapping[str, Any], ...] = ()
    lost: bool = False
    structured: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    attachment: AttachmentRef | None = None
    whole: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ToolNote:
    """What a server said while a call was under way: how far it is, a log line, or a request of its own
    (sampling, elicitation, roots) that was declined. `progress` of `total`, in the server's own unit."""

    kind: Literal["progress", "log", "declined"]
    text: str
    level: str | None = None
    progress: float | None = None
    total: float | None = None


class ServerState(StrEnum):
    """Where a tool server stands."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A tool server as it is shown. `reason` is a sentence; `since` is ISO 8601 in UTC; `resources` are URIs,
    `prompts` names; `instructions` are the server's own words, untrusted and bounded."""

    name: str
    transport: str
    state: ServerState
    reason: str
    since: str
    pid: int | None = None
    stderr_tail: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    resources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    instructions: str = ""

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
            "resources": list(self.resources),
            "prompts": list(self.prompts),
            "instructions": self.instructions,
        }
