"""The passive parts of the fake core: what does not run, and makers of records for tests."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sophos_desktop.core.domain.conversation import Message, MessageState, Role
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolSpec
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.ids import new_id

START = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that goes on by a minute at each look, so that times differ."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        """The next minute."""
        self.moment += timedelta(minutes=1)
        return self.moment

    def monotonic(self) -> float:
        """Seconds since the epoch of the fake."""
        return self.moment.timestamp()


class FakeNeighbours:
    """No other process, but the file changes when the test says so; stops what waits."""

    def __init__(self, end_waiting: Callable[[str], bool]) -> None:
        self._end_waiting = end_waiting
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told by `tell`."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self) -> None:
        """The file changed."""
        for listener in tuple(self._listeners):
            listener()

    async def executing(self, conversation_id: str) -> None:
        """Nobody."""

    async def request_stop(self, conversation_id: str) -> bool:
        """Ends a run that waits."""
        return self._end_waiting(conversation_id)


class FakeServers:
    """Tool servers that the test sets."""

    def __init__(self) -> None:
        self.current: list[ServerStatus] = []
        self.restarted: list[str] = []
        self._listeners: list[Callable[[], None]] = []

    def statuses(self) -> Sequence[ServerStatus]:
        """As the test set them."""
        return self.current

    async def restart(self, name: str) -> ServerStatus:
        """It is ready afterwards."""
        self.restarted.append(name)
        self.set(*(replace(s, state=ServerState.READY) if s.name == name else s for s in self.current))
        return next(status for status in self.current if status.name == name)

    def set(self, *statuses: ServerStatus) -> None:
        """Change them all."""
        self.current = list(statuses)
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told of changes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class FakeTrust:
    """The user's word, without a store."""

    def __init__(self) -> None:
        self.given: dict[str, Trust] = {}
        self.error: SophosError | None = None

    def of(self, name: str) -> Trust:
        """As the test or the user set it."""
        return self.given.get(name, Trust.NONE)

    async def trust(self, name: str) -> Trust:
        """The user trusts it."""
        if self.error is not None:
            raise self.error
        self.given[name] = Trust.USER
        return Trust.USER

    async def revoke(self, name: str) -> Trust:
        """The user does not any more."""
        self.given.pop(name, None)
        return Trust.NONE


class FakeDefinitions:
    """Tools that change when the test says so."""

    def __init__(self) -> None:
        self.told: list[Notice] = []
        self._listeners: list[Callable[[Notice], None]] = []

    def changes(self) -> Sequence[Notice]:
        """What was told."""
        return tuple(self.told)

    def subscribe(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Told of changes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, text: str) -> None:
        """A tool changed."""
        self.told.append(Notice("TOOLS_CHANGED", text))
        for listener in tuple(self._listeners):
            listener(self.told[-1])


@dataclass(frozen=True, slots=True)
class FakeItem:
    """A setting."""

    key: str
    value: Any
    source: str = "default"


class FakeSettings:
    """A theme, a step limit that must be a number, and an address that the environment sets."""

    def __init__(self) -> None:
        self.path = Path("settings.toml")
        self.known = {
            "engine.host": FakeItem("engine.host", "10.0.0.1:11434", "OLLAMA_HOST"),
            "answer.thinking": FakeItem("answer.thinking", None),
            "answer.step_limit": FakeItem("answer.step_limit", 25),
            "ui.theme": FakeItem("ui.theme", "system"),
            "ui.interface_size": FakeItem("ui.interface_size", 13),
            "ui.reading_size": FakeItem("ui.reading_size", 15),
            "ui.send_key": FakeItem("ui.send_key", "enter"),
        }

    @property
    def current(self) -> SimpleNamespace:
        """What holds, as the window reads it."""
        return SimpleNamespace(
            ui=SimpleNamespace(
                theme=self.known["ui.theme"].value,
                interface_size=int(self.known["ui.interface_size"].value),
                reading_size=int(self.known["ui.reading_size"].value),
                send_key=self.known["ui.send_key"].value,
            ),
            tools=SimpleNamespace(approval="auto"),
        )

    def items(self) -> Sequence[FakeItem]:
        """All of them."""
        return tuple(self.known.values())

    def set(self, key: str, text: str) -> None:
        """Refuses what is no number where one is wanted."""
        if key == "answer.step_limit" and text and not text.isdecimal():
            raise SophosError(ErrorCode.BAD_REQUEST, f'{key} cannot be "{text}"')
        defaults = {
            "answer.step_limit": 25,
            "ui.theme": "system",
            "ui.interface_size": 13,
            "ui.reading_size": 15,
            "ui.send_key": "enter",
        }
        source = str(self.path) if text else "default"
        self.known[key] = FakeItem(key, text or defaults.get(key), source)


@dataclass(frozen=True, slots=True)
class FakeCheck:
    """What a doctor found."""

    id: str
    ok: bool
    text: str
    remedy: str = ""


class FakeDoctor:
    """Finds one thing wrong."""

    async def examine(self) -> Sequence[FakeCheck]:
        """Two checks."""
        return (
            FakeCheck("data_dir", True, "Everything is kept in data"),
            FakeCheck("engine", False, "Nobody answers", "Start Ollama"),
        )


class FakeExports:
    """Writes nothing; `gate` holds it."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], Path, ExportFormat]] = []
        self.error: SophosError | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def write(
        self,
        conversation_ids: Sequence[str],
        target: Path,
        kind: ExportFormat,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        into_folder: bool | None = None,
    ) -> Sequence[Path]:
        """The first one at once, the others once the gate is open."""
        self.asked.append((tuple(conversation_ids), target, kind))
        if self.error is not None:
            raise self.error
        if on_progress is not None:
            on_progress(1, len(conversation_ids))
        await self.gate.wait()
        if not into_folder:
            return [target]
        return [target / kind.file_name(conversation_id) for conversation_id in conversation_ids]


def record(
    conversation_id: str,
    run_id: str,
    status: RunStatus,
    code: str | None = None,
    message: str | None = None,
    *,
    kind: RunKind = RunKind.MESSAGE,
    unfinished: bool = False,
) -> RunRecord:
    """A run's row."""
    return RunRecord(
        run_id,
        conversation_id,
        kind,
        status,
        code,
        message,
        "ollama",
        "qwen3:8b",
        None,
        to_text(START),
        None if status.is_active else to_text(START),
        unfinished=unfinished,
    )


def interrupted(conversation_id: str = "") -> RunRecord:
    """A run that a kill cut off."""
    return record(conversation_id, new_id(), RunStatus.INTERRUPTED, unfinished=True)


def user(text: str) -> Message:
    """A message of the user."""
    return Message(new_id(), Role.USER, text)


def assistant(text: str, state: MessageState = MessageState.COMPLETE, **more: Any) -> Message:
    """A message of the model."""
    return Message(new_id(), Role.ASSISTANT, text, state=state, **more)


def server(name: str, state: ServerState, tools: int = 0, reason: str = "") -> ServerStatus:
    """A tool server as it stands."""
    specs = tuple(ToolSpec(f"{name}__{i}", name, f"tool{i}", "", {}) for i in range(tools))
    return ServerStatus(name, "stdio", state, reason, to_text(START), tools=specs)
