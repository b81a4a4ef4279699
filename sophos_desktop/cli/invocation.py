"""What every command gets, and how it opens the core.

Invariant: the core is imported when a command needs it, so that `--help` and `--version` answer at once.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.output import json_document
from sophos_desktop.cli.signals import Signals
from sophos_desktop.foundation.paths import AppPaths

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of the program; lives as long as its command."""

    arguments: argparse.Namespace
    paths: AppPaths
    environ: Mapping[str, str]
    console: Console
    signals: Signals

    @property
    def as_json(self) -> bool:
        """True if `--json` was given."""
        return bool(getattr(self.arguments, "json", False))

    @asynccontextmanager
    async def core(
        self, *, tool_servers: bool = False, only_server: str | None = None, restarts: bool = True
    ) -> AsyncIterator["Core"]:
        """The open core; with its tool servers, or one of them, only where they are needed. `restarts` False:
        a server that fails is shown as that, and not started again.

        Raises SophosError STORE_*."""
        from sophos_desktop.core.assembly import CoreOptions, open_core

        # A signal that came while the imports held the loop ends the command here, before anything is open.
        await asyncio.sleep(0)
        options = CoreOptions(
            self.paths,
            self.environ,
            tool_servers=tool_servers or only_server is not None,
            only_server=only_server,
            restarts=restarts,
        )
        async with open_core(options) as core:
            yield core

    async def print_json(self, value: object) -> None:
        """One document on stdout."""
        await self.console.out(json_document(value, indented=self.console.stdout_is_terminal) + "\n")

    async def print_lines(self, lines: "list[str]") -> None:
        """Lines on stdout; none if there are none."""
        if lines:
            await self.console.out("\n".join(lines) + "\n")
