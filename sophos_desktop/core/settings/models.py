"""The settings and what each may be.

Invariant: frozen; every value is valid. Each key is checked by itself, so that one bad value spoils no other.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

DEFAULT_STEP_LIMIT = 25
SMALLEST_CONTEXT = 256


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineSettings(_Section):
    """Which engine and model. An empty text leaves the choice open."""

    kind: Literal["auto", "ollama", "starter"] = "auto"
    host: str = ""
    model: str = ""
    keep_alive: str = ""


class AnswerSettings(_Section):
    """How the model answers. None leaves the choice to the model; `step_limit` counts super-steps."""

    num_ctx: Annotated[int, Field(ge=SMALLEST_CONTEXT)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    thinking: bool | None = None
    step_limit: int = DEFAULT_STEP_LIMIT


class ToolSettings(_Section):
    """How tools are called; times in seconds. `approval`: what happens to a call that neither the user nor
    mcp.json decided about; `auto` leaves it to each tool."""

    approval: Literal["auto", "ask", "allow", "deny"] = "auto"
    start_wait_seconds: Annotated[float, Field(ge=0, le=600)] = 5.0
    timeout_seconds: Annotated[float, Field(gt=0, le=86400)] = 120.0


class UiSettings(_Section):
    """How the window looks; sizes of type in pixels, before the window's zoom. `send_key`: what sends a
    message; with `ctrl-enter`, Enter breaks the line."""

    theme: Literal["system", "light", "dark"] = "system"
    interface_size: Annotated[int, Field(ge=11, le=20)] = 13
    reading_size: Annotated[int, Field(ge=12, le=24)] = 15
    send_key: Literal["enter", "ctrl-enter"] = "enter"


class Settings(_Section):
    """All settings, as they are in force."""

    engine: EngineSettings = EngineSettings()
    answer: AnswerSettings = AnswerSettings()
    tools: ToolSettings = ToolSettings()
    ui: UiSettings = UiSettings()


def _adapters() -> dict[str, TypeAdapter[Any]]:
    adapters: dict[str, TypeAdapter[Any]] = {}
    for section, outer in Settings.model_fields.items():
        kind = outer.annotation
        assert isinstance(kind, type)
        assert issubclass(kind, _Section)
        for name, field in kind.model_fields.items():
            checked: Any = Annotated[field.annotation, field]
            adapters[f"{section}.{name}"] = TypeAdapter(checked)
    return adapters


ADAPTERS: dict[str, TypeAdapter[Any]] = _adapters()
"""What checks each key, `section.name`; in the order in which they are shown."""


def assemble(values: dict[str, Any]) -> Settings:
    """Settings from checked values by key; what is missing has its default."""
    sections: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        sections.setdefault(section, {})[name] = value
    return Settings.model_validate(sections)
