"""What the window does and the command line does not: queueing, denying all that waits, allowing for good.

Runs inside a forked program: `tests.durability.driver:main put|send|deny-all CONVERSATION TEXT`, or
`always CONVERSATION CALL`. Exits as the command line would: with the code of the run's outcome, or of the
refusal.
"""

import asyncio
import json
import os
import sys

from sophos_desktop.cli.running import exit_code
from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.runs.registry import RunHandle
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.paths import resolve_paths


def main(argv: list[str]) -> int:
    """Do it."""
    failpoints.arm(os.environ)
    try:
        return asyncio.run(_drive(*argv))
    except SophosError as error:
        print(f"error {error.code.value}: {error.message}", file=sys.stderr)
        return error.exit_code


async def _drive(what: str, conversation_id: str, text: str) -> int:
    options = CoreOptions(resolve_paths(None, os.environ), dict(os.environ))
    async with open_core(options) as core:
        handle = await _begin(core, what, conversation_id, text)
        if handle is None:
            return 0
        async for event in handle.events():
            print(json.dumps(event.to_json()), flush=True)
        ended = await handle.wait()
        return exit_code(ended.status, ended.error_code)


async def _begin(core: Core, what: str, conversation_id: str, text: str) -> RunHandle | None:
    if what == "put":
        await core.queue.put(conversation_id, text)
        return None
    if what == "deny-all":
        return await core.queue.deny_all_and_send(conversation_id, text)
    if what == "always":
        await core.decisions.decide(conversation_id, text, "allow", always=True)
        return await core.runs.proceed(conversation_id)
    return await core.queue.send(conversation_id)
