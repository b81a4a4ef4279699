"""Whose hints count: the servers that are built in, and those that the user trusts.

Invariant: the user's word holds for the command or address it was given for. One that changed since is not
trusted, and that is said until the user trusts it again or takes the word back. What another process writes
is taken up at once.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.core.runs.watcher import StoreWatcher
from sophos_desktop.core.store.tool_trust import ToolTrustStore, TrustedServer
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """What trust needs to know of an entry; `trusted` is the file's own word, `fingerprint` is empty where
    the entry cannot be used."""

    name: str
    fingerprint: str
    built_in: bool
    trusted: bool


class ServerTrust:
    """Lives as long as the core, on its loop. `open` before anything else."""

    def __init__(self, store: ToolTrustStore, servers: Sequence[ConfiguredServer]) -> None:
        self._store = store
        self._servers = {server.name: server for server in servers}
        self._given: Mapping[str, TrustedServer] = {}
        self._listeners: list[Callable[[str, bool], None]] = []
        self._reading = asyncio.Lock()
        self._changed = asyncio.Event()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._tasks = TaskOwner(lambda error: _log.error("watching the trust failed", exc_info=error))

    async def open(self) -> None:
        """Read what the user said. Raises SophosError STORE_*."""
        self._given = await self._store.trusted()

    def watch(self, watcher: StoreWatcher) -> None:
        """From now on take up what other processes write."""
        self._unsubscribe = watcher.subscribe(self._changed.set)
        self._tasks.spawn(self._take_up(), "trust of other processes")

    async def close(self) -> None:
        """Take up no more."""
        self._unsubscribe()
        await self._tasks.close()

    async def _take_up(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._reread()
            except SophosError as error:
                _log.info("the trust in servers could not be read: %s", error.code)

    def of(self, name: str) -> Trust:
        """Where a server stands; NONE for one that is not configured."""
        server = self._servers.get(name)
        if server is None:
            return Trust.NONE
        if server.built_in:
            return Trust.BUILT_IN
        if server.trusted:
            return Trust.FILE
        given = self._given.get(name)
        if given is None:
            return Trust.NONE
        return Trust.USER if server.fingerprint == given.fingerprint else Trust.CHANGED

    def names(self) -> frozenset[str]:
        """All servers whose hints count."""
        return frozenset(name for name in self._servers if self.of(name).counts)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The servers that lost the user's trust."""
        return tuple(
            Notice(
                NoticeCode.TRUST_LOST.value,
                f"tool server {name}: its command, folder, variables or address are not those that you "
                f"trusted on {self._given[name].trusted_at[:10]}, so its hints do not count; "
                f"`mcp trust {name}` trusts it as it is, `mcp trust {name} --revoke` takes your word back",
            )
            for name in self._servers
            if self.of(name) is Trust.CHANGED
        )

    async def trust(self, name: str) -> Trust:
        """Trust a server as it is configured now.

        Raises SophosError NOT_FOUND, BAD_REQUEST (its entry cannot be used), STORE_*."""
        server = self.known(name)
        if self.of(name) in (Trust.BUILT_IN, Trust.FILE):
            return self.of(name)
        if not server.fingerprint:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"The entry of “{name}” in mcp.json cannot be used, so there is nothing to trust",
                "Correct it first; `mcp` says what is wrong",
            )
        await self._store.trust(name, server.fingerprint)
        await self._reread()
        return self.of(name)

    async def revoke(self, name: str) -> Trust:
        """Take the word back that was given with `trust`; what mcp.json says is not changed here.

        Raises SophosError NOT_FOUND, BAD_REQUEST (it is built in), STORE_*."""
        if self.known(name).built_in:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"“{name}” is built in, and its hints always count",
                f"Switch it off with `mcp remove {name}`",
            )
        await self._store.revoke(name)
        await self._reread()
        return self.of(name)

    async def forget(self, name: str) -> None:
        """The server was taken out: the word given for it goes too, and its tools are forgotten."""
        await self._store.forget(name)

    def subscribe(self, listener: Callable[[str, bool], None]) -> Callable[[], None]:
        """Call `listener` with a server and whether its hints count, after the user said so, here or in
        another process."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def known(self, name: str) -> ConfiguredServer:
        """The entry of a server. Raises SophosError NOT_FOUND with the names there are."""
        if name not in self._servers:
            known = ", ".join(self._servers) or "none"
            raise SophosError(
                ErrorCode.NOT_FOUND, f"There is no tool server “{name}”", f"Configured servers: {known}"
            )
        return self._servers[name]

    async def _reread(self) -> None:
        """Tells of each server that stands elsewhere now. One at a time: an older answer must not come
        last."""
        async with self._reading:
            before = {name: self.of(name) for name in self._servers}
            self._given = await self._store.trusted()
        for name, trust in before.items():
            if self.of(name) is not trust:
                for listener in tuple(self._listeners):
                    listener(name, self.of(name).counts)
