"""Supervision at the speed of a clock that is set by hand, and the session over any transport."""

import asyncio
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification

from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.mcp_host.backoff import Backoff, RestartPolicy
from sophos_desktop.core.mcp_host.config import LoadedConfig, ServerConfig
from sophos_desktop.core.mcp_host.connection import ServerIdentity
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.mcp_host.limits import HostLimits
from sophos_desktop.core.mcp_host.session import open_session
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from tests.core.mcp_host.harness import (
    LIMITS,
    PATIENCE_SECONDS,
    MemoryRecords,
    hostile,
    raise_bug,
    status_of,
    until,
    until_state,
)


@dataclass
class _Clock:
    """A clock that is set by hand."""

    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(1_800_000_000 + self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds


def _host(config: ServerConfig, clock: _Clock, limits: HostLimits = LIMITS) -> ToolHost:
    return ToolHost(
        LoadedConfig((config,)),
        records=MemoryRecords(),
        environ=os.environ,
        on_error=raise_bug,
        clock=clock,
        limits=limits,
    )


async def test_a_start_of_ninety_seconds_is_shown_and_is_no_error(tmp_path: Path) -> None:
    clock, gate = _Clock(), tmp_path / "gate"
    host = _host(hostile("waits-for", str(gate)), clock)
    host.start()
    try:
        await until(host, lambda: status_of(host, "waits-for").pid is not None)
        assert status_of(host, "waits-for").reason == "Starting."
        clock.seconds = 89.6
        status = status_of(host, "waits-for")
        assert (status.state, status.reason) == (
            ServerState.STARTING,
            "Still starting, for 90 seconds now.",
        )
        gate.touch()
        status = await until_state(host, "waits-for", ServerState.READY)
        assert status.reason == "Ready."
        assert status.since == "2027-01-15T08:01:29.600Z"
    finally:
        await host.close()


def test_a_start_of_ninety_seconds_is_within_the_deadline_that_holds_without_a_setting() -> None:
    assert HostLimits().initialize_seconds > 2 * 60


async def test_pauses_grow_until_the_fifth_failure_gives_up_and_a_restart_begins_anew() -> None:
    limits = replace(LIMITS, restart=RestartPolicy(first_pause_seconds=0.01))
    host = _host(hostile("dies-at-start"), _Clock(), limits)
    reasons: list[str] = []
    host.subscribe(lambda: reasons.append(status_of(host, "dies-at-start").reason))
    host.start()
    try:
        await until_state(host, "dies-at-start", ServerState.FAILED)
        assert _pauses(reasons) == ["0.01", "0.02", "0.04", "0.08"]
        reasons.clear()
        assert (await host.restart("dies-at-start")).state in (ServerState.RESTARTING, ServerState.FAILED)
        await until_state(host, "dies-at-start", ServerState.FAILED)
        assert _pauses(reasons) == ["0.01", "0.02", "0.04", "0.08"]
    finally:
        await host.close()


def _pauses(reasons: list[str]) -> list[str]:
    found = [reason.partition("Started again in ")[2].partition(" seconds")[0] for reason in reasons]
    return list(dict.fromkeys(pause for pause in found if pause))


def test_failures_that_are_far_apart_never_give_a_server_up() -> None:
    clock = _Clock()
    backoff = Backoff(RestartPolicy(), clock)
    for _ in range(100):
        clock.seconds += 31
        assert backoff.failed() in (1, 2, 4, 8)


class _MemoryTransport:
    """Carries messages to nowhere: takes what is sent, like the pipe, and keeps what is posted."""

    def __init__(self) -> None:
        self._to_session, self.read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.write_stream, self._from_session = anyio.create_memory_object_stream[SessionMessage](10)
        self.ended = asyncio.Event()
        self.posted: list[JSONRPCMessage] = []

    async def __aenter__(self) -> "_MemoryTransport":
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for stream in (self.write_stream, self.read_stream, self._from_session, self._to_session):
            stream.close()

    def post(self, message: JSONRPCMessage) -> None:
        self.posted.append(message)

    async def take(self) -> None:
        """Take one request, as if it were being written."""
        item = await self._from_session.receive()
        assert isinstance(item.metadata, SentRequest)
        item.metadata.request_id = item.message.root.id  # type: ignore[union-attr]


async def test_the_request_with_the_id_nought_is_cancelled_by_that_id() -> None:
    transport = _MemoryTransport()
    async with open_session(
        transport,
        ServerIdentity("memory"),
        clock=_Clock(),
        tail=StderrTail(),
        on_list_changed=lambda kind: None,
    ) as session:
        call = asyncio.ensure_future(session.call("tool", {}, PATIENCE_SECONDS))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await transport.take()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    (message,) = transport.posted
    assert isinstance(message.root, JSONRPCNotification)
    assert message.root.method == "notifications/cancelled"
    assert message.root.params == {"requestId": 0, "reason": "stopped by the user"}
