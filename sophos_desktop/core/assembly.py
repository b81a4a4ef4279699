"""The headless composition root: `async with open_core(options) as core`.

Invariant: everything is made here, once, and passed on explicitly; it is closed in the opposite order:
runs, tool servers, engines, the write-ahead log, the file, the owner's lock.
"""

import errno
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sophos_desktop.core.agent.chat_models import ChatModels
from sophos_desktop.core.agent.context import TokenGauge
from sophos_desktop.core.agent.graph_runner import GraphRunner
from sophos_desktop.core.domain.errors import ErrorCode, SophosError, full_disk
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.policy import Policy, ServerRule
from sophos_desktop.core.domain.ports import EngineDirectory, ServerDirectory
from sophos_desktop.core.domain.specs import EngineKind
from sophos_desktop.core.engines.directory import EngineConfiguration, Engines
from sophos_desktop.core.engines.starter_process import StarterProcess
from sophos_desktop.core.mcp_host.backoff import NO_RESTARTS, RestartPolicy
from sophos_desktop.core.mcp_host.config import LoadedConfig, McpConfigSource
from sophos_desktop.core.mcp_host.configuration import McpConfiguration
from sophos_desktop.core.mcp_host.direct_calls import DirectCalls
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.mcp_host.limits import HostLimits
from sophos_desktop.core.mcp_host.login_environment import user_environment
from sophos_desktop.core.runs.attaching import Attaching
from sophos_desktop.core.runs.conversations import Conversations
from sophos_desktop.core.runs.decisions import Decisions
from sophos_desktop.core.runs.doctor import Doctor
from sophos_desktop.core.runs.exporting import Exports
from sophos_desktop.core.runs.following import Follower
from sophos_desktop.core.runs.models import ModelDirectory
from sophos_desktop.core.runs.neighbours import Neighbours
from sophos_desktop.core.runs.queueing import MessageQueue
from sophos_desktop.core.runs.recovery import RecoveredRun, Recovery
from sophos_desktop.core.runs.registry import RunRegistry
from sophos_desktop.core.runs.server_logs import ServerLogs
from sophos_desktop.core.runs.server_requests import ServerRequests
from sophos_desktop.core.runs.server_trust import ConfiguredServer, ServerTrust
from sophos_desktop.core.runs.sitting_factory import SittingFactory
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tool_definitions import ToolDefinitions
from sophos_desktop.core.runs.tool_gate import PolicyGate
from sophos_desktop.core.runs.watcher import StoreWatcher
from sophos_desktop.core.settings.service import SettingsService
from sophos_desktop.core.settings.system_prompt import SystemPrompt
from sophos_desktop.core.store.attachments import AttachmentStore
from sophos_desktop.core.store.changes import ChangeCounter
from sophos_desktop.core.store.checkpoints import open_checkpoints
from sophos_desktop.core.store.children import ChildStore
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.database import LOCK_WAIT_SECONDS, Database
from sophos_desktop.core.store.drafts import DraftStore
from sophos_desktop.core.store.journal import JournalStore
from sophos_desktop.core.store.model_choices import ModelChoiceStore
from sophos_desktop.core.store.permissions import PermissionStore
from sophos_desktop.core.store.queue import QueueStore
from sophos_desktop.core.store.refused_images import RefusedImages
from sophos_desktop.core.store.restart_requests import RestartRequestStore
from sophos_desktop.core.store.runs import RunStore
from sophos_desktop.core.store.thread_promises import ThreadPromiseStore
from sophos_desktop.core.store.tool_trust import ToolTrustStore
from sophos_desktop.core.store.trace import TraceStore
from sophos_desktop.foundation import resources
from sophos_desktop.foundation.clock import Clock, SystemClock
from sophos_desktop.foundation.owner_lock import OwnerLock
from sophos_desktop.foundation.paths import AppPaths, prepare
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

CLOSING_DRAIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class CoreOptions:
    """What a front end decides. `tool_servers` False: read only, no server is started; `only_server`: no
    other one than that; `restarts` False: one that fails is not started again, for who only looks."""

    paths: AppPaths
    environ: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)
    tool_servers: bool = True
    only_server: str | None = None
    restarts: bool = True
    lock_wait_seconds: float = LOCK_WAIT_SECONDS


@dataclass(frozen=True, slots=True)
class Core:
    """The program without a screen; valid inside `open_core`'s block."""

    paths: AppPaths
    settings: SettingsService
    engines: EngineDirectory
    models: ModelDirectory
    servers: ServerDirectory
    tool_host: ToolHost
    direct_calls: DirectCalls
    mcp: McpConfiguration
    trust: ServerTrust
    definitions: ToolDefinitions
    server_logs: ServerLogs
    server_requests: ServerRequests
    runs: RunRegistry
    follower: Follower
    neighbours: Neighbours
    conversations: Conversations
    decisions: Decisions
    queue: MessageQueue
    attachments: Attaching
    exports: Exports
    doctor: Doctor
    notices: tuple[Notice, ...]
    recovered: tuple[RecoveredRun, ...]


@asynccontextmanager
async def open_core(options: CoreOptions) -> AsyncIterator[Core]:
    """Open the store, recover, start the tool servers in the background. Raises SophosError STORE_*."""
    _switch_off_tracing()
    async with AsyncExitStack() as stack:
        owner = _become_owner(options.paths)
        stack.callback(owner.release)
        database = Database(options.paths.database, lock_wait_seconds=options.lock_wait_seconds)
        stack.push_async_callback(database.close)
        await database.open(options.paths.backups_dir)
        saver = await open_checkpoints(database.path, lock_wait_seconds=options.lock_wait_seconds)
        stack.push_async_callback(_fold_log, database)
        stack.push_async_callback(saver.close)
        stores = Stores(
            conversations=ConversationStore(database, options.clock),
            drafts=DraftStore(database, owner.id),
            runs=RunStore(database, options.clock),
            journal=JournalStore(database, options.clock),
            attachments=AttachmentStore(database),
            trace=TraceStore(database),
            children=ChildStore(database, owner.id),
            permissions=PermissionStore(database, options.clock),
            queue=QueueStore(database, options.clock),
            saver=saver,
            graph=GraphRunner(saver, ThreadPromiseStore(database).of),
            clock=options.clock,
        )
        settings = SettingsService(options.paths, options.environ)
        tasks = TaskOwner(_report_bug)
        stack.push_async_callback(tasks.close)
        engines = _engines(options, settings, stores, tasks)
        stack.push_async_callback(engines.close)
        chat_models = ChatModels()
        stack.push_async_callback(chat_models.aclose)
        mcp = McpConfiguration(_mcp_source(options))
        tool_trust = ToolTrustStore(database, options.clock)
        configured = mcp.load()
        trust = await _server_trust(configured, tool_trust)
        tool_config = _tool_config(options, configured.trusting(trust.names()))
        host = _tool_host(options, settings, stores, tool_config)
        stack.push_async_callback(host.close)
        trust.subscribe(lambda name, counts: host.trust(name, trusted=counts))
        definitions = ToolDefinitions(tool_trust, host)
        stack.push_async_callback(definitions.close)
        server_logs = ServerLogs(options.paths.log_dir / "servers", options.paths.owners_dir, owner.id, host)
        stack.push_async_callback(server_logs.close)
        gate = PolicyGate(stores.permissions, _server_rules(tool_config), lambda: _general_policy(settings))
        decisions = Decisions(stores, host, gate)
        choices = ModelChoiceStore(database)
        factory = SittingFactory(
            stores=stores,
            engines=engines,
            catalog=host,
            gate=gate,
            stream_chat=chat_models.stream_chat,
            settings=lambda: settings.current,
            system_prompt=SystemPrompt(options.paths),
            gauge=TokenGauge(),
            choices=choices,
            refusals=lambda conversation_id: RefusedImages(database, conversation_id),
            said=set(),
        )
        runs = RunRegistry(stores, factory, owner.id)
        recovery = Recovery(stores, options.paths.owners_dir, owner.id, runs.works_on)
        runs.use(recovery)
        recovered = await recovery.at_start()
        counter = await ChangeCounter.open(database.path)
        stack.push_async_callback(counter.close)
        watcher = StoreWatcher(counter, settings.take_up)
        stack.push_async_callback(watcher.close)
        trust.watch(watcher)
        stack.push_async_callback(trust.close)
        server_requests = ServerRequests(RestartRequestStore(database), watcher, server_logs, host.restart)
        stack.push_async_callback(server_requests.close)
        conversations = Conversations(stores, recovery.before_claim)
        follower = Follower(conversations, recovery, watcher, options.clock)
        neighbours = Neighbours(stores, runs, recovery, follower, watcher, owner.id)
        neighbours.start()
        stack.push_async_callback(neighbours.close)
        stack.push_async_callback(runs.close)
        stack.push_async_callback(runs.drain, CLOSING_DRAIN_SECONDS)
        host.start()
        server_logs.start()
        if options.tool_servers:
            definitions.start()
            await server_requests.start()
        yield Core(
            paths=options.paths,
            settings=settings,
            engines=engines,
            models=ModelDirectory(engines, stores.conversations, choices, factory),
            servers=host,
            tool_host=host,
            direct_calls=DirectCalls(host),
            mcp=mcp,
            trust=trust,
            definitions=definitions,
            server_logs=server_logs,
            server_requests=server_requests,
            runs=runs,
            follower=follower,
            neighbours=neighbours,
            conversations=conversations,
            decisions=decisions,
            queue=MessageQueue(stores, runs, decisions),
            attachments=Attaching(stores),
            exports=Exports(stores, database.path),
            doctor=Doctor(database, stores, options.paths, settings, engines, host, owner.id),
            notices=(*settings.notices, *host.notices, *(trust.notices if tool_config.servers else ())),
            recovered=tuple(recovered),
        )


def _become_owner(paths: AppPaths) -> OwnerLock:
    try:
        prepare(paths)
        return OwnerLock.acquire(paths.owners_dir)
    except PermissionError as error:
        raise SophosError(
            ErrorCode.STORE_READ_ONLY,
            f"The data folder {paths.data_dir} cannot be written",
            "Give your user the right to write it, or choose another with --data-dir",
        ) from error
    except OSError as error:
        raise full_disk(error, paths.data_dir) or _unusable(paths.data_dir, error) from error


def _unusable(folder: Path, error: OSError) -> SophosError:
    """What is said of a data folder for which the system has another reason than rights or room."""
    if error.errno == errno.EROFS:
        return SophosError(
            ErrorCode.STORE_READ_ONLY,
            f"The data folder {folder} lies on a disk that is read-only",
            "Make the disk writable, or choose another folder with --data-dir",
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return SophosError(
            ErrorCode.STORE_UNREACHABLE,
            f"The data folder {folder} cannot be made, because a file stands in its place",
            "Move the file away, or choose another folder with --data-dir",
        )
    return SophosError(
        ErrorCode.STORE_UNREACHABLE,
        f"The data folder {folder} cannot be used",
        "Check that it is a folder on a disk that can be written, or choose another with --data-dir",
        details=error.strerror or str(error),
    )


def _engines(options: CoreOptions, settings: SettingsService, stores: Stores, tasks: TaskOwner) -> Engines:
    def configuration() -> EngineConfiguration:
        engine = settings.current.engine
        kind = None if engine.kind == "auto" else EngineKind(engine.kind)
        return EngineConfiguration(kind, engine.host, engine.model or None)

    async def last_used() -> str | None:
        return await stores.runs.latest_model(EngineKind.OLLAMA.value)

    starter = StarterProcess(stores.children, tasks, environ=options.environ)
    return Engines(configuration, starter, last_used)


def _tool_config(options: CoreOptions, configured: LoadedConfig) -> LoadedConfig:
    """What this process starts."""
    if not options.tool_servers:
        return LoadedConfig(())
    return configured if options.only_server is None else configured.only(options.only_server)


def _server_rules(config: LoadedConfig) -> dict[str, ServerRule]:
    return {
        server.name: ServerRule(Policy(server.approval) if server.approval else None, server.built_in)
        for server in config.servers
    }


def _general_policy(settings: SettingsService) -> Policy | None:
    chosen = settings.current.tools.approval
    return None if chosen == "auto" else Policy(chosen)


def _mcp_source(options: CoreOptions) -> McpConfigSource:
    return McpConfigSource(
        resources.shipped_config("mcp.json"),
        options.paths.mcp_file,
        options.environ,
        options.paths.memory_file,
    )


async def _server_trust(config: LoadedConfig, store: ToolTrustStore) -> ServerTrust:
    trust = ServerTrust(
        store,
        [
            ConfiguredServer(one.name, one.fingerprint, built_in=one.built_in, trusted=one.trusted)
            for one in config.servers
        ],
    )
    await trust.open()
    return trust


def _tool_host(
    options: CoreOptions, settings: SettingsService, stores: Stores, config: LoadedConfig
) -> ToolHost:
    restart = RestartPolicy() if options.restarts else NO_RESTARTS
    return ToolHost(
        config,
        records=stores.children,
        environ=user_environment(options.environ),
        on_error=_report_bug,
        clock=options.clock,
        limits=HostLimits(call_seconds=settings.current.tools.timeout_seconds, restart=restart),
    )


async def _fold_log(database: Database) -> None:
    try:
        await database.checkpoint_wal()
    except SophosError as error:
        # Another process reads, or the disk is full: the log is folded in at the next start.
        _log.info("the write-ahead log was not folded in: %s", error.code)


def _switch_off_tracing() -> None:
    """LangSmith comes along with LangGraph and reacts to stray variables: nothing leaves this machine."""
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2"):
        os.environ[name] = "false"


def _report_bug(error: BaseException) -> None:
    _log.error("a background task failed", exc_info=error)
