"""What of a trace is shown.

Invariant: frozen and pure; what is not shown is still there, and saved.
"""

from dataclasses import dataclass
from typing import Final

from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.shell.trace.calls import NOT_DONE, ShownRow

_NOT_CLEAN = (RunStatus.FAILED, RunStatus.INTERRUPTED)
_MODEL = ("load", "prompt", "think", "answer", "message")


@dataclass(frozen=True, slots=True)
class Shown:
    """Which rows are shown: the calls of the model, tool calls, calls that were asked about, notices. A call
    that was asked about is both. `only_failures`: of these, what failed or has no result."""

    model: bool = True
    tools: bool = True
    questions: bool = True
    notices: bool = True
    only_failures: bool = False

    def takes(self, shown: ShownRow) -> bool:
        """True if a row is shown."""
        if self.only_failures and shown.state not in NOT_DONE:
            return False
        if shown.is_call:
            return self.tools or (self.questions and shown.question is not None)
        return self.model if shown.row.kind in _MODEL else self.notices


def takes_run(shown: Shown, record: RunRecord, *, has_rows: bool) -> bool:
    """True if a run is shown: with only failures, one that failed itself, or has something that did."""
    return not shown.only_failures or has_rows or record.status in _NOT_CLEAN


EVERYTHING: Final = Shown()
