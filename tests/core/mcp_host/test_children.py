"""Closing a tool server's process ends all that is its, whatever it does, and in bounded time."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sophos_desktop.core.mcp_host.child import ChildCommand, CloseLimits, ServerChild
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from tests.core.mcp_host.harness import MemoryRecords
from tests.support.processes import PATIENCE_SECONDS, is_alive, living

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at /proc")

LIMITS = CloseLimits(stdin_seconds=0.3, terminate_seconds=0.2, pipes_seconds=0.3)
# All the waits of one close, the kill of the group and of strays included.
BOUND_SECONDS = 15.0
PREPARED = "import os, signal, subprocess, sys, time\nsay = lambda text: print(text, flush=True)\n"

DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say(os.getpid()); time.sleep(600)"
GRANDCHILD = f"{PREPARED}signal.signal(signal.SIGTERM, signal.SIG_IGN); say(os.getpid()); time.sleep(600)"

SERVERS = {
    # What it says, a pid a line; it then does what its name says.
    "ignores SIGTERM and the end of its input": (1, DEAF),
    "ends at once when its input does": (1, "say(os.getpid()); sys.stdin.read()"),
    "a wrapper that waits for its child": (
        2,
        f"say(os.getpid()); subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])",
    ),
    "a wrapper that leaves, while its child holds the pipes": (
        1,
        f"subprocess.Popen([sys.executable, '-c', {GRANDCHILD!r}]); os._exit(0)",
    ),
    "a daemon that forked twice, in a session of its own": (
        2,
        "say(os.getpid())\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN); say(os.getpid()); time.sleep(600)\n"
        "os.wait(); sys.stdin.read()",
    ),
    "one without environment, in the session of a daemon": (
        2,
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    subprocess.Popen([sys.executable, '-c', {GRANDCHILD!r}], env={{}})\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    say(os.getpid()); time.sleep(600)\n"
        "os.wait(); sys.stdin.read()",
    ),
    "one that is stopped": (1, "say(os.getpid()); os.kill(os.getpid(), signal.SIGSTOP)"),
    "one that forks all the time": (
        20,
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(20):\n"
        "    say(os.getpid())\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    time.sleep(0.02)\n"
        "time.sleep(600)",
    ),
    "one that forks all the time, each in a session of its own": (
        1,
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(20):\n"
        "    say(os.getpid())\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid(); time.sleep(0.05)\n"
        "time.sleep(600)",
    ),
    "one with twenty children": (
        21,
        "for _ in range(20):\n"
        "    if os.fork() == 0:\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        break\n"
        "say(os.getpid()); time.sleep(600)",
    ),
}


def python(code: str) -> ChildCommand:
    return ChildCommand("mcp:x", sys.executable, ("-c", PREPARED + code), {"PATH": "/usr/bin:/bin"})


async def start(command: ChildCommand, records: MemoryRecords, limits: CloseLimits = LIMITS) -> ServerChild:
    return await ServerChild.start(command, records=records, tail=StderrTail(), limits=limits)


@asynccontextmanager
async def closed_by(records: MemoryRecords) -> AsyncIterator[None]:
    """Nothing that carries a token of these records, and no row of them, is left after the block, which is
    bounded."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < BOUND_SECONDS
    assert [living(token) for token in records.tokens()] == [{}] * len(records.tokens())
    assert records.alive == {}


async def pids_said(child: ServerChild, count: int) -> Sequence[int]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [int(await child.next_line() or 0) for _ in range(count)]


@pytest.mark.parametrize("what", list(SERVERS))
async def test_nothing_of_a_server_is_left_after_its_close(what: str) -> None:
    lines, code = SERVERS[what]
    records = MemoryRecords()
    child = await start(python(code), records)
    pids = await pids_said(child, lines)
    async with closed_by(records):
        await child.close()
    assert [pid for pid in pids if is_alive(pid)] == []


async def test_a_shell_wrapper_whose_child_survives_it_is_ended_with_it() -> None:
    records = MemoryRecords()
    script = "trap '' TERM; (echo $$; exec sleep 600) & echo $!"
    child = await start(ChildCommand("mcp:x", "sh", ("-c", script), {"PATH": "/usr/bin:/bin"}), records)
    pids = await pids_said(child, 2)
    assert await child.wait_exited(PATIENCE_SECONDS)
    assert is_alive(max(pids))
    async with closed_by(records):
        await child.close()
    assert not is_alive(max(pids))


async def test_a_server_that_listens_is_never_signalled(tmp_path: Path) -> None:
    mark = tmp_path / "signalled"
    code = (
        f"signal.signal(signal.SIGTERM, lambda *_: open({str(mark)!r}, 'w').close())\n"
        "say(1); sys.stdin.read(); sys.exit(5)"
    )
    records = MemoryRecords()
    child = await start(python(code), records, CloseLimits(stdin_seconds=PATIENCE_SECONDS))
    await pids_said(child, 1)
    async with closed_by(records):
        await child.close()
    assert child.returncode == 5
    assert not mark.exists()


async def test_a_server_that_does_not_end_with_its_input_may_still_end_politely(tmp_path: Path) -> None:
    mark = tmp_path / "signalled"
    code = (
        f"signal.signal(signal.SIGTERM, lambda *_: (open({str(mark)!r}, 'w').close(), os._exit(6)))\n"
        "say(1); time.sleep(600)"
    )
    records = MemoryRecords()
    limits = CloseLimits(stdin_seconds=0.1, terminate_seconds=PATIENCE_SECONDS)
    child = await start(python(code), records, limits)
    await pids_said(child, 1)
    async with closed_by(records):
        await child.close()
    assert child.returncode == 6
    assert mark.exists()


async def test_stopping_while_a_server_is_spawned_leaves_nothing_at_any_moment() -> None:
    code = f"subprocess.Popen([sys.executable, '-c', {GRANDCHILD!r}]); time.sleep(600)"
    records = MemoryRecords()
    for turns in range(0, 24, 2):
        starting = asyncio.ensure_future(start(python(code), records))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        async with closed_by(records):
            try:
                await (await starting).close()
            except asyncio.CancelledError:
                pass


class _SlowRecords(MemoryRecords):
    """Whose row of a spawned process takes until somebody gives up."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def spawned(self, token: str, pid: int, start_time: float) -> None:
        await super().spawned(token, pid, start_time)
        self.asked.set()
        await asyncio.Event().wait()


async def test_stopping_while_the_record_is_written_ends_the_process() -> None:
    records = _SlowRecords()
    starting = asyncio.ensure_future(start(python(DEAF), records))
    await asyncio.wait_for(records.asked.wait(), PATIENCE_SECONDS)
    (pid,) = records.alive.values()
    assert pid is not None
    starting.cancel()
    async with closed_by(records):
        with pytest.raises(asyncio.CancelledError):
            await starting
    assert not is_alive(pid)


async def test_a_close_that_is_cancelled_again_and_again_is_finished_all_the_same() -> None:
    records = MemoryRecords()
    child = await start(python(DEAF), records)
    (pid,) = await pids_said(child, 1)
    closing = asyncio.ensure_future(child.close())
    async with closed_by(records):
        await asyncio.sleep(0)  # a task that is cancelled before its first step does nothing at all
        while not closing.done():
            closing.cancel()
            await asyncio.wait([closing], timeout=0.05)
        with pytest.raises(asyncio.CancelledError):
            await closing
    assert not is_alive(pid)
    await child.close()


async def test_closing_twice_at_once_is_one_close() -> None:
    records = MemoryRecords()
    child = await start(python(DEAF), records)
    async with closed_by(records):
        await asyncio.gather(child.close(), child.close())
    assert [word for word, _ in records.said] == ["announce", "spawned", "ended"]


async def test_five_servers_are_closed_together_in_bounded_time() -> None:
    records = MemoryRecords()
    names = list(SERVERS)[:5]
    children = [await start(python(SERVERS[name][1]), records) for name in names]
    for child, name in zip(children, names, strict=True):
        await pids_said(child, SERVERS[name][0])
    async with closed_by(records):
        await asyncio.gather(*(child.close() for child in children))


async def test_a_neighbour_of_the_same_program_is_left_alone() -> None:
    records, others = MemoryRecords(), MemoryRecords()
    other = await start(python(DEAF), others)
    (stays,) = await pids_said(other, 1)
    child = await start(python(SERVERS["a wrapper that waits for its child"][1]), records)
    await pids_said(child, 2)
    async with closed_by(records):
        await child.close()
    assert is_alive(stays)
    async with closed_by(others):
        await other.close()
