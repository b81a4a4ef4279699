"""How long the starter took to load its model is in the figures of the call that waited for it."""

from datetime import datetime
from pathlib import Path

import pytest

from sophos_desktop.core.agent.chat_pieces import FinalPiece, TextPiece
from sophos_desktop.core.domain.events import ModelCallFinished
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint
from sophos_desktop.foundation.clock import SystemClock
from tests.core.agent.graph_bench import graph_bench


class SetClock(SystemClock):
    """Its seconds pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return super().now()

    def monotonic(self) -> float:
        return self.seconds


@pytest.mark.parametrize(
    ("engine", "said_ms", "load_ms"),
    [
        (EngineKind.STARTER, None, 2500),
        (EngineKind.STARTER, 7, 7),
        (EngineKind.OLLAMA, 40, 40),
        (EngineKind.OLLAMA, None, None),
    ],
)
async def test_the_time_to_start_the_engine_counts_as_loading_where_the_engine_says_nothing(
    tmp_path: Path, engine: EngineKind, said_ms: int | None, load_ms: int | None
) -> None:
    clock = SetClock()

    async def endpoint() -> ModelEndpoint:
        clock.seconds += 2.5
        return ModelEndpoint(engine, "model", "http://127.0.0.1:9", frozenset(), 8192)

    async with graph_bench(tmp_path / "sophos.db") as bench:
        bench.replies = [(TextPiece("Yes."), FinalPiece("stop", load_ms=said_ms))]
        context = bench.context()
        context.clock, context.endpoint = clock, endpoint
        await bench.graph.run(context, bench.drain, message=("user-1", "Go"), step_limit=25)
        (call,) = bench.sink.of(ModelCallFinished)
    assert call.load_ms == load_ms
