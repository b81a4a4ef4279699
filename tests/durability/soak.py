"""The soak of the tool host: `python -m tests.durability.soak [N=2000] [SEED=…]`.

Many calls on five real servers, eight at a time; two of the servers are killed at random, some calls are
cancelled, some time out. Invariant looked for: every call has exactly one outcome, what is on the disk fits
it, and neither memory nor descriptors nor processes are left over. Prints one block; 1 if anything is wrong.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import psutil

from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ToolSpec
from sophos_desktop.core.mcp_host.command import TOKEN_VARIABLE
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.foundation.child_processes import find_by_token
from tests.core.mcp_host.harness import MemoryRecords, ready, running_host, status_of
from tests.durability.soak_report import Outcome, Report, Sample
from tests.durability.soak_servers import Planned, draw, five_servers, remote_url
from tests.support.guards import log_records_collected

AT_A_TIME = 8
CALLS_A_KILL = 100
CALLS_A_SAMPLE = 10
HUNG_SECONDS = 120.0
"""Far above every time-out of the servers: a call that is still open then hangs."""


class Soak:
    """One soak, on one running host."""

    def __init__(
        self,
        host: ToolHost,
        records: MemoryRecords,
        planned: Sequence[Planned],
        chance: random.Random,
        report: Report,
    ) -> None:
        self._host = host
        self._records = records
        self._chance = chance
        self._report = report
        self._victims = sorted({call.server.name for call in planned if call.server.killed})
        self._may_go = {
            call.server.name for call in planned if call.server.killed or call.server.goes_by_itself
        }
        self._specs = {(spec.server, spec.tool): spec for spec in host.tools()}
        self._planned = iter(planned)
        self._gap = min(CALLS_A_KILL, max(1, len(planned) // 4))
        self._kill_at = self._next_kill()
        self._process = psutil.Process()

    async def run(self) -> None:
        """Make all calls."""
        stop_looking = self._host.subscribe(self._look)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(AT_A_TIME):
                    group.create_task(self._work())
        finally:
            stop_looking()

    def _look(self) -> None:
        """Note a server that went away although nobody killed it."""
        for status in self._host.statuses():
            if status.state is not ServerState.READY and status.name not in self._may_go:
                self._report.gone.setdefault(
                    f"{status.name} went away: {status.reason}", self._report.recorded
                )

    async def _work(self) -> None:
        for planned in self._planned:
            self._report.record(planned.number, await self._outcome(planned))
            if self._report.recorded >= self._kill_at:
                self._kill_at = self._report.recorded + self._next_kill()
                self._kill(self._chance.choice(self._victims))
            if self._report.recorded % CALLS_A_SAMPLE == 0:
                memory = self._process.memory_info().rss
                self._report.samples.append(Sample(memory, self._process.num_fds()))

    async def _outcome(self, planned: Planned) -> Outcome:
        request = planned.request
        spec = self._spec(planned.server.name, request.tool)
        waiting = asyncio.timeout(planned.cancel_after_seconds)
        try:
            async with asyncio.timeout(HUNG_SECONDS), waiting:
                result = await self._host.call(spec, request.arguments)
        except ToolServerDown as error:
            self._report.words[f"{planned.server.name}: {error}"] += 1
            return Outcome.DOWN
        except ToolCallLost as error:
            self._report.words[f"{planned.server.name}: {error}"] += 1
            return Outcome.LOST
        except TimeoutError:
            return Outcome.CANCELLED if waiting.expired() else Outcome.HUNG
        return Outcome.ERROR if result.is_error else Outcome.RESULT

    def _spec(self, server: str, tool: str) -> ToolSpec:
        return self._specs[server, tool]

    def _next_kill(self) -> int:
        return self._chance.randint(self._gap // 2, self._gap * 3 // 2)

    def _kill(self, name: str) -> None:
        """Kill the server's process, if it has one; told apart by its token, since a pid may be anybody's."""
        pid = status_of(self._host, name).pid
        tokens = [token for token, known in self._records.alive.items() if pid is not None and known == pid]
        if pid is None or not any(pid in find_by_token(token, TOKEN_VARIABLE) for token in tokens):
            self._report.kills_missed += 1
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self._report.kills[name] += 1


async def soak(calls: int, seed: str, folder: Path) -> Report:
    """Run a soak of so many calls in an empty folder, and judge it."""
    report = Report(calls, seed, AT_A_TIME)
    chance = random.Random(seed)
    records = MemoryRecords()
    before = _held()
    began = time.monotonic()
    with log_records_collected(report.said):
        async with remote_url() as url:
            servers = five_servers(folder, url)
            planned = draw(servers, calls, chance)
            try:
                async with running_host(*(server.config for server in servers), records=records) as host:
                    for server in servers:
                        await ready(host, server.name)
                    await Soak(host, records, planned, chance, report).run()
            except AssertionError as error:  # the harness's own proof, after the host was closed
                report.problems.append(f"after closing: {error}")
        await asyncio.get_running_loop().shutdown_default_executor()
    report.seconds = time.monotonic() - began
    report.starts = Counter(what for word, what in records.said if word == "announce")
    report.left += [
        f"process {pid}" for token in records.tokens() for pid in find_by_token(token, TOKEN_VARIABLE)
    ]
    report.left += sorted(_held() - before)
    report.judge(servers, planned)
    return report


def _held() -> set[str]:
    """What this process holds that a closed host must have given back."""
    tasks = {f"task {task!r}" for task in asyncio.all_tasks() if task is not asyncio.current_task()}
    threads = {f"thread {thread.name}" for thread in threading.enumerate()}
    descriptors = set()
    for link in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the one that the listing itself holds
            descriptors.add(f"descriptor {link.name} {link.readlink()}")
    return tasks | threads | descriptors


def main(arguments: Sequence[str]) -> int:
    """Run the soak that the arguments describe and print its block."""
    options = dict(argument.partition("=")[::2] for argument in arguments)
    calls = int(options.get("N") or 2000)
    seed = options.get("SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"soak: {calls} calls, SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sophos-soak-") as folder:
        report = asyncio.run(soak(calls, seed, Path(folder)))
    print(report.block())
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
