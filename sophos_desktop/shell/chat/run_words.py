"""The sentences about runs: what became of one, and what to do.

Invariant: each says the fact first and the next step second. Pure, no Qt.
"""

import json
from collections.abc import Mapping
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.widgets.words import breakable

_SAVED = "Everything up to the last finished step is saved. Resume goes on from there."
_RESUME_TITLES = {
    RunStatus.FAILED: "The last run failed before it was done",
    RunStatus.CANCELLED: "You stopped the last run",
    RunStatus.INTERRUPTED: "The last run was interrupted",
}
_ARGUMENT_CHARACTERS = 300


def resume_sentences(status: RunStatus) -> tuple[str, str]:
    """Title and text of the resume banner."""
    return _RESUME_TITLES.get(status, "The last run is not finished"), _SAVED


def error_of_run(code: str | None, message: str | None) -> SophosError:
    """The error that a run's record holds: its message is title and remedy in one text."""
    known = ErrorCode(code) if code and code in ErrorCode.__members__ else ErrorCode.AGENT_FAILURE
    title, _, remedy = (message or "The run failed").partition(". ")
    return SophosError(known, title.removesuffix("."), remedy)


def decision_sentences(
    why: str, server: str, tool: str, arguments: Mapping[str, Any], *, remaining: int
) -> tuple[str, str]:
    """Title and text of the question about a call; `remaining` counts it too."""
    shown = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    if len(shown) > _ARGUMENT_CHARACTERS:
        shown = shown[:_ARGUMENT_CHARACTERS] + "…"
    more = f"\nAfter this one: {remaining - 1} more." if remaining > 1 else ""
    if why == "uncertain":
        title = f"Nobody knows whether {tool} ran"
        text = f"The call to {server} was cut off. Running it again may do the same thing twice."
    else:
        title = f"May {tool} run?"
        text = f"The model wants to call this tool of {server}."
    return title, f"{text}\n{breakable(f'{tool} {shown}')}{more}"
