"""Checks the installation: one line a check, each with its remedy.

Invariant: a check never changes anything and never raises; what it cannot find out is a failed check.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import psutil

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.ports import EngineDirectory, ServerDirectory
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.runs.damage import older_state
from sophos_desktop.core.runs.journal_check import ATTACH_AGAIN, JournalCheck
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.settings.service import SettingsService
from sophos_desktop.core.store.consistency import ConsistencyStore
from sophos_desktop.core.store.database import Database, file_system_of
from sophos_desktop.core.store.migrations import CURRENT_VERSION
from sophos_desktop.foundation import owner_lock
from sophos_desktop.foundation.paths import AppPaths

THREADS_READ = 200
FINDINGS_SHOWN = 20
LOW_DISK_BYTES = 500 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found. `remedy` is empty where all is well."""

    id: str
    ok: bool
    text: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"id": self.id, "ok": self.ok, "text": self.text, "remedy": self.remedy}


class Doctor:
    """Lives as long as the core."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        paths: AppPaths,
        settings: SettingsService,
        engines: EngineDirectory,
        servers: ServerDirectory,
        owner_id: str,
    ) -> None:
        """Looks at everything that the core opened."""
        self._database = database
        self._stores = stores
        self._paths = paths
        self._settings = settings
        self._engines = engines
        self._servers = servers
        self._owner_id = owner_id

    async def examine(self) -> Sequence[Check]:
        """All checks, in the contract's order."""
        steps: tuple[tuple[str, Callable[[], Awaitable[Check]]], ...] = (
            ("data_dir", self._data_dir),
            ("file_system", self._file_system),
            ("disk_space", self._disk_space),
            ("store_integrity", self._store_integrity),
            ("store_schema", self._store_schema),
            ("threads", self._threads),
            ("runs", self._runs),
            ("journal", self._journal),
            ("orphans", self._orphans),
            ("settings", self._settings_files),
            ("engine", self._engine),
            ("model", self._model),
            ("servers", self._tool_servers),
        )
        return [await _guarded(name, step) for name, step in steps]

    async def _data_dir(self) -> Check:
        return Check("data_dir", True, f"Everything is kept in {self._paths.data_dir}")

    async def _file_system(self) -> Check:
        kind = await asyncio.to_thread(file_system_of, self._database.path)
        return Check("file_system", True, f"The file lies on a local file system ({kind or 'unknown'})")

    async def _disk_space(self) -> Check:
        free = (await asyncio.to_thread(shutil.disk_usage, self._paths.data_dir)).free
        text = f"{free / 1e9:.1f} GB are free"
        if free < LOW_DISK_BYTES:
            return Check("disk_space", False, text, "Free some space on the disk")
        return Check("disk_space", True, text)

    async def _store_integrity(self) -> Check:
        problems = await self._database.integrity_problems()
        if problems:
            remedy = "Keep the file and put a backup in its place"
            return Check("store_integrity", False, f"The file is damaged: {problems[0]}", remedy)
        return Check("store_integrity", True, "The file is sound")

    async def _store_schema(self) -> Check:
        return Check("store_schema", True, f"The schema is version {CURRENT_VERSION}")

    async def _threads(self) -> Check:
        newest = await self._stores.conversations.find_all(limit=THREADS_READ)
        unreadable = []
        older = []
        for conversation in newest:
            try:
                thread = await self._stores.graph.read(conversation.id)
            except SophosError as error:
                unreadable.append(conversation.id)
                state = await older_state(self._stores, conversation.id, error)
                if state:
                    older.append(f"{state} in {conversation.id}")
                continue
            if thread.message_count < conversation.message_count:
                unreadable.append(conversation.id)
        if unreadable:
            text = f"{len(unreadable)} of the newest {len(newest)} conversations cannot be read whole: "
            remedy = "Keep the file; the other conversations are sound. Put back a backup to have these again"
            return Check("threads", False, text + ", ".join(unreadable), ". ".join([remedy, *older]))
        return Check("threads", True, f"The newest {len(newest)} conversations can be read")

    async def _runs(self) -> Check:
        wrong = []
        for record in await self._stores.runs.with_status(RunStatus.RUNNING):
            if not await self._is_alive(record.owner or ""):
                wrong.append(record.conversation_id)
        if wrong:
            text = f"{len(wrong)} runs have lost their process"
            return Check("runs", False, text, "Start Sophos again: it recovers them")
        waiting = len(await self._stores.runs.with_status(RunStatus.WAITING))
        return Check("runs", True, f"No run is stuck; {waiting} wait for a decision")

    async def _is_alive(self, owner: str) -> bool:
        return owner == self._owner_id or await asyncio.to_thread(
            owner_lock.is_alive, self._paths.owners_dir, owner
        )

    async def _journal(self) -> Check:
        check = JournalCheck(ConsistencyStore(self._database), self._stores.graph, self._is_alive)
        count, shown = 0, []
        async with aclosing(check.findings()) as findings:
            async for finding in findings:
                count += 1
                if count <= FINDINGS_SHOWN:
                    shown.append(finding.sentence())
        async with aclosing(self._stores.attachments.damaged()) as damaged:
            async for sha256, name in damaged:
                count += 1
                if count <= FINDINGS_SHOWN:
                    shown.append(f"the attachment {sha256[:8]} (“{name}”) is damaged. {ATTACH_AGAIN}")
        if count:
            more = [f"{count - FINDINGS_SHOWN} more are not shown"] if count > FINDINGS_SHOWN else []
            text = f"The records do not agree in {_places(count)}: {'; '.join([*shown, *more])}"
            return Check("journal", False, text, "Nothing was changed; all other conversations agree")
        left_out = check.worked_on + check.unreadable
        besides = f"; {left_out} could not be compared now" if left_out else ""
        text = f"Threads, journal and runs of {check.checked} conversations agree{besides}"
        return Check("journal", True, text)

    async def _orphans(self) -> Check:
        orphans = []
        for child in await self._stores.children.all():
            alive = await self._is_alive(child.owner)
            if not alive and child.pid is not None and psutil.pid_exists(child.pid):
                orphans.append(child.what)
        if orphans:
            text = f"Left behind by a killed app: {', '.join(orphans)}"
            return Check("orphans", False, text, "Start Sophos again: it ends them")
        return Check("orphans", True, "No child process was left behind")

    async def _settings_files(self) -> Check:
        problems = [notice.text for notice in self._settings.notices]
        if problems:
            return Check(
                "settings", False, "; ".join(problems), "Correct the file; `config` shows what is used"
            )
        return Check("settings", True, "The settings are valid")

    async def _engine(self) -> Check:
        status = await self._engines.status()
        return Check("engine", status.reachable, status.text, status.remedy)

    async def _model(self) -> Check:
        choice = await self._engines.choose(None, None)
        if choice.model in {model.name for model in await self._engines.models(choice.engine)}:
            return Check("model", True, f"{choice.model} answers next")
        remedy = f"Get it with `ollama pull {choice.model}`, or choose another model"
        return Check("model", False, f"{choice.engine.value} does not have {choice.model}", remedy)

    async def _tool_servers(self) -> Check:
        statuses = self._servers.statuses()
        failed = [status for status in statuses if status.state is ServerState.FAILED]
        if failed:
            text = "; ".join(f"{status.name}: {status.reason}" for status in failed)
            remedy = "Correct mcp.json, or switch the server off there"
            if (await asyncio.to_thread(shutil.disk_usage, self._paths.data_dir)).free < LOW_DISK_BYTES:
                remedy = "Free some space on the disk first: a server may fail for that alone"
            return Check("servers", False, text, remedy)
        tools = sum(len(status.tools) for status in statuses)
        return Check("servers", True, f"{len(statuses)} servers, {tools} tools")


def _places(count: int) -> str:
    return "one place" if count == 1 else f"{count} places"


async def _guarded(name: str, step: Callable[[], Awaitable[Check]]) -> Check:
    try:
        return await step()
    except SophosError as error:
        return Check(name, False, error.title, error.remedy)
    except OSError as error:
        return Check(name, False, f"It cannot be checked: {error.strerror or error}", "Look at the folder")
