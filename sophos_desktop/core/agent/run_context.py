"""What one sitting of a run gives to the nodes of the graph.

Invariant: nodes reach the world only through this object; `produced` holds the messages that a node
returned and no checkpoint holds yet, so that they are announced when they are stored (DURABILITY.md, rule 9).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from langchain_core.messages import BaseMessage
from langgraph.config import get_config

from sophos_desktop.core.agent.chat_models import StreamChat
from sophos_desktop.core.agent.chat_pieces import AnswerOptions
from sophos_desktop.core.agent.context import TokenGauge
from sophos_desktop.core.agent.prompt_attachments import ReadAttachment, nothing_kept
from sophos_desktop.core.domain.events import Event, TextDelta, ThinkingDelta
from sophos_desktop.core.domain.image_refusals import ImageRefusals, NothingRefused
from sophos_desktop.core.domain.ports import ToolCatalog, ToolGate, ToolJournal
from sophos_desktop.core.domain.specs import ModelEndpoint
from sophos_desktop.foundation.clock import Clock


class RunSink(Protocol):
    """Where the nodes put what happens."""

    def delta(self, event: TextDelta | ThinkingDelta) -> None:
        """More text; not stored."""

    async def emit(self, *events: Event) -> None:
        """Facts: stored, then published."""


@dataclass(slots=True)
class RunContext:
    """Made for one sitting, used on one loop."""

    run_id: str
    conversation_id: str
    sink: RunSink
    journal: ToolJournal
    catalog: ToolCatalog
    gate: ToolGate
    stream_chat: StreamChat
    endpoint: Callable[[], Awaitable[ModelEndpoint]]
    system_prompt: Callable[[], Awaitable[str]]
    options: AnswerOptions
    gauge: TokenGauge
    clock: Clock
    tool_start_wait_seconds: float = 5.0
    read_attachment: ReadAttachment = nothing_kept
    refusals: ImageRefusals = field(default_factory=NothingRefused)
    settling: bool = False
    produced: list[BaseMessage] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    """What notices were given before, by code and model; shared by all runs of the process."""
    steps_begun: set[int] = field(default_factory=set)
    """The steps of parallel calls whose start was announced; the calls of one step are one step."""


def current_step() -> int:
    """The number of the super-step that the calling node runs in; it goes on across the runs of a thread."""
    return int(get_config()["metadata"]["langgraph_step"])
