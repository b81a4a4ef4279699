"""Changes of tools are told by name, and whose hints count is settled by the user's word."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolSpec
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.core.runs.server_trust import ConfiguredServer, ServerTrust
from sophos_desktop.core.runs.tool_definitions import ToolDefinitions
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tool_trust import ToolTrustStore
from tests.core.store.store_fixture import open_database, rows_of


class StillClock:
    """Always the same day."""

    def now(self) -> datetime:
        return datetime(2026, 11, 2, 9, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


class Servers:
    """A directory of servers that the test sets."""

    def __init__(self) -> None:
        self.current: dict[str, ServerStatus] = {}
        self.listeners: list[Callable[[], None]] = []

    def statuses(self) -> Sequence[ServerStatus]:
        return list(self.current.values())

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def show(self, name: str, tools: Mapping[str, str], state: ServerState = ServerState.READY) -> None:
        """Let a server offer tools with these fingerprints."""
        specs = tuple(
            ToolSpec(f"{name}__{tool}", name, tool, "", {}, fingerprint=fingerprint)
            for tool, fingerprint in tools.items()
        )
        self.current[name] = ServerStatus(name, "stdio", state, "", "", tools=specs)
        for listener in tuple(self.listeners):
            listener()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "sophos.db") as opened:
        yield opened


@pytest.fixture
async def store(database: Database) -> ToolTrustStore:
    return ToolTrustStore(database, StillClock())


async def compared(store: ToolTrustStore, servers: Servers) -> list[str]:
    """What one start of the program tells."""
    definitions = ToolDefinitions(store, servers)
    definitions.start()
    await definitions.settled()
    await definitions.close()
    return [notice.text for notice in definitions.changes()]


async def test_changes_and_new_tools_are_told_by_name(store: ToolTrustStore) -> None:
    servers = Servers()
    servers.show("notes", {"write_note": "1", "delete_note": "1", "read_note": "1"})
    assert await compared(store, servers) == []
    servers.show("notes", {"write_note": "2", "delete_note": "2", "read_note": "1", "send_note": "1"})
    assert await compared(store, servers) == [
        "tool server notes: the tools write_note and delete_note changed since they were last seen "
        "(2026-11-02)",
        "tool server notes: it offers a new tool send_note",
    ]
    assert await compared(store, servers) == []
    servers.show("notes", {"write_note": "3"})
    assert await compared(store, servers) == [
        "tool server notes: the tool write_note changed since it was last seen (2026-11-02)"
    ]


async def test_many_changes_are_one_sentence_and_hostile_names_stay_on_one_line(
    store: ToolTrustStore,
) -> None:
    servers = Servers()
    names = [f"tool{number}" for number in range(1, 9)]
    servers.show("notes", dict.fromkeys(names, "1"))
    await compared(store, servers)
    servers.show("notes", {**dict.fromkeys(names, "2"), "a\x1b]0;\nb" + "c" * 300: "1"})
    changed, added = await compared(store, servers)
    assert "the tools tool1, tool2, tool3, tool4, tool5 and 3 more changed" in changed
    assert added.isprintable()
    assert len(added) < 200


async def test_a_server_that_is_not_ready_or_has_no_fingerprints_is_not_compared(
    store: ToolTrustStore, tmp_path: Path
) -> None:
    servers = Servers()
    servers.show("starting", {"a": "1"}, ServerState.STARTING)
    servers.show("unknown", {"a": ""})
    assert await compared(store, servers) == []
    assert rows_of(tmp_path / "sophos.db", "SELECT * FROM known_tools") == []


async def test_a_change_while_the_program_runs_is_told_to_its_listeners_once(store: ToolTrustStore) -> None:
    servers = Servers()
    definitions = ToolDefinitions(store, servers)
    told: list[str] = []
    arrived = asyncio.Event()

    def listen(notice: object) -> None:
        told.append(str(notice))
        arrived.set()

    definitions.subscribe(listen)
    definitions.start()
    servers.show("notes", {"write": "1"})
    await definitions.settled()
    servers.show("notes", {"write": "1"})
    servers.show("notes", {"write": "2"})
    async with asyncio.timeout(20):
        await arrived.wait()
    servers.show("notes", {"write": "2"})
    await definitions.settled()
    assert len(told) == len(definitions.changes()) == 1
    await definitions.close()
    assert servers.listeners == []


async def test_closing_in_the_middle_of_a_comparison_leaves_nothing(store: ToolTrustStore) -> None:
    servers = Servers()
    for number in range(50):
        servers.show(f"server{number}", {"write": "1"})
    definitions = ToolDefinitions(store, servers)
    definitions.start()
    await asyncio.sleep(0)
    await definitions.close()
    await asyncio.wait_for(definitions.settled(), 20)
    assert definitions.changes() == ()


# Trust.


def server(
    name: str, fingerprint: str = "f", *, built_in: bool = False, trusted: bool = False
) -> ConfiguredServer:
    return ConfiguredServer(name, fingerprint, built_in=built_in, trusted=trusted)


async def opened(store: ToolTrustStore, *servers: ConfiguredServer) -> ServerTrust:
    trust = ServerTrust(store, servers)
    await trust.open()
    return trust


async def test_hints_count_for_built_in_servers_and_for_those_the_user_trusts(store: ToolTrustStore) -> None:
    await store.trust("mine", "f")
    trust = await opened(
        store, server("memory", built_in=True), server("file", trusted=True), server("mine"), server("other")
    )
    assert [trust.of(name) for name in ("memory", "file", "mine", "other", "nobody")] == [
        Trust.BUILT_IN,
        Trust.FILE,
        Trust.USER,
        Trust.NONE,
        Trust.NONE,
    ]
    assert trust.names() == {"memory", "file", "mine"}
    assert trust.notices == ()


async def test_a_server_with_another_command_is_not_trusted_and_that_is_said(store: ToolTrustStore) -> None:
    await store.trust("mine", "f")
    trust = await opened(store, server("mine", "another"))
    assert trust.names() == frozenset()
    (notice,) = trust.notices
    assert notice.code == "TRUST_LOST"
    assert "not those that you trusted on 2026-11-02" in notice.text
    told: list[tuple[str, bool]] = []
    trust.subscribe(lambda name, counts: told.append((name, counts)))
    assert await trust.trust("mine") is Trust.USER
    assert trust.notices == ()
    assert await trust.revoke("mine") is Trust.NONE
    assert told == [("mine", True), ("mine", False)]
    assert (await opened(store, server("mine"))).of("mine") is Trust.NONE


async def test_an_entry_of_the_user_does_not_inherit_a_built_in_name(store: ToolTrustStore) -> None:
    trust = await opened(store, server("memory", built_in=False))
    assert trust.of("memory") is Trust.NONE


async def test_what_cannot_be_trusted_or_revoked_is_refused_in_words(store: ToolTrustStore) -> None:
    trust = await opened(store, server("memory", built_in=True), server("broken", ""))
    with pytest.raises(SophosError) as unknown:
        await trust.trust("notes")
    assert unknown.value.code is ErrorCode.NOT_FOUND
    assert unknown.value.remedy == "Configured servers: memory, broken"
    with pytest.raises(SophosError, match="cannot be used"):
        await trust.trust("broken")
    with pytest.raises(SophosError, match="is built in"):
        await trust.revoke("memory")
    assert await trust.trust("memory") is Trust.BUILT_IN
    assert await store.trusted() == {}
