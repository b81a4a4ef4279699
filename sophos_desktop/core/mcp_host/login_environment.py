"""Asks the user's login shell for its environment: an app started from an icon has a short PATH, and what a
version manager adds to it is only known to the shell.

Invariant: asked only when it is needed, and once as long as the answer helps; bounded in time; the shell has
no terminal and no input, and nothing that it started is left. An answer that cannot be had is a sentence.
"""

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path, PurePath

from sophos_desktop.core.domain.ports import ChildRecords
from sophos_desktop.core.mcp_host.child import ChildCommand, CloseLimits, ServerChild
from sophos_desktop.core.mcp_host.command import ChildNotStarted
from sophos_desktop.core.mcp_host.environment import LoginAnswer, UserEnvironment, of_login, passed_on
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail

if sys.platform != "win32":
    import pwd

ASK_SECONDS = 5.0
_STALE_SECONDS = 30.0
_MAXIMUM_ANSWER_BYTES = 4 * 1024 * 1024
_LIMITS = CloseLimits(stdin_seconds=0.3, terminate_seconds=0.1)
# Shells that take -l only alone.
_NO_LOGIN_FLAG = ("csh", "tcsh")


def user_environment(environ: Mapping[str, str]) -> UserEnvironment:
    """This process's variables, with the user's login shell behind them; on Windows there is none."""
    return UserEnvironment(environ, None if sys.platform == "win32" else LoginShell(environ))


class LoginShell:
    """The user's shell, behind the port `Login`. Lives as long as the program; a process of it only
    during `ask`."""

    def __init__(self, environ: Mapping[str, str], *, ask_seconds: float = ASK_SECONDS) -> None:
        """`environ` says which shell (SHELL; else the password database does) and what it starts from."""
        self._environ = environ
        self._ask_seconds = ask_seconds
        self._lock = asyncio.Lock()
        self._answer: LoginAnswer | None = None
        self._answered_at = 0.0

    async def ask(self, records: ChildRecords, *, fresh: bool = False) -> LoginAnswer:
        """Its environment; concurrent callers share one answer, and it raises for nothing the shell does.

        `fresh`: ask again if the answer is older than half a minute, since the user may have installed what
        was missing. Raises SophosError if the shell cannot be put on record.
        """
        async with self._lock:
            age = time.monotonic() - self._answered_at
            if self._answer is None or (fresh and age > _STALE_SECONDS):
                self._answer = await self._asked(records)
                self._answered_at = time.monotonic()
            return self._answer

    async def _asked(self, records: ChildRecords) -> LoginAnswer:
        shell = await asyncio.to_thread(_shell_of, self._environ)
        if shell is None:
            return LoginAnswer(problem="it is not known which it is")
        # The halves stand apart in what the shell is told, so that no echo of it is taken for the answer.
        halves = (secrets.token_hex(16), secrets.token_hex(16))
        child: ServerChild | None = None
        try:
            async with asyncio.timeout(self._ask_seconds):
                child = await ServerChild.start(
                    self._command(shell, halves), records=records, tail=StderrTail(), limits=_LIMITS
                )
                child.end_input()
                said = await _between("".join(halves).encode(), child)
        except TimeoutError:
            return LoginAnswer(problem=f"{shell} did not answer within {self._ask_seconds:g} seconds")
        except ChildNotStarted as error:
            return LoginAnswer(problem=str(error))
        finally:
            if child is not None:
                await child.close()
        variables = of_login(_parsed(said))
        if variables.get("PATH"):
            return LoginAnswer(variables)
        return LoginAnswer(problem=f"{shell} ended without saying its PATH")

    def _command(self, shell: str, halves: tuple[str, str]) -> ChildCommand:
        mark = f"printf '%s%s\\n' {halves[0]} {halves[1]}"
        flags = ("-i",) if PurePath(shell).name in _NO_LOGIN_FLAG else ("-l", "-i")
        environment = {**passed_on(self._environ), "TERM": "dumb"}
        home = environment.get("HOME")
        return ChildCommand(
            "login shell",
            shell,
            (*flags, "-c", f"{mark}; /usr/bin/env -0 || /usr/bin/env; {mark}"),
            environment,
            home if home is not None and os.path.isdir(home) else None,  # noqa: PTH112
        )


async def _between(mark: bytes, child: ServerChild) -> bytes:
    """What it says between the two marks; empty if it ends before the second, or says too much."""
    said = bytearray()
    begun = False
    while (line := await child.next_line()) is not None:
        before, marked, _ = line.rpartition(mark)
        if marked and begun:
            return bytes(said + before)
        if begun:
            said += line + b"\n"
        begun = begun or bool(marked)
        if len(said) > _MAXIMUM_ANSWER_BYTES:
            break
    return b""


def _parsed(said: bytes) -> dict[str, str]:
    separator = b"\0" if b"\0" in said else b"\n"
    pairs = (entry.partition(b"=") for entry in said.split(separator))
    return {os.fsdecode(name): os.fsdecode(value) for name, sign, value in pairs if sign}


def _shell_of(environ: Mapping[str, str]) -> str | None:
    """The user's shell: a full path of a program that is there."""
    candidates = [environ.get("SHELL", "")]
    if sys.platform != "win32":
        try:
            candidates.append(pwd.getpwuid(os.getuid()).pw_shell)
        except KeyError:
            pass
    return next((name for name in candidates if Path(name).is_absolute() and os.access(name, os.X_OK)), None)
