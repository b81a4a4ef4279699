"""Runs the real program many times without paying for its imports: forks from a process that has them.

Run as `python -m tests.durability.fork_server`: one JSON job a line on stdin, one JSON answer a line on
stdout. This process has one thread, no event loop, connection or lock, so a fork of it is a fresh program.
"""

import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from sophos_desktop import cli, core, foundation
from tests.durability.jobs import Job

_POLL_SECONDS = 0.002


def main() -> None:
    """Serve until stdin ends."""
    _import_everything()
    print("ready", flush=True)
    for line in sys.stdin:
        job = Job(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            _run(job)
        print(json.dumps(_wait(pid, job)), flush=True)


def _import_everything() -> None:
    """All of the core and the command line, so that no start meets files that were changed meanwhile."""
    for package in (cli, core, foundation):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".mcp_host.servers" not in found.name:
                importlib.import_module(found.name)
    for name in ("tests.durability.driver", "tests.durability.examine"):
        importlib.import_module(name)
    importlib.import_module("sophos_desktop.core.mcp_host.loading").load()


def _run(job: Job) -> None:
    """In the child: become the program, then end without any clean-up of the parent's things."""
    code = 70
    try:
        os.chdir(job.cwd)
        os.environ.clear()
        os.environ.update(job.env)
        _redirect(0, os.devnull, os.O_RDONLY)
        _redirect(1, job.stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        _redirect(2, job.stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        if job.limit_file_bytes is not None:
            # Python ignores SIGXFSZ: a write beyond the limit fails with EFBIG.
            resource.setrlimit(resource.RLIMIT_FSIZE, (job.limit_file_bytes, job.limit_file_bytes))
        module, _, function = job.call.partition(":")
        code = int(getattr(importlib.import_module(module), function)(job.argv))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - the child must not fall back into the parent's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _redirect(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def _wait(pid: int, job: Job) -> dict[str, Any]:
    """Wait for the child; SIGKILL it when its time is up, SIGINT it when what it waits for is there."""
    began = time.monotonic()
    deadline = None if job.kill_after_seconds is None else began + job.kill_after_seconds
    interrupt = None if job.interrupt_file is None else Path(job.interrupt_file)
    while True:
        ended, status = os.waitpid(pid, 0 if deadline is None and interrupt is None else os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return {"code": code, "seconds": time.monotonic() - began}
        if deadline is not None and time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            deadline = None
            continue
        if (
            interrupt is not None
            and interrupt.exists()
            and job.interrupt_text in interrupt.read_text("utf-8")
        ):
            os.kill(pid, signal.SIGINT)
            interrupt = None
            continue
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
