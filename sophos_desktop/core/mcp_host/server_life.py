"""One life of a tool server: its connection, its session, its calls, from before it is made to its end.

Invariant: whatever way a life ends, its connection is closed and none of its tasks is left; a call that was
begun has its outcome, one that was not waits for the next life.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sophos_desktop.core.domain.ports import ToolChanged
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.mcp_host import loading
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.connection import Connection, NotConnected, ServerIdentity, connect
from sophos_desktop.core.mcp_host.limits import Surroundings
from sophos_desktop.core.mcp_host.list_keeper import ListKeeper
from sophos_desktop.core.mcp_host.messages import Call, Inbox, OutputEnded, Restart
from sophos_desktop.core.mcp_host.status_board import StatusBoard
from sophos_desktop.foundation.tasks import TaskOwner

if TYPE_CHECKING:
    from sophos_desktop.core.mcp_host.session import ServerSession


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a life ended: a sentence without its full stop. `again`: worth another try by itself; `served`:
    it had been ready; `asked_for`: by a restart."""

    reason: str
    again: bool
    served: bool = False
    asked_for: bool = False


class ServerLife:
    """One connection to one server. Made and lived in the server's task."""

    def __init__(
        self, config: ServerConfig, surroundings: Surroundings, board: StatusBoard, inbox: Inbox
    ) -> None:
        self._config = config
        self._shared = surroundings
        self._board = board
        self._inbox = inbox
        self._deadline_seconds = config.initialize_timeout_seconds or surroundings.limits.initialize_seconds
        self._keepers: dict[str, ListKeeper] = {}
        self._under_way: dict[asyncio.Task[None], Call] = {}

    async def live(self) -> Ending:
        """Connect, serve, and say why it ended."""
        with self._board.attempt():
            await loading.loaded()
            try:
                connection = await connect(self._config, self._shared, self._board.tail)
            except NotConnected as error:
                return Ending(error.end.reason, error.end.again)
            try:
                self._board.change(pid=connection.pid)
                return await self._converse(connection)
            finally:
                self._board.change(pid=None)
                await connection.close()

    async def _converse(self, connection: Connection) -> Ending:
        from sophos_desktop.core.mcp_host import session as session_module

        seconds = self._deadline_seconds
        async with session_module.open_session(
            connection.transport(),
            ServerIdentity.of(self._config),
            clock=self._shared.clock,
            tail=self._board.tail,
            on_list_changed=self._on_list_changed,
        ) as session:
            self._keepers = self._made_keepers(session)
            stage = "answer initialize"
            try:
                async with asyncio.timeout(seconds):
                    instructions = await session.initialize()
                    stage = "list its tools"
                    tools = await session.list_tools()
            except TimeoutError:
                return Ending(f"It did not {stage} within {seconds:g} seconds", again=False)
            except session_module.SessionRefused as error:
                return Ending(f"Its start failed: {error}", again=False)
            except session_module.SessionLost:
                return await self._ended(connection, served=False)
            self._board.change(tools=tools, resources=(), prompts=(), instructions=instructions)
            tasks = TaskOwner(self._shared.on_error)
            try:
                await self._keep_lists(tasks)
                if session.ended.is_set():
                    return await self._ended(connection, served=False)
                self._board.enter(ServerState.READY, "Ready.")
                return await self._serve(connection, session, tasks)
            finally:
                await tasks.close()

    async def _serve(self, connection: Connection, session: "ServerSession", tasks: TaskOwner) -> Ending:
        tasks.spawn(self._tell_end(session), f"watch tool server {self._config.name}")
        for call in self._inbox.take_waiting():
            self._begin_call(call, session, tasks)
        while True:
            message = await self._inbox.next()
            if isinstance(message, Call) and session.ended.is_set():
                self._inbox.keep(message)  # nothing was sent: the next life takes it
            elif isinstance(message, Call):
                self._begin_call(message, session, tasks)
            elif isinstance(message, Restart):
                self._inbox.keep(message)
                await self._let_calls_end(message)
                return Ending("A restart was asked for", again=True, served=True, asked_for=True)
            elif message.session is session:
                self._board.enter(ServerState.RESTARTING, "It ended.")
                return await self._ended(connection, served=True)

    def _begin_call(self, call: Call, session: "ServerSession", tasks: TaskOwner) -> None:
        if call.abandoned:
            return
        work = tasks.spawn(self._perform(call, session), f"call {call.tool} of {self._config.name}")

        self._under_way[work] = call

        def on_done(_: "asyncio.Task[None]") -> None:
            self._under_way.pop(work, None)
            if not call.taken and not call.abandoned:
                self._inbox.keep(call)  # the life ended before the task had its first turn

        work.add_done_callback(on_done)
        call.outcome.add_done_callback(lambda _: work.cancel())

    async def _perform(self, call: Call, session: "ServerSession") -> None:
        """Make the call, unless the server has said by now that its tool is another one."""
        await self._keepers["tools"].up_to_date()
        offered = {tool.tool: tool.fingerprint for tool in self._board.offered()}
        if call.fingerprint and offered.get(call.tool) != call.fingerprint:
            name = self._config.name
            call.fail(
                ToolChanged(f'The tool server "{name}" changed its tool "{call.tool}" just before the call')
            )
            return
        await call.perform(session)

    async def _let_calls_end(self, restart: Restart) -> None:
        """Wait for the calls under way as long as the restart may wait; those that are left learn why they
        are cut off. New calls stay in the box meanwhile."""
        if self._under_way and restart.patience_seconds > 0:
            text = "Being started again as soon as the calls under way have ended."
            self._board.enter(ServerState.RESTARTING, text)
            await asyncio.wait(tuple(self._under_way), timeout=restart.patience_seconds)
        by = f" by {restart.who}" if restart.who else ""
        for call in self._under_way.values():
            call.cut = f'"{self._config.name}" was restarted{by}'

    async def _ended(self, connection: Connection, *, served: bool) -> Ending:
        end = await connection.end(served=served)
        return Ending(end.reason, end.again, served=served)

    async def _tell_end(self, session: "ServerSession") -> None:
        await session.ended.wait()
        self._inbox.put(OutputEnded(session))

    # What it lists.

    def _made_keepers(self, session: "ServerSession") -> dict[str, ListKeeper]:
        async def read_tools() -> None:
            self._board.change(tools=await session.list_tools())

        async def read_resources() -> None:
            self._board.change(resources=await session.list_others("resources"))

        async def read_prompts() -> None:
            self._board.change(prompts=await session.list_others("prompts"))

        reads = {"tools": read_tools, "resources": read_resources, "prompts": read_prompts}
        limits, seconds = self._shared.limits, self._deadline_seconds
        return {
            kind: ListKeeper(f"{kind}/list", read, limits, deadline_seconds=seconds)
            for kind, read in reads.items()
        }

    def _on_list_changed(self, kind: str) -> None:
        self._keepers[kind].changed()

    async def _keep_lists(self, tasks: TaskOwner) -> None:
        """Keep the lists from now on; returns when resources and prompts were read, or soon."""
        for kind, keeper in self._keepers.items():
            work = keeper.keep(self._board.tail.note, read_at_once=kind != "tools")
            tasks.spawn(work, f"list the {kind} of {self._config.name}")
        try:
            async with asyncio.timeout(self._shared.limits.other_lists_seconds):
                for kind in ("resources", "prompts"):
                    await self._keepers[kind].was_read.wait()
        except TimeoutError:
            return
