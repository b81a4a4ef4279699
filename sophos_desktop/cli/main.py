"""The entry of the command line: reads it, runs the command, turns what went wrong into an exit code.

Invariant: every error a person can cause is one line on stderr (with `--json` also a document on stdout) and
an exit code of the contract; anything else is a bug: its traceback goes to the log, its place to stderr.
"""

import asyncio
import importlib
import logging
import os
import sys
import threading
import time
import traceback
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TextIO

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import json_document
from sophos_desktop.cli.parser import PROGRAM, parse
from sophos_desktop.cli.run_output import error_line
from sophos_desktop.cli.signals import Request, Signals
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.display import has_display
from sophos_desktop.foundation.log_setup import FILE_NAME, set_up_logging
from sophos_desktop.foundation.paths import AppPaths, resolve_paths

_log = logging.getLogger(__name__)

BUG = 1
STORE_THREADS_SECONDS = 5.0

# Where each command is; a module is imported when its command is used.
_MODULES = {
    "ask": "running",
    "resume": "running",
    "decide": "running",
    "follow": "following",
    "list": "reading",
    "show": "reading",
    "runs": "reading",
    "trace": "reading",
    "approvals": "reading",
    "attachment": "attachments",
    "export": "exporting",
    "config": "caring",
    "doctor": "caring",
    "mcp": "tool_servers",
    "models": "caring",
    "delete": "caring",
}
_FUNCTIONS = {"list": "list_conversations"}


def main(argv: list[str] | None = None) -> int:
    """Run the program with the process's own streams and environment; gives the exit code."""
    failpoints.arm(os.environ)
    arguments = sys.argv[1:] if argv is None else argv
    return run(arguments, os.environ, sys.stdin, sys.stdout, sys.stderr)


def run(
    argv: list[str],
    environ: Mapping[str, str],
    stdin: TextIO | None,
    stdout: TextIO | None,
    stderr: TextIO | None,
) -> int:
    """Run one command line; gives the exit code. `--help` and `--version` raise SystemExit."""
    console = Console(stdin, stdout, stderr, environ)
    code = _guarded(argv, environ, console)
    if console.stuck:
        # A reader does not read: the interpreter would wait for it for ever.
        os._exit(code)
    console.close()
    return code


def _guarded(argv: list[str], environ: Mapping[str, str], console: Console) -> int:
    paths: AppPaths | None = None
    try:
        arguments = parse(argv)
        paths = _paths(arguments, environ)
        return _logged(arguments, paths, environ, console)
    except SophosError as error:
        _report(error, console, as_json="--json" in argv)
        return error.exit_code
    except KeyboardInterrupt:
        return Request.STOP.value
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001  # the last place where a bug can be told
        _report_bug(error, console, paths)
        return BUG


def _paths(arguments: Namespace, environ: Mapping[str, str]) -> AppPaths:
    chosen = getattr(arguments, "data_dir", None)
    if chosen is not None and not chosen.strip():
        raise SophosError(ErrorCode.BAD_REQUEST, "--data-dir names no folder", "Give the folder's path")
    return resolve_paths(None if chosen is None else Path(chosen), environ)


def _logged(arguments: Namespace, paths: AppPaths, environ: Mapping[str, str], console: Console) -> int:
    try:
        # Before the log makes it: the folder is for this user alone.
        paths.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        pass  # whoever needs it says so
    close_log = set_up_logging(paths.log_dir)
    try:
        _log.info("command %s", arguments.command)
        if arguments.command == "desktop":
            return _open_window(arguments, paths, environ)
        return asyncio.run(_run_command(arguments, paths, environ, console))
    except Exception as error:
        if not isinstance(error, (SophosError, BrokenPipeError)):
            _log.exception("command %s failed in our own code", arguments.command)
        raise
    finally:
        close_log()


async def _run_command(
    arguments: Namespace, paths: AppPaths, environ: Mapping[str, str], console: Console
) -> int:
    signals = Signals(console.hurry, os._exit)
    with signals.watched():
        try:
            return await _command(arguments.command)(Invocation(arguments, paths, environ, console, signals))
        except asyncio.CancelledError:
            if signals.requested is None:
                raise
            # The signal's own cancellation, and this is the end of the task that it was meant for.
            return signals.requested.value
        finally:
            await _store_threads_ended()


async def _store_threads_ended() -> None:
    """A connection whose opening or statement was cancelled ends in its own thread (aiosqlite 0.22), which
    tells the loop of it: a loop that is closed by then would be a traceback on stderr."""
    deadline = time.monotonic() + STORE_THREADS_SECONDS
    for thread in [one for one in threading.enumerate() if "_connection_worker_thread" in one.name]:
        await asyncio.to_thread(thread.join, max(0.0, deadline - time.monotonic()))


def _command(name: str) -> Callable[[Invocation], Awaitable[int]]:
    module = importlib.import_module(f"sophos_desktop.cli.{_MODULES[name]}")
    function: Callable[[Invocation], Awaitable[int]] = getattr(module, _FUNCTIONS.get(name, name))
    return function


def _open_window(arguments: Namespace, paths: AppPaths, environ: Mapping[str, str]) -> int:
    if not has_display(environ, sys.platform):
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            "There is no display to open the window on",
            f"Use `{PROGRAM} ask`, or set QT_QPA_PLATFORM=offscreen",
        )
    from sophos_desktop.bootstrap import DesktopOptions, run_desktop

    demo = getattr(arguments, "demo", None)
    screenshot = getattr(arguments, "screenshot", None)
    return run_desktop(
        DesktopOptions(paths, environ),
        demo_prompt=demo,
        screenshot=None if screenshot is None else Path(screenshot),
    )


def _report(error: SophosError, console: Console, *, as_json: bool) -> None:
    console.note_now(error_line(error.code.value, error.message))
    if as_json:
        told = {"code": error.code.value, "title": error.title, "remedy": error.remedy}
        document = {"error": {**told, "details": error.details}}
        console.out_now(json_document(document, indented=console.stdout_is_terminal) + "\n")


def _report_bug(error: Exception, console: Console, paths: AppPaths | None) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "sophos_desktop" in Path(frame.filename).parts]
    places = dict.fromkeys(
        f"{Path(frame.filename).name}, line {frame.lineno} ({frame.name})"
        for frame in (frames[-1], *ours[-1:])
    )
    log = paths.log_dir / FILE_NAME if paths is not None else None
    where = ", called in ".join(places)
    console.note_now(f"Sophos failed in its own code: {type(error).__name__} in {where}")
    if log is not None and log.is_file():
        console.note_now(f"The log has the details: {log}")
    else:
        console.note_now("".join(traceback.format_exception(error)).rstrip())
