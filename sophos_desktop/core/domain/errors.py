"""The errors that a person can do something about.

Invariant: each has a code of the contract, a title, a remedy and an exit code; what a library or an engine
said word for word is in the details alone. Whatever is not a `SophosError` is a bug of ours and keeps its
traceback.
"""

import errno
from enum import StrEnum


class ErrorCode(StrEnum):
    """The codes; their names are promises to scripts."""

    BAD_REQUEST = "BAD_REQUEST"
    NOT_FOUND = "NOT_FOUND"
    AMBIGUOUS_ID = "AMBIGUOUS_ID"
    SESSION_IN_PROGRESS = "SESSION_IN_PROGRESS"
    APPROVAL_PENDING = "APPROVAL_PENDING"
    RUN_NOT_RESUMABLE = "RUN_NOT_RESUMABLE"
    DECISION_STALE = "DECISION_STALE"
    ILLEGAL_TRANSITION = "ILLEGAL_TRANSITION"
    CONVERSATION_ARCHIVED = "CONVERSATION_ARCHIVED"
    ENGINE_UNREACHABLE = "ENGINE_UNREACHABLE"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    ENGINE_ERROR = "ENGINE_ERROR"
    ENGINE_BUSY = "ENGINE_BUSY"
    EMPTY_ANSWER = "EMPTY_ANSWER"
    STREAM_INCOMPLETE = "STREAM_INCOMPLETE"
    CONTEXT_EXCEEDED = "CONTEXT_EXCEEDED"
    RECURSION_LIMIT = "RECURSION_LIMIT"
    THREAD_UNREADABLE = "THREAD_UNREADABLE"
    EXPORT_FAILED = "EXPORT_FAILED"
    STORE_BUSY = "STORE_BUSY"
    STORE_FULL = "STORE_FULL"
    STORE_READ_ONLY = "STORE_READ_ONLY"
    STORE_CORRUPT = "STORE_CORRUPT"
    STORE_TOO_NEW = "STORE_TOO_NEW"
    STORE_UNSUPPORTED = "STORE_UNSUPPORTED"
    STORE_UNREACHABLE = "STORE_UNREACHABLE"
    AGENT_FAILURE = "AGENT_FAILURE"
    CONFIG_INVALID = "CONFIG_INVALID"
    TOOL_SERVER_DOWN = "TOOL_SERVER_DOWN"
    TOOL_CALL_LOST = "TOOL_CALL_LOST"

    @property
    def exit_code(self) -> int:
        """What the command line exits with: the table of CLI.md."""
        if self in _USAGE:
            return 2
        if self in _NOT_FOUND:
            return 6
        if self in _CONFLICT:
            return 5
        if self.startswith("STORE_") or self is ErrorCode.EXPORT_FAILED:
            return 7
        return 3


_USAGE = frozenset({ErrorCode.BAD_REQUEST, ErrorCode.ILLEGAL_TRANSITION, ErrorCode.CONFIG_INVALID})
_NOT_FOUND = frozenset({ErrorCode.NOT_FOUND, ErrorCode.AMBIGUOUS_ID})
_CONFLICT = frozenset(
    {
        ErrorCode.SESSION_IN_PROGRESS,
        ErrorCode.APPROVAL_PENDING,
        ErrorCode.RUN_NOT_RESUMABLE,
        ErrorCode.DECISION_STALE,
        ErrorCode.CONVERSATION_ARCHIVED,
    }
)


class NoticeCode(StrEnum):
    """What a run says without ending."""

    CONFIG_INVALID = "CONFIG_INVALID"
    MODEL_LACKS_TOOLS = "MODEL_LACKS_TOOLS"
    MODEL_LACKS_THINKING = "MODEL_LACKS_THINKING"
    MODEL_LACKS_VISION = "MODEL_LACKS_VISION"
    ATTACHMENT_UNREADABLE = "ATTACHMENT_UNREADABLE"
    IMAGE_REFUSED = "IMAGE_REFUSED"
    ANSWER_CUT = "ANSWER_CUT"
    CONTEXT_TRIMMED = "CONTEXT_TRIMMED"
    HISTORY_REPAIRED = "HISTORY_REPAIRED"
    TOOL_SERVER_DOWN = "TOOL_SERVER_DOWN"
    TOOLS_STARTING = "TOOLS_STARTING"
    STEP_LIMIT_INVALID = "STEP_LIMIT_INVALID"
    ENGINE_CHOSEN = "ENGINE_CHOSEN"
    TOOLS_CHANGED = "TOOLS_CHANGED"
    TRUST_LOST = "TRUST_LOST"


class SophosError(Exception):
    """An error of the environment or of the user's request."""

    def __init__(self, code: ErrorCode, title: str, remedy: str = "", *, details: str = "") -> None:
        """`title` is one clear sentence without a full stop; `remedy` says what to do; `details`: the words
        of whoever failed, as they came, for who looks into it. They are kept on one line."""
        super().__init__(title)
        self.code = code
        self.title = title
        self.remedy = remedy
        self.details = " ".join(details.split())

    @property
    def exit_code(self) -> int:
        """What the command line exits with."""
        return self.code.exit_code

    @property
    def advice(self) -> str:
        """The remedy, and on a line of their own the details."""
        if not self.details:
            return self.remedy
        told = f"{self.remedy.rstrip('.')}.\n" if self.remedy else ""
        return f"{told}Details: {self.details}"

    @property
    def message(self) -> str:
        """Title, remedy and details, as it is recorded with a run."""
        advice = self.advice
        return f"{self.title}. {advice}".strip() if advice else self.title

    def with_remedy(self, remedy: str) -> "SophosError":
        """The same error, with something else to do about it."""
        return SophosError(self.code, self.title, remedy, details=self.details)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


def full_disk(error: OSError, path: object) -> SophosError | None:
    """What a file gets that was to be changed and for which there is no room; None for another reason."""
    if error.errno not in _NO_ROOM:
        return None
    return SophosError(
        ErrorCode.STORE_FULL,
        f"There is no space left for {path}",
        "Free some space on the disk, then try again; nothing was changed",
    )
