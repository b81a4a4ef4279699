"""The starter's child process: serves one model file with llama.cpp on loopback.

Invariant: it takes its orders and its key from the first line of stdin, says its address in one JSON line
on stdout, writes nothing else there, and is gone when stdin ends, however its parent ended.
Run as `python -m sophos_desktop.core.engines.starter_server`.
"""

import json
import os
import sys
import threading
from typing import Any


def main() -> int:
    """Serve until stdin ends. Returns only if the model cannot be served."""
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp and its libraries may print: on stderr, where it does no harm
    orders = json.loads(sys.stdin.buffer.readline())
    ended = threading.Event()
    # A thread, since loading the model blocks this one: a parent that dies meanwhile is noticed too.
    threading.Thread(target=_leave_with_stdin, args=(ended,), daemon=True).start()
    try:
        server = _serve(orders)
    except Exception as error:  # noqa: BLE001 - the parent reads the reason from stderr
        sys.stderr.write(f"cannot serve the model: {error}\n")
        return 1
    report.write(json.dumps({"address": server.listening_address}) + "\n")
    report.close()
    ended.wait()
    return 0


def _serve(orders: dict[str, Any]) -> Any:
    """Start llama.cpp's server as the orders say: `model`, `name`, `key`, `context` (tokens)."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = orders["model"]
    parameters.model_alias = {orders["name"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [orders["key"]]
    parameters.n_ctx = orders["context"]
    parameters.n_parallel = 1
    parameters.ctx_shift = False
    parameters.ui = False
    parameters.fit_params = False
    parameters.verbosity = 1  # errors alone
    return xllamacpp.Server(parameters)


def _leave_with_stdin(ended: threading.Event) -> None:
    """Wait for the end of stdin, then leave at once: an answer in progress has no reader any more."""
    sys.stdin.buffer.read()
    ended.set()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
