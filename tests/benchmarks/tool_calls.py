"""What the host adds to a tool call, and how long three servers take to be closed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.foundation.paths import resolve_paths
from tests.benchmarks.rows import Row, median_ms

ROOT = Path(__file__).resolve().parents[2]
CALLS = 100
SERVER = [sys.executable, "-m", "tests.support.mcp_servers.append_line"]


async def overhead(folder: Path) -> list[Row]:
    """A call through the host beside the same request written to the server's pipe by hand."""
    data = folder / "tools"
    entry = {"command": SERVER[0], "args": SERVER[1:], "env": {"PYTHONPATH": str(ROOT)}}
    (data / "config").mkdir(parents=True)
    shipped = {"fetch": {"disabled": True}, "memory": {"disabled": True}}
    servers = {**shipped, **{f"lines{n}": entry for n in range(3)}}
    (data / "config" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    target = folder / "none.txt"
    options = CoreOptions(resolve_paths(data, os.environ), dict(os.environ))
    async with open_core(options) as core:
        await core.tool_host.settle(30)
        spec = core.tool_host.find("lines0__read_lines")
        assert spec is not None
        times = []
        for _ in range(CALLS):
            began = time.perf_counter()
            await core.tool_host.call(spec, {"file": str(target)})
            times.append(time.perf_counter() - began)
        closing = time.perf_counter()
    closed = time.perf_counter() - closing
    floor = median_ms(_by_hand(target))
    return [
        Row("a tool call through the host", median_ms(times), "ms", 15 + floor, "the pipe by hand", floor),
        Row("closing the core with three servers", closed, "s", 3),
    ]


def _by_hand(target: Path) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        times = []
        for number in range(CALLS + 1):
            params = {"name": "read_lines", "arguments": {"file": str(target)}}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            if number == 0:
                request |= {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
            began = time.perf_counter()
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
            times.append(time.perf_counter() - began)
        process.stdin.close()
    return times[1:]
