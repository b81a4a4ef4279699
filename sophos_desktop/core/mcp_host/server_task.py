"""Keeps one tool server: one task enters, serves and leaves its session; others reach it by a queue.

Invariant: the task outlives every process of its server; each call is a child task of its own, so that a
hanging call blocks no other; every call in the queue is answered, also when the server never comes.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.ports import ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolResult, ToolSpec
from sophos_desktop.core.mcp_host import loading
from sophos_desktop.core.mcp_host.backoff import Backoff
from sophos_desktop.core.mcp_host.child import ChildCommand, ServerChild, finish
from sophos_desktop.core.mcp_host.command import ChildNotStarted, child_environment
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.limits import Surroundings
from sophos_desktop.core.mcp_host.messages import Call, Message, OutputEnded, Restart, ToolsChanged
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.tasks import TaskOwner

if TYPE_CHECKING:
    from sophos_desktop.core.mcp_host.session import ServerSession

_LAST_STATUS_SECONDS = 0.5
_TIMER_SLACK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class _Ending:
    """Why a life of the server ended. `again`: worth another try by itself; `served`: it was ready."""

    reason: str
    again: bool
    served: bool = False
    asked_for: bool = False


class ServerTask:
    """One configured server. Lives on the host's loop from `start` to `stop`."""

    def __init__(self, config: ServerConfig, surroundings: Surroundings) -> None:
        self.config = config
        self._shared = surroundings
        self._backoff = Backoff(surroundings.limits.restart, surroundings.clock)
        self._queue: asyncio.Queue[Message] = asyncio.Queue()
        self._waiting: list[Call | Restart] = []
        self._owner = TaskOwner(self._on_bug)
        self._task: asyncio.Task[None] | None = None
        self._tail = StderrTail()
        self._settled = asyncio.Event()
        self._attempt_at = surroundings.clock.monotonic()
        self._was_ready = False
        since = to_text(surroundings.clock.now())
        self._status = ServerStatus(config.name, config.transport, ServerState.STOPPED, "Not started.", since)
        self._settle_without_process()

    # What the host asks.

    def start(self) -> None:
        """Start the server in the background, unless its configuration forbids it."""
        if self._task is None and self._can_run():
            self._enter(ServerState.STARTING, "Starting.")
            self._task = self._owner.spawn(self._run(), f"tool server {self.config.name}")

    async def stop(self) -> None:
        """End the server and its task; bounded, and finished also if the caller is cancelled."""
        if self._task is None or self._task.done():
            return
        closing = TaskOwner(self._shared.on_error).spawn(
            self._owner.close(), f"stop tool server {self.config.name}"
        )
        await finish(closing)

    def status(self) -> ServerStatus:
        """Where the server stands now."""
        status = replace(self._status, stderr_tail=self._tail.lines())
        waited = self._shared.clock.monotonic() - self._attempt_at
        is_slow = waited >= self._shared.limits.still_starting_seconds
        if status.state is ServerState.STARTING and is_slow:
            return replace(status, reason=f"Still starting, for {waited:.0f} seconds now.")
        return status

    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools for the model: also while the server is being started again, since a call brings
        it back; none of a server that was never ready or was given up."""
        return self._status.tools if self._status.state in _CALLABLE and self._was_ready else ()

    @property
    def ready(self) -> bool:
        """True while calls are sent at once."""
        return self._status.state is ServerState.READY

    async def settle(self, timeout_seconds: float) -> None:
        """Wait until the first start has succeeded or failed, at most so long after it began."""
        left = self._attempt_at + timeout_seconds - self._shared.clock.monotonic()
        if self._settled.is_set() or left <= 0:
            return
        try:
            async with asyncio.timeout(left):
                await self._settled.wait()
        except TimeoutError:
            return

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool; a server that is down is started for it. Raises ToolServerDown, ToolCallLost."""
        timeout = self.config.timeout_seconds or self._shared.limits.call_seconds
        if self._task is None or self._task.done():
            raise self._down()
        call = Call(tool, arguments, timeout, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(call)
        try:
            await asyncio.wait([call.outcome], timeout=timeout)
            if not call.outcome.done() and not call.taken:
                raise self._down()
            return await call.outcome
        finally:
            call.outcome.cancel()
            if not call.outcome.cancelled():
                call.outcome.exception()  # read, so that asyncio does not report it for a caller that left

    async def restart(self) -> None:
        """Start the server anew and wait until that succeeded or failed."""
        if self._task is None or self._task.done():
            return
        request = Restart(asyncio.get_running_loop().create_future())
        self._queue.put_nowait(request)
        await request.done

    # The task.

    async def _run(self) -> None:
        try:
            while True:
                ending = await self._live()
                pause = self._judge(ending)
                if not ending.served:
                    self._answer_waiting()
                await self._wait_for_demand(pause)
                self._enter(ServerState.RESTARTING, "Being started again.")
        finally:
            if self._status.state is not ServerState.FAILED:
                self._enter(ServerState.STOPPED, "Stopped.")
            self._answer_everything()

    def _judge(self, ending: _Ending) -> float | None:
        """Say how the server stands after a life; the pause until the next one in seconds, None for
        no other one unless somebody asks."""
        if ending.asked_for:
            self._backoff.forget()
            return 0.0
        pause = self._backoff.failed() if ending.again else None
        if pause is None:
            self._enter(ServerState.FAILED, f"{ending.reason}. The next call tries again.")
        else:
            text = f"{ending.reason}. Started again in {pause:g} seconds or at the next call."
            self._enter(ServerState.RESTARTING, text)
        return pause

    async def _live(self) -> _Ending:
        """One process, from before its spawn until nothing of it is left."""
        self._attempt_at = self._shared.clock.monotonic()
        slow_after = self._shared.limits.still_starting_seconds + _TIMER_SLACK_SECONDS
        slow = asyncio.get_running_loop().call_later(slow_after, self._shared.on_change)
        try:
            await loading.loaded()
            child = await ServerChild.start(
                self._child_command(),
                records=self._shared.records,
                tail=self._tail,
                limits=self._shared.limits.close,
            )
            try:
                self._change(pid=child.pid)
                return await self._converse(child)
            finally:
                self._change(pid=None)
                await child.close()
                self._tail.end()
        except ChildNotStarted as error:
            return _Ending(f"It cannot be started: {error}", again=False)
        except SophosError as error:
            return _Ending(f"It cannot be put on record: {error.title}", again=True)
        finally:
            slow.cancel()

    async def _converse(self, child: ServerChild) -> _Ending:
        from sophos_desktop.core.mcp_host import session as session_module

        seconds = self.config.initialize_timeout_seconds or self._shared.limits.initialize_seconds
        async with session_module.open_session(
            child,
            server=self.config.name,
            trusted=self.config.trusted or self.config.built_in,
            tail=self._tail,
            on_tools_changed=lambda: self._queue.put_nowait(ToolsChanged(child)),
        ) as session:
            try:
                async with asyncio.timeout(seconds):
                    tools = await session.initialize()
            except TimeoutError:
                return _Ending(f"It did not answer initialize within {seconds:g} seconds", again=False)
            except session_module.SessionRefused as error:
                return _Ending(f"Its start failed: {error}", again=False)
            except session_module.SessionLost:
                return await self._death(child, served=False)
            self._change(tools=tools)
            self._was_ready = True
            self._enter(ServerState.READY, "Ready.")
            return await self._serve(child, session)

    async def _serve(self, child: ServerChild, session: "ServerSession") -> _Ending:
        tasks = TaskOwner(self._shared.on_error)
        changed = asyncio.Event()
        tasks.spawn(self._keep_tools(session, changed), f"list the tools of {self.config.name}")
        tasks.spawn(self._tell_end(child, session), f"watch tool server {self.config.name}")
        try:
            for call in self._take_waiting():
                self._begin_call(call, session, tasks)
            while True:
                message = await self._queue.get()
                if isinstance(message, Call) and session.ended.is_set():
                    self._waiting.append(message)  # nothing was sent: the next life takes it
                elif isinstance(message, Call):
                    self._begin_call(message, session, tasks)
                elif isinstance(message, Restart):
                    self._waiting.append(message)
                    return _Ending("A restart was asked for", again=True, served=True, asked_for=True)
                elif isinstance(message, ToolsChanged) and message.child is child:
                    changed.set()
                elif isinstance(message, OutputEnded) and message.child is child:
                    self._enter(ServerState.RESTARTING, "It ended.")
                    return await self._death(child, served=True)
        finally:
            await tasks.close()

    def _begin_call(self, call: Call, session: "ServerSession", tasks: TaskOwner) -> None:
        if call.outcome.done():
            return
        call.taken = True
        work = tasks.spawn(call.perform(session), f"call {call.tool} of {self.config.name}")
        call.outcome.add_done_callback(lambda _: work.cancel())

    async def _keep_tools(self, session: "ServerSession", changed: asyncio.Event) -> None:
        """List the tools again whenever the server says that they changed; a burst is one reload."""
        from sophos_desktop.core.mcp_host import session as session_module

        seconds = self.config.initialize_timeout_seconds or self._shared.limits.initialize_seconds
        while True:
            await changed.wait()
            changed.clear()
            try:
                async with asyncio.timeout(seconds):
                    self._change(tools=await session.list_tools())
            except (TimeoutError, session_module.SessionRefused) as error:
                self._tail.note(f"its changed tools could not be listed: {error or 'no answer'}")
            except session_module.SessionLost:
                return

    async def _tell_end(self, child: ServerChild, session: "ServerSession") -> None:
        await session.ended.wait()
        self._queue.put_nowait(OutputEnded(child))

    async def _death(self, child: ServerChild, *, served: bool) -> _Ending:
        """How the process ended, in words."""
        await child.wait_exited(_LAST_STATUS_SECONDS)
        status = child.returncode
        if status is None:
            how = "It closed its output"
        elif status < 0:
            how = f"It was ended by signal {-status}"
        else:
            how = f"It ended with exit status {status}"
        words = self._tail.last_words()
        when = "" if served else " before it was ready"
        return _Ending(f"{how}{when} ({words})" if words else how + when, again=True, served=served)

    async def _wait_for_demand(self, pause: float | None) -> None:
        """Wait for a call or a restart, at most for the pause in seconds."""
        if self._waiting:
            return
        try:
            async with asyncio.timeout(pause):
                while True:
                    message = await self._queue.get()
                    if isinstance(message, Restart):
                        self._backoff.forget()
                    if isinstance(message, Call | Restart) and not message.abandoned:
                        self._waiting.append(message)
                        return
        except TimeoutError:
            return

    # Messages that wait.

    def _take_waiting(self) -> list[Call]:
        """The calls that waited for the server to be ready; who asked for the restart is told."""
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            if isinstance(message, Restart):
                message.finish()
        return [message for message in waiting if isinstance(message, Call)]

    def _answer_waiting(self) -> None:
        """The start failed: so do the calls that waited for it."""
        while not self._queue.empty():
            message = self._queue.get_nowait()
            if isinstance(message, Call | Restart):
                self._waiting.append(message)
        for call in self._take_waiting():
            call.fail(self._down())

    def _answer_everything(self) -> None:
        self._answer_waiting()
        self._settled.set()

    # State.

    def _enter(self, state: ServerState, reason: str) -> None:
        if state is not ServerState.STARTING:
            self._settled.set()
        self._change(state=state, reason=reason, since=to_text(self._shared.clock.now()))

    def _change(self, **fields: Any) -> None:
        self._status = replace(self._status, **fields)
        self._shared.on_change()

    def _can_run(self) -> bool:
        return not self.config.disabled and self.config.problem is None and self.config.command is not None

    def _settle_without_process(self) -> None:
        config = self.config
        if self._can_run():
            return
        if config.disabled:
            self._enter(ServerState.STOPPED, "Switched off in mcp.json.")
        elif config.problem is not None:
            self._enter(ServerState.FAILED, f"Its entry in mcp.json cannot be used: {config.problem}.")
        else:
            self._enter(ServerState.FAILED, "HTTP servers come with a later version.")

    def _down(self) -> ToolServerDown:
        return ToolServerDown(f'The tool server "{self.config.name}" is not there. {self.status().reason}')

    def _child_command(self) -> ChildCommand:
        config = self.config
        assert config.command is not None
        environment = child_environment(self._shared.environ, config.env)
        return ChildCommand(f"mcp:{config.name}", config.command, config.args, environment, config.cwd)

    def _on_bug(self, error: BaseException) -> None:
        self._enter(ServerState.FAILED, f"An error in Sophos ended it: {error!r}.")
        self._shared.on_error(error)


_CALLABLE = (ServerState.READY, ServerState.RESTARTING)
