"""What a real Ollama server sent, played again line by line: what becomes of it."""

import pytest

from sophos_desktop.core.agent.chat_models import (
    CallPiece,
    ChatModels,
    FinalPiece,
    Piece,
    ThinkingPiece,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.core.agent.chat_support import collect, endpoint, text_of
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.wire_recordings import recording


async def play(server: OllamaServer, models: ChatModels, name: str, into: list[Piece]) -> None:
    """Answer one request with the recorded lines."""
    recorded = recording(name)
    if recorded.status != 200:
        server.script(Reply(status=recorded.status, error=recorded.frames[0]["error"]))
    else:
        server.script(Reply(lines=recorded.lines, ending="cut" if recorded.broken else "complete"))
    await collect(models, endpoint(server.url, "tools", "thinking"), into=into)


@pytest.mark.parametrize(
    ("name", "text", "thinking", "calls", "reason", "prompt_tokens"),
    [
        ("chat-length", "The Night of the Re", "", [], "length", 14),
        ("chat-tools", "", "", [{"city": "Paris"}], "stop", 537),
        ("chat-tools-two", "", "", [{"city": "Paris"}, {"city": "Rome"}], "stop", 342),
        ("chat-tools-cut", "", "", [], "length", 537),
        ("chat-think", "", "The answer to this question lies in the", [], "length", 20),
        ("ctx-onebig", "", "", [], "stop", 512),
        ("chat-load", "", "", [], "load", None),
    ],
)
async def test_an_answer(
    server: OllamaServer,
    models: ChatModels,
    name: str,
    text: str,
    thinking: str,
    calls: list[dict[str, str]],
    reason: str,
    prompt_tokens: int | None,
) -> None:
    pieces: list[Piece] = []
    await play(server, models, name, pieces)
    assert text_of(pieces) == text
    thought = "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece))
    assert thought.startswith(thinking)
    assert [piece.args for piece in pieces if isinstance(piece, CallPiece)] == calls
    final = pieces[-1]
    assert isinstance(final, FinalPiece)
    assert (final.done_reason, final.prompt_tokens) == (reason, prompt_tokens)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("chat-runner-killed", "The city of bravery and", ErrorCode.STREAM_INCOMPLETE),
        ("chat-server-stopped", "The city of home to a", ErrorCode.STREAM_INCOMPLETE),
        ("chat-busy", "", ErrorCode.ENGINE_BUSY),
        ("chat-missing", "", ErrorCode.MODEL_UNAVAILABLE),
        ("chat-badjson", "", ErrorCode.ENGINE_ERROR),
        ("chat-think-unsupported", "", ErrorCode.ENGINE_ERROR),
        ("chat-tools-unsupported", "", ErrorCode.ENGINE_ERROR),
        ("chat-tools-args-string", "", ErrorCode.ENGINE_ERROR),
        ("ctx-truncate-false", "", ErrorCode.CONTEXT_EXCEEDED),
    ],
)
async def test_a_failure(
    server: OllamaServer, models: ChatModels, name: str, text: str, code: ErrorCode
) -> None:
    pieces: list[Piece] = []
    with pytest.raises(SophosError) as caught:
        await play(server, models, name, pieces)
    assert caught.value.code is code
    assert text_of(pieces) == text
    assert not [piece for piece in pieces if isinstance(piece, CallPiece | FinalPiece)]
