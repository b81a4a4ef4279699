"""What the tests of the chat models share: an endpoint, a prompt, and reading an answer to its end."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage

from sophos_desktop.core.agent.chat_models import AnswerOptions, ChatModels, Piece, TextPiece
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint, ToolSpec

HELLO: Sequence[BaseMessage] = (HumanMessage("Hello"),)
OPTIONS = AnswerOptions(num_ctx=4096)
GET_TIME = ToolSpec(
    name="clock__get_time",
    server="clock",
    tool="get_time",
    description="The time in a city",
    input_schema={
        "type": "object",
        "required": ["city"],
        "properties": {"city": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": "Paris"}},
        "additionalProperties": False,
    },
)


def endpoint(url: str, *capabilities: str, model: str = "smol:latest") -> ModelEndpoint:
    """A model of Ollama at `url`."""
    return ModelEndpoint(EngineKind.OLLAMA, model, url, frozenset({"completion", *capabilities}), 8192)


async def collect(
    models: ChatModels,
    where: ModelEndpoint,
    messages: Sequence[BaseMessage] = HELLO,
    tools: Sequence[ToolSpec] = (),
    options: AnswerOptions = OPTIONS,
    into: list[Piece] | None = None,
) -> list[Piece]:
    """All pieces of an answer; `into` also has those that came before an error."""
    pieces: list[Piece] = [] if into is None else into
    async for piece in models.stream_chat(where, options, messages, tools):
        pieces.append(piece)
    return pieces


def text_of(pieces: Sequence[Piece]) -> str:
    """The text in the pieces."""
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
