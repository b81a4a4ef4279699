"""What the window does with attachments: adding, queueing, taking back and sending them.

Runs inside a forked program: `tests.durability.attaching_driver:main WHAT CONVERSATION [TEXT]`. `places`
prints where each attachment is, and the text that it is with; `finish` sends what is queued or left in the
draft.
"""

import asyncio
import json
import os
import sys
from typing import Any

from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.conversation import Role
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


async def _drive(what: str, conversation_id: str, text: str = "") -> int:
    options = CoreOptions(resolve_paths(None, os.environ), dict(os.environ))
    async with open_core(options) as core:
        if what == "places":
            print(json.dumps(await _places(core, conversation_id)))
        elif what == "attach":
            await core.attachments.add(conversation_id, "a.txt", text.encode())
        elif what == "put":
            held = await core.attachments.of_draft(conversation_id)
            await core.queue.put(conversation_id, text, held)
        elif what == "take-back":
            # As the window does it: into the composer and its draft first, then out of the queue.
            await core.conversations.save_draft(conversation_id, text)
            await core.queue.remove(conversation_id, to_draft=True)
        elif what == "send":
            held = await core.attachments.of_draft(conversation_id)
            await _ended(await core.runs.start(conversation_id, text, attachments=held))
        elif what == "finish":
            await _finish(core, conversation_id)
    return 0


async def _places(core: Core, conversation_id: str) -> dict[str, list[Any]]:
    """By place, the text there and the names of what is attached to it, without places that hold neither."""
    draft = await core.conversations.draft(conversation_id)
    queued = await core.queue.get(conversation_id)
    found: dict[str, list[Any]] = {
        "draft": [draft, [ref.name for ref in await core.attachments.of_draft(conversation_id)]],
        "queued": [queued, [ref.name for ref in await core.attachments.of_queued(conversation_id)]],
    }
    for message in await core.conversations.messages(conversation_id):
        if message.role is Role.USER:
            found[f"said {message.text}"] = [message.text, [ref.name for ref in message.attachments]]
    return {place: what for place, what in found.items() if what[0] or what[1]}


async def _finish(core: Core, conversation_id: str) -> None:
    if await core.queue.get(conversation_id) is not None:
        await _ended(await core.queue.send(conversation_id))
    held = await core.attachments.of_draft(conversation_id)
    draft = await core.conversations.draft(conversation_id)
    if held or draft:
        await _ended(await core.runs.start(conversation_id, draft, attachments=held))
    elif (await core.conversations.find(conversation_id)).resumable:
        await _ended(await core.runs.resume(conversation_id))


async def _ended(handle: RunHandle) -> None:
    ended = await handle.wait()
    print(ended.status, flush=True)
