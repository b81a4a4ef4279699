"""`python -m sophos_desktop.core.mcp_host.servers.memory [FILE]`: the process of the memory server.

Invariant: nothing but messages goes to stdout. Without FILE, `MEMORY_FILE_PATH` names the file.
"""

import gc
import os
import sys

from sophos_desktop.core.mcp_host.servers.memory.graph_file import GraphFile
from sophos_desktop.core.mcp_host.servers.memory.session import Session


def main(arguments: list[str]) -> int:
    """Serve until stdin ends. Exit status 0, or 2 if no file is named."""
    path = arguments[0] if arguments else os.environ.get("MEMORY_FILE_PATH", "")
    if not path:
        sys.stderr.write("The memory server needs a file: as an argument or in MEMORY_FILE_PATH.\n")
        return 2
    # A graph has no cycles, and its thousands of items would be looked through again and again as it is read.
    gc.set_threshold(100_000)
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints, the client sees messages alone
    session = Session(GraphFile(path), sys.stderr)
    try:
        for line in sys.stdin.buffer:
            if not line.endswith(b"\n"):
                break  # the client died while it wrote
            for answer in session.answers(line):
                answers.writelines((answer.encode(), b"\n"))
            answers.flush()
    except BrokenPipeError:
        # Nobody reads any more. What the interpreter would still flush at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
