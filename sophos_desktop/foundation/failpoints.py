"""Named places where a test may kill this process.

Invariant: without `SOPHOS_FAILPOINT` in the environment at start, `hit` does nothing but one comparison.
The variable is `NAME` or `NAME:COUNT`: SIGKILL at the COUNTth hit of NAME. `SOPHOS_FAILPOINT_LOG` names a
file that gets a line for each hit, so that the torture test knows which names a scenario passes.
"""

import os
import signal
from pathlib import Path

_armed: str | None = None
_remaining = 0
_log: Path | None = None


def arm(environ: dict[str, str] | os._Environ[str]) -> None:
    """Read the two variables. Called once by each entry point."""
    global _armed, _remaining, _log
    setting = environ.get("SOPHOS_FAILPOINT", "")
    name, _, count = setting.partition(":")
    _armed = name or None
    _remaining = int(count) if count else 1
    log = environ.get("SOPHOS_FAILPOINT_LOG", "")
    _log = Path(log) if log else None


def hit(name: str) -> None:
    """Pass the place called `name`; does not return if a test armed it."""
    if _armed is None and _log is None:
        return
    _record(name)


def _record(name: str) -> None:
    global _remaining
    if _log is not None:
        with _log.open("a", encoding="utf-8") as file:
            file.write(name + "\n")
    if name != _armed:
        return
    _remaining -= 1
    if _remaining == 0:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
