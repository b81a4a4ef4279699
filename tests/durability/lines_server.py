"""The lines server, with tools under which it dies (kill -9) as often as their arguments say.

`python -m tests.durability.lines_server`. Invariant: a line is on the disk before the server dies, so the
file tells of each call that was made, also of those that nobody answered.
"""

import os
import signal
from collections.abc import Mapping
from typing import Any

from tests.support.mcp_servers.append_line import TOOLS, append_line
from tests.support.mcp_servers.wire import Server, Tool, text


def append_and_die(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Append one line; the first `times` calls with it are the server's last."""
    append_line(arguments)
    with open(arguments["file"], encoding="utf-8") as file:  # noqa: PTH123 - pathlib would cost start-up time
        written = file.read().splitlines().count(arguments["text"])
    if written <= arguments["times"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return text(f"appended {arguments['text']}, alive")


_PROPERTIES = {"file": {"type": "string"}, "text": {"type": "string"}, "times": {"type": "integer"}}
DYING = [
    Tool("append_and_die", append_and_die, _PROPERTIES),
    Tool("look_and_die", append_and_die, _PROPERTIES, {"readOnlyHint": True}),
]

if __name__ == "__main__":
    Server([*TOOLS, *DYING]).run()
