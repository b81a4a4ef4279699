"""A server over HTTP whose calls can be counted, made with the protocol library's own server.

`python -m tests.support.mcp_servers.lines_over_http`: prints its address, serves until it is terminated.
"""

import socket
from pathlib import Path

import uvicorn
from mcp.server.fastmcp import FastMCP

_PATH = "/mcp"


def append_line(file: str, text: str) -> str:
    """Append one line."""
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.write(f"{text}\n")
    return f"appended {text}"


def main() -> None:
    """Listen on a free port of loopback."""
    server = FastMCP("lines over HTTP", log_level="CRITICAL", streamable_http_path=_PATH)
    server.add_tool(append_line)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}{_PATH}", flush=True)
        config = uvicorn.Config(
            server.streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1
        )
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
