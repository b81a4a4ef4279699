"""The starter's child: on record while it lives, gone with its parent, started again when it died."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import psutil
import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.engines.starter_process import SERVER_COMMAND, StarterProcess
from sophos_desktop.foundation import resources
from sophos_desktop.foundation.tasks import TaskOwner
from tests.support.child_records import ListedChildren

Start = Callable[..., StarterProcess]


@pytest.fixture
def records() -> ListedChildren:
    """The record of children."""
    return ListedChildren()


@pytest.fixture
async def start(records: ListedChildren) -> AsyncIterator[Start]:
    """Makes starters, and closes them."""
    errors: list[BaseException] = []
    tasks = TaskOwner(errors.append)
    made: list[StarterProcess] = []

    def starter(script: str | None = None, model: Path | None = Path(__file__)) -> StarterProcess:
        command = SERVER_COMMAND if script is None else (sys.executable, "-c", script)
        find = resources.starter_model if script is None else lambda: model
        made.append(StarterProcess(records, tasks, command=command, find_model=find, context_length=512))
        return made[-1]

    yield starter
    for process in made:
        await process.close()
    await tasks.close()
    assert errors == []


POLITE = """
import json, os, sys
orders = json.loads(sys.stdin.readline())
print(json.dumps({"address": "http://127.0.0.1:1"}), flush=True)
print("noise", orders["context"], file=sys.stderr, flush=True)
sys.stdin.read()
"""
STUBBORN = (
    POLITE
    + """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True: time.sleep(60)
"""
)
REPORTS = """
import json, os, sys
orders = json.loads(sys.stdin.readline())
seen = {"environ": dict(os.environ), "argv": sys.argv, "key": orders["key"], "group": os.getpgid(0)}
print(json.dumps({"address": json.dumps(seen)}), flush=True)
sys.stdin.read()
"""


async def test_the_real_child_serves_behind_its_key_and_is_gone_after_close(
    start: Start, records: ListedChildren
) -> None:
    starter = start()
    address = await starter.ensure()
    assert starter.pid is not None
    (row,) = records.rows.values()
    assert (row.what, row.pid) == ("starter", starter.pid)
    child = psutil.Process(starter.pid)
    assert row.start_time == child.create_time()
    assert address.api_key not in " ".join(child.cmdline())
    assert address.api_key not in repr(address)
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{address.base_url}/v1/models")).status_code == 401
        named = {"Authorization": f"Bearer {address.api_key}"}
        assert (await client.get(f"{address.base_url}/v1/models", headers=named)).status_code == 200
    await starter.close()
    assert not child.is_running()
    assert records.rows == {}
    assert records.history == ["announce", "spawned", "ended"]


async def test_the_real_child_leaves_when_its_parent_is_killed(environ: dict[str, str]) -> None:
    script = (
        "import asyncio, os, sys\n"
        "from sophos_desktop.core.engines.starter_process import StarterProcess\n"
        "from sophos_desktop.foundation.tasks import TaskOwner\n"
        "from tests.support.child_records import ListedChildren\n"
        "async def main():\n"
        "    starter = StarterProcess(ListedChildren(), TaskOwner(print))\n"
        "    await starter.ensure()\n"
        "    print(starter.pid, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=subprocess.PIPE, env=environ
    )
    assert parent.stdout is not None
    line = await asyncio.wait_for(parent.stdout.readline(), 60)
    assert line, "the starter did not start: run `make setup`"
    child = psutil.Process(int(line))
    parent.kill()
    await parent.wait()
    await asyncio.to_thread(psutil.wait_procs, [child], timeout=10)
    assert not child.is_running()


async def test_many_at_once_start_one_child(start: Start, records: ListedChildren) -> None:
    starter = start(POLITE)
    addresses = await asyncio.gather(*(starter.ensure() for _ in range(5)))
    assert len({address.api_key for address in addresses}) == 1
    assert records.history == ["announce", "spawned"]
    assert starter.alive


async def test_a_child_that_died_is_replaced_at_the_next_use(start: Start, records: ListedChildren) -> None:
    starter = start(POLITE)
    first = await starter.ensure()
    assert starter.pid is not None
    psutil.Process(starter.pid).kill()
    await starter.wait_dead()
    second = await starter.ensure()
    assert second.api_key != first.api_key
    assert records.history == ["announce", "spawned", "ended", "announce", "spawned"]


async def test_a_child_that_ignores_everything_is_killed(start: Start, records: ListedChildren) -> None:
    starter = start(STUBBORN)
    await starter.ensure()
    assert starter.pid is not None
    child = psutil.Process(starter.pid)
    await starter.close()
    assert not child.is_running()
    assert records.rows == {}


async def test_the_child_gets_a_small_environment_and_a_group_of_its_own(
    start: Start, records: ListedChildren, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_USER", "x")
    starter = start(REPORTS)
    seen = json.loads((await starter.ensure()).base_url)
    assert "SECRET_OF_THE_USER" not in seen["environ"]
    assert seen["environ"]["SOPHOS_CHILD_TOKEN"] in records.rows
    assert seen["key"] not in json.dumps([seen["environ"], seen["argv"]])
    assert seen["group"] == starter.pid
    assert seen["group"] != os.getpgid(0)


async def test_without_the_model_file_the_remedy_is_make_setup(
    start: Start, records: ListedChildren, tmp_path: Path
) -> None:
    for model in (None, tmp_path / "gone.gguf"):
        with pytest.raises(SophosError) as caught:
            await start(POLITE, model).ensure()
        assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE
        assert "`make setup`" in caught.value.remedy
    assert records.history == []


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.stdin.readline(); sys.exit('no room for the model')",
        "import sys; sys.stdin.readline(); print('no room for the model', file=sys.stderr); print('[]')",
    ],
)
async def test_a_child_that_cannot_serve_says_why(start: Start, records: ListedChildren, script: str) -> None:
    with pytest.raises(SophosError) as caught:
        await start(script).ensure()
    assert caught.value.code is ErrorCode.ENGINE_ERROR
    assert "did not start" in caught.value.title
    assert records.rows == {}


async def test_a_broken_model_file_is_an_error_with_the_servers_words(
    records: ListedChildren, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"junk" * 100)
    tasks = TaskOwner(lambda error: None)
    starter = StarterProcess(records, tasks, find_model=lambda: broken)
    with pytest.raises(SophosError) as caught:
        await starter.ensure()
    assert caught.value.code is ErrorCode.ENGINE_ERROR
    assert "invalid magic characters" in caught.value.details
    await starter.close()
    await tasks.close()


async def test_a_start_that_is_cancelled_leaves_nothing_behind(start: Start, records: ListedChildren) -> None:
    starter = start("import sys; sys.stdin.read()")
    starting = asyncio.ensure_future(starter.ensure())
    await asyncio.wait_for(records.was_spawned.wait(), 10)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert records.rows == {}
    assert not starter.alive


async def test_nothing_starts_after_close(start: Start, records: ListedChildren) -> None:
    starter = start(POLITE)
    await starter.close()
    with pytest.raises(SophosError):
        await starter.ensure()
    assert records.history == []
