"""The command that watches a run of another process: follow.

Invariant: what is printed is what was stored, one sitting of the run, from its `run_started` to its `end`. If
the process that owns the run dies, recovery gives it its outcome here.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, json_line
from sophos_desktop.cli.run_output import error_line
from sophos_desktop.cli.running import exit_code
from sophos_desktop.cli.views import event_line
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SCHEMA_VERSION
from sophos_desktop.core.domain.run import RunRecord, RunStatus

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core

POLL_SECONDS = 0.1
# Whether the owner lives is asked less often: it costs a lock.
RECOVER_SECONDS = 1.0
# The outcome is committed a moment before its event is.
END_EVENT_SECONDS = 5.0

Event = Mapping[str, Any]


async def follow(call: Invocation) -> int:
    """Print the stored events of the latest run as they come, until its sitting ends."""
    style = Style(call.console.coloured)
    async with call.core() as core:
        conversation = await core.conversations.find(call.arguments.id)
        records = await core.conversations.runs(conversation.id)
        if not records:
            raise SophosError(ErrorCode.NOT_FOUND, "Nothing has run in this conversation", "Use `ask`")
        async with aclosing(_sitting(core, records[-1])) as events:
            async for event in events:
                if call.as_json:
                    await call.console.out(json_line(event) + "\n")
                elif (line := _line(event, style)) is not None:
                    await call.console.out(line + "\n")
    if event["error_code"] is not None:
        await call.console.note(error_line(event["error_code"], event["error_message"]))
    return exit_code(event["status"], event["error_code"])


def _line(event: Event, style: Style) -> str | None:
    """An answer is shown whole, everything else as the trace shows it."""
    if event["type"] == "message" and event["message"]["role"] == "assistant":
        return event["message"].get("text") or None
    return event_line(event, style)


async def _sitting(core: "Core", record: RunRecord) -> AsyncGenerator[Event, None]:
    """The events of the run's current sitting, or of its last one; the last is its `end`."""
    printed = 0
    next_recovery = time.monotonic() + RECOVER_SECONDS
    ended_since: float | None = None
    while True:
        record = await core.conversations.find_run(record.id)
        running = record.status is RunStatus.RUNNING
        fresh: Sequence[Event] = await core.conversations.trace(record.id, printed)
        if printed == 0:
            fresh = current_sitting(fresh, running=running)
        for event in fresh:
            yield event
            printed = event["seq"]
            if event["type"] == "end":
                return
        now = time.monotonic()
        if running:
            ended_since = None
            if now >= next_recovery:
                await core.runs.recover(record.conversation_id)
                next_recovery = now + RECOVER_SECONDS
        else:
            ended_since = ended_since or now
            if now - ended_since > END_EVENT_SECONDS:
                yield _missing_end(record, printed + 1)
                return
        await asyncio.sleep(POLL_SECONDS)


def current_sitting(events: Sequence[Event], *, running: bool) -> Sequence[Event]:
    """What belongs to the run's sitting now; if it does not run, to its last one."""
    considered = events if running or not events or events[-1]["type"] != "end" else events[:-1]
    ends = [index for index, event in enumerate(considered) if event["type"] == "end"]
    return events[ends[-1] + 1 :] if ends else events


def _missing_end(record: RunRecord, seq: int) -> Event:
    """The end as the row tells it, for a run whose event could not be stored."""
    ended = record.status not in (RunStatus.RUNNING, RunStatus.WAITING)
    return {
        "v": SCHEMA_VERSION,
        "run_id": record.id,
        "seq": seq,
        "at": record.finished_at,
        "type": "end",
        "status": record.status.value,
        "error_code": record.error_code,
        "error_message": record.error_message,
        "resumable": ended and record.unfinished,
        "usage": {"prompt_tokens": 0, "output_tokens": 0, "model_calls": 0, "tool_calls": 0},
    }
