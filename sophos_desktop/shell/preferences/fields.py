"""How each setting is asked for: its label, its choices, its unit.

Invariant: it only words what the core checks; a setting that is not listed here is asked for as text under
its key, so that none is missing from the form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class FieldWords:
    """`choices`: pairs of the text that is stored and the words for it; empty: free text."""

    label: str
    note: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    placeholder: str = ""


SECTIONS: Final[Mapping[str, str]] = {
    "engine": "Engine",
    "answer": "Answers",
    "tools": "Tools",
    "ui": "Appearance",
}

FIELDS: Final[Mapping[str, FieldWords]] = {
    "engine.kind": FieldWords(
        "Engine",
        "Automatic takes Ollama if it answers and has a model.",
        (("auto", "Automatic"), ("ollama", "Ollama"), ("starter", "Starter engine, built in")),
    ),
    "engine.host": FieldWords("Address", "Where Ollama answers.", placeholder="127.0.0.1:11434"),
    "engine.model": FieldWords("Model", "For new conversations.", placeholder="the one used last"),
    "engine.keep_alive": FieldWords(
        "Keep loaded", "Such as 10m; -1 keeps the model for ever.", placeholder="as Ollama likes"
    ),
    "answer.num_ctx": FieldWords(
        "Context", "In tokens. More needs more memory.", placeholder="the model's own, 8192 at most"
    ),
    "answer.temperature": FieldWords("Temperature", "From 0 to 2.", placeholder="as the model has it"),
    "answer.thinking": FieldWords(
        "Thinking",
        "Where the model supports it.",
        (("", "As the model has it"), ("true", "On"), ("false", "Off")),
    ),
    "answer.step_limit": FieldWords("Step limit", "Steps a run may take before it asks to be continued."),
    "tools.start_wait_seconds": FieldWords(
        "Wait for servers", "Seconds a new run waits for tool servers that are starting."
    ),
    "tools.timeout_seconds": FieldWords("Time-out", "Seconds a tool may take to answer."),
    "ui.theme": FieldWords("Theme", "", (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))),
    "ui.interface_size": FieldWords("Interface size", "Pixels, from 11 to 20. View, Zoom multiplies it."),
    "ui.reading_size": FieldWords("Reading size", "Of answers and of what you write. Pixels, from 12 to 24."),
    "ui.send_key": FieldWords(
        "Send with",
        "The other one breaks the line.",
        (("enter", "Enter"), ("ctrl-enter", "Ctrl+Enter")),
    ),
}


def words_of(key: str) -> FieldWords:
    """How a setting is asked for."""
    return FIELDS.get(key) or FieldWords(key)


def section_title(key: str) -> str:
    """The heading that a setting stands below."""
    section = key.partition(".")[0]
    return SECTIONS.get(section, section.capitalize())


def value_text(value: Any) -> str:
    """A value as the core reads it from a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def source_words(source: str, path: str) -> str:
    """Where a value comes from."""
    if source == "default":
        return "Default"
    return "Your settings" if source == path else f"Set by {source} for this start; it cannot be changed here"


def is_fixed(source: str, path: str) -> bool:
    """True if the environment sets it."""
    return source not in ("default", path)
