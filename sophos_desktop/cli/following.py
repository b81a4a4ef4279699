"""The command that watches a run of another process: follow.

Invariant: what is printed is what was stored, one sitting of the run, from its `run_started` to its `end`. If
the process that owns the run dies, recovery gives it its outcome here.
"""

from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, json_line
from sophos_desktop.cli.run_output import error_line
from sophos_desktop.cli.running import exit_code
from sophos_desktop.cli.views import event_line
from sophos_desktop.core.domain.errors import ErrorCode, SophosError

if TYPE_CHECKING:
    pass

Event = Mapping[str, Any]


async def follow(call: Invocation) -> int:
    """Print the stored events of the latest run as they come, until its sitting ends."""
    style = Style(call.console.coloured)
    async with call.core() as core:
        conversation = await core.conversations.find(call.arguments.id)
        records = await core.conversations.runs(conversation.id)
        if not records:
            raise SophosError(ErrorCode.NOT_FOUND, "Nothing has run in this conversation", "Use `ask`")
        async with aclosing(core.follower.sitting(records[-1])) as events:
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
