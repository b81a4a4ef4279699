"""The sentences about runs: what became of one, and what to do.

Invariant: each says the fact first and the next step second. Pure, no Qt.
"""

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus

_SAVED = "Everything up to its last step is saved."
_ANEW = "Resume writes it anew; this half stays until then."
_RESUME_TITLES = {
    RunStatus.FAILED: "This run failed before it was done.",
    RunStatus.CANCELLED: "You stopped this run.",
    RunStatus.INTERRUPTED: "This run was interrupted.",
    RunStatus.WAITING: "Every call is decided.",
}


def resume_sentences(status: RunStatus, *, uncertain: int = 0, has_half: bool = False) -> tuple[str, str]:
    """Title and text of the resume banner. `uncertain`: how many calls have an unknown outcome; `has_half`:
    the last answer did not arrive as a whole, and the model is asked for it again."""
    if status is RunStatus.WAITING:
        return _RESUME_TITLES[status], "Resume lets the run go on."
    title = _RESUME_TITLES.get(status, "This run is not finished.")
    if uncertain:
        calls = "1 call is" if uncertain == 1 else f"{uncertain} calls are"
        return title, f"{calls} uncertain; Resume settles that first."
    return title, _ANEW if has_half else _SAVED


def error_of_run(code: str | None, message: str | None) -> SophosError:
    """The error that a run's record holds: its message is title and remedy in one text."""
    known = ErrorCode(code) if code and code in ErrorCode.__members__ else ErrorCode.AGENT_FAILURE
    title, _, remedy = (message or "The run failed").partition(". ")
    return SophosError(known, title.removesuffix("."), remedy)
