"""A server whose calls can be counted: `append_line` adds a line to a file and syncs it to the disk.

`python -m tests.support.mcp_servers.append_line [LOG]`: LOG gets every message that comes in, a line each.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from tests.support.mcp_servers.wire import Server, Tool, text


def _append(path: str, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_line(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Append one line."""
    _append(arguments["file"], arguments["text"])
    return text(f"appended {arguments['text']}")


def slow_append(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Append one line, then wait before answering."""
    _append(arguments["file"], arguments["text"])
    time.sleep(arguments["seconds"])
    return text(f"appended {arguments['text']}, slowly")


def read_lines(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """All lines of the file; none if it is not there."""
    if not os.path.exists(arguments["file"]):  # noqa: PTH110 - pathlib would cost start-up time
        return text("")
    with open(arguments["file"], encoding="utf-8") as file:  # noqa: PTH123 - as above
        return text(file.read())


_FILE = {"file": {"type": "string"}}
_FILE_AND_TEXT = {**_FILE, "text": {"type": "string"}}
TOOLS = [
    Tool("append_line", append_line, _FILE_AND_TEXT),
    Tool("read_lines", read_lines, _FILE, {"readOnlyHint": True}),
    Tool("slow_append", slow_append, {**_FILE_AND_TEXT, "seconds": {"type": "number"}}),
]


def main(arguments: list[str]) -> None:
    """Serve until stdin ends."""
    log = arguments[0] if arguments else None

    def on_message(message: dict[str, Any]) -> None:
        if log is not None:
            _append(log, json.dumps(message))

    Server(TOOLS, on_message).run()


if __name__ == "__main__":
    main(sys.argv[1:])
