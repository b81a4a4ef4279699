"""What a token costs from the engine's socket to a subscriber, beside raw HTTP lines."""

import os
import time
from pathlib import Path

import httpx

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.core.domain.events import TextDelta
from sophos_desktop.foundation.paths import resolve_paths
from tests.benchmarks.rows import Row
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

TOKENS = 5000


async def per_token(folder: Path) -> list[Row]:
    """Microseconds a token, all of the path, the scripted server in the same process included in both."""
    async with OllamaServer() as server:
        environ = {**os.environ, "OLLAMA_HOST": server.url}
        options = CoreOptions(resolve_paths(folder / "core", environ), environ, tool_servers=False)
        async with open_core(options) as core:
            server.script(Reply(("warm",)))
            await (await core.runs.start(None, "warm up")).wait()
            server.script(Reply(tuple(f"word{n} " for n in range(TOKENS))))
            handle = await core.runs.start(None, "many words")
            times = [
                time.perf_counter() async for event in handle.events() if isinstance(event.event, TextDelta)
            ]
            ours = (times[-1] - times[0]) / TOKENS * 1e6
        server.script(Reply(tuple(f"word{n} " for n in range(TOKENS))))
        model = server.models[0].name
        body = {"model": model, "messages": [{"role": "user", "content": "x"}]}
        async with (
            httpx.AsyncClient(trust_env=False, timeout=None) as client,
            client.stream("POST", f"{server.url}/api/chat", json=body) as response,
        ):
            lines = [time.perf_counter() async for _ in response.aiter_lines()]
        assert len(lines) > TOKENS
        raw = (lines[-1] - lines[0]) / TOKENS * 1e6
    return [Row("a token, engine to subscriber", ours, "µs", 1000, "raw HTTP lines", raw)]
