"""What a real Ollama server sent, case by case: the recordings in `wire/`; data, never edited."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "wire"
_LEFT_OUT = "… "


@dataclass(frozen=True, slots=True)
class Recording:
    """One request and its answer. `lines` without the marks where lines were left out."""

    name: str
    method: str
    path: str
    body: Any
    status: int
    headers: dict[str, str]
    lines: tuple[str, ...]
    ends_with_newline: bool
    broken: bool

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The lines as objects."""
        return [json.loads(line) for line in self.lines]


def recording(name: str) -> Recording:
    """The recording called `name`."""
    value = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    request = value["request"]
    return Recording(
        name=name,
        method=request["method"],
        path=request["path"],
        body=request["body"],
        status=value["status"],
        headers=value["headers"],
        lines=tuple(line for line in value["lines"] if not line.startswith(_LEFT_OUT)),
        ends_with_newline=bool(value.get("ends_with_newline")),
        broken="broken" in value,
    )


def recordings(prefix: str = "") -> list[str]:
    """The names of the recordings that begin so."""
    return sorted(path.stem for path in _FOLDER.glob(f"{prefix}*.json"))
