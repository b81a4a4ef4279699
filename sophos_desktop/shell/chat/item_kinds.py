"""What a conversation consists of for its reader: messages, tool calls, notices, an error.

Invariant: frozen plain data, no Qt. An item that did not change stays the same object, so that the view can
tell by identity what to show again.
"""

from dataclasses import dataclass
from enum import Enum

from sophos_desktop.core.domain.conversation import AttachmentRef, MessageState

PENDING_KEY = "pending"
ERROR_KEY = "error"
UNRESOLVED, NOT_RUN = "unresolved", "not_run"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one call of the model took: milliseconds of thinking, tokens it wrote, tokens a second."""

    thinking_ms: int | None = None
    tokens: int | None = None
    tokens_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class UserItem:
    """What the user wrote, and what went with it."""

    key: str
    text: str
    attachments: tuple[AttachmentRef, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """What the model said. `live`: more may come; `asks`: it asked for tools; `can_continue`: it is the last,
    and a resume would go on with it."""

    key: str
    text: str
    thinking: str = ""
    state: MessageState = MessageState.COMPLETE
    live: bool = False
    asks: bool = False
    at: str | None = None
    model: str | None = None
    run_id: str | None = None
    figures: Figures = Figures()
    can_continue: bool = False

    @property
    def is_stored(self) -> bool:
        """All of it is in the thread."""
        return self.state is MessageState.COMPLETE and not self.live


@dataclass(frozen=True, slots=True)
class ResultImage:
    """An image that a call returned; `key` is for the image provider."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolItem:
    """A tool call and what became of it. `status` is None before it ran, `running` while it does, `asked` or
    `uncertain` while somebody is asked, `allowed`, `again` or `entered` once that was decided; when nothing
    goes on, `unresolved` if it was sent and never came back, `not_run` if it was never sent.
    `running_since`: seconds of time.monotonic. `whole_bytes`: of a result that is more than `result`, how
    much is kept of it. `is_edited`: the user had it sent with other arguments than the model asked for."""

    key: str
    server: str
    tool: str
    arguments: str
    status: str | None = None
    result: str = ""
    duration_ms: int | None = None
    running_since: float | None = None
    run_id: str | None = None
    whole_bytes: int | None = None
    images: tuple[ResultImage, ...] = ()
    is_edited: bool = False

    @property
    def is_asked(self) -> bool:
        """True while somebody is asked about it."""
        return self.status in ("asked", "uncertain")

    @property
    def stands_alone(self) -> bool:
        """True for one that has a card of its own: somebody is asked about it, or will be."""
        return self.is_asked or self.status == UNRESOLVED


class NoticeTone(Enum):
    """What a notice is about."""

    PLAIN = "plain"
    CUT = "cut"
    RECOVERED = "recovered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NoticeItem:
    """Something the reader should know at this place; `can_continue`: the model can be asked for the rest."""

    key: str
    text: str
    tone: NoticeTone = NoticeTone.PLAIN
    can_continue: bool = False


@dataclass(frozen=True, slots=True)
class ErrorItem:
    """Why the last run ended without an answer; `can_continue`: a resume would go on."""

    key: str
    title: str
    remedy: str
    code: str
    can_continue: bool = False


Item = UserItem | AnswerItem | ToolItem | NoticeItem | ErrorItem
