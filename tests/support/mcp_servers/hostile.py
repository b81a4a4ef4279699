"""Servers that do what servers should not: `python -m tests.support.mcp_servers.hostile MODE [ARGUMENT]`."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.mcp_servers.wire import Refusal, Server, Tool, text

_FOREVER_SECONDS = 600


def never_initialize(argument: str) -> None:
    """Reads everything, answers nothing."""
    for _ in sys.stdin:
        pass


def deaf(argument: str) -> None:
    """Neither reads nor answers, nor ends when stdin ends."""
    time.sleep(_FOREVER_SECONDS)


def dies_at_start(argument: str) -> None:
    """Says why and ends with exit status 3."""
    sys.stderr.write("no key was given\n")
    sys.exit(3)


def dies_once(argument: str) -> None:
    """Ends at the first start, then works; the file ARGUMENT remembers."""
    if not os.path.exists(argument):  # noqa: PTH110
        with open(argument, "w", encoding="utf-8"):  # noqa: PTH123
            sys.exit(4)
    Server([Tool("hello", lambda _: text("hello"))]).run()


def slow_start(argument: str) -> None:
    """Waits ARGUMENT seconds before it answers anything."""
    time.sleep(float(argument))
    Server([Tool("hello", lambda _: text("hello"))]).run()


def waits_for(argument: str) -> None:
    """Answers nothing until the file ARGUMENT is there."""
    while not os.path.exists(argument):  # noqa: PTH110
        time.sleep(0.01)
    Server([Tool("hello", lambda _: text("hello"))]).run()


def dies_in_call(argument: str) -> None:
    """One tool ends the process, one is killed; `hello` works."""

    def die(arguments: Mapping[str, Any]) -> dict[str, Any]:
        os._exit(7)

    def killed(arguments: Mapping[str, Any]) -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return text("never")

    tools = [Tool("die", die), Tool("killed", killed), Tool("hello", lambda _: text("hello"))]
    Server(tools).run()


def garbage(argument: str) -> None:
    """Writes lines that are no messages, before and between the answers."""
    server = Server([])

    def chatty(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.write("Calling the tool now!")
        server.write('{"jsonrpc": "2.0", "id": 5')
        server.write("[1, 2, 3]")
        return text("fine")

    server.tools = [Tool("chatty", chatty)]
    server.write("Welcome to the scripted server")
    server.write("")
    server.run()


def stderr_flood(argument: str) -> None:
    """Writes 256 KB to stderr, without and with line breaks, before it reads anything."""
    sys.stderr.write("x" * 131_072)
    sys.stderr.write("\n" + "a line of noise\n" * 8_192)
    sys.stderr.flush()
    Server([Tool("hello", lambda _: text("hello"))]).run()


def ignores_terminate(argument: str) -> None:
    """Works, but neither the end of stdin nor SIGTERM ends it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Server([Tool("hello", lambda _: text("hello"))]).run()
    while True:
        time.sleep(_FOREVER_SECONDS)


def grandchild(argument: str) -> None:
    """Starts a process that ignores SIGTERM and keeps the pipes open, `detached` or not, then works."""
    code = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f" sys.stderr.write('grandchild ready\\n'); sys.stderr.flush(); time.sleep({_FOREVER_SECONDS})"
    )
    started = subprocess.Popen([sys.executable, "-c", code], start_new_session=argument == "detached")

    def die(arguments: Mapping[str, Any]) -> dict[str, Any]:
        os._exit(0)

    Server([Tool("pid", lambda _: text(str(started.pid))), Tool("die", die)]).run()


def answers(argument: str) -> None:
    """One tool for each kind of result."""
    image = {"type": "image", "data": "QUFB" * 4_000, "mimeType": "image/png"}
    embedded = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "embedded text"}}
    link = {"type": "resource_link", "uri": "https://example.org/a", "name": "a page"}

    def refuse(arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise Refusal("not today")

    def environment(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return text("\n".join(sorted(f"{name}={value}" for name, value in os.environ.items())))

    everything: list[tuple[str, Callable[[Mapping[str, Any]], Any]]] = [
        ("nothing", lambda _: None),
        ("bare", lambda _: "a text"),
        ("error", lambda _: text("the disk is full", is_error=True)),
        ("image", lambda _: {"content": [image]}),
        ("structured", lambda _: {"content": [], "structuredContent": {"answer": 42}}),
        ("empty", lambda _: {"content": []}),
        ("many", lambda _: {"content": [*text("first")["content"], image, embedded, link]}),
        ("nonsense", lambda _: {"content": "not a list"}),
        ("surrogate", lambda _: text("half \ud83d a face")),
        ("large", lambda _: text("y" * 20_000_000)),
        ("refuse", refuse),
        ("environment", environment),
    ]
    tools = [Tool(name, handler) for name, handler in everything]
    tools.append(Tool("echo", lambda arguments: text(repr(arguments["value"])), {"value": {}}))
    tools.append(Tool("add", lambda arguments: text(str(arguments["a"] + 1)), {"a": {"type": "integer"}}))
    Server(tools).run()


def changing_tools(argument: str) -> None:
    """`change` replaces the tool `before` by `after` and says so, in a burst."""
    server = Server([])

    def change(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.tools = [Tool("change", change), Tool("after", lambda _: text("after"))]
        for _ in range(20):
            server.send({"method": "notifications/tools/list_changed"})
        return text("changed")

    server.tools = [Tool("change", change), Tool("before", lambda _: text("before"))]
    server.run()


def redefining(argument: str) -> None:
    """`redefine` gives the tool `second` other annotations, and says so if it is told to; `calls` tells how
    often `second` was called."""
    server, called = Server([]), list[int]()

    def call_second(arguments: Mapping[str, Any]) -> dict[str, Any]:
        called.append(1)
        return text("second")

    def redefine(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.tools[1] = Tool("second", call_second, annotations={"title": "Something else now"})
        if arguments["says_so"]:
            server.send({"method": "notifications/tools/list_changed"})
        return text("redefined")

    server.tools = [
        Tool("redefine", redefine, {"says_so": {"type": "boolean"}}),
        Tool("second", call_second),
        Tool("calls", lambda _: text(str(len(called)))),
    ]
    server.run()


def asks_the_client(argument: str) -> None:
    """Asks for what this client does not do, and gives its answers as text."""
    server = Server([])
    requests: list[tuple[str, dict[str, Any]]] = [
        ("roots/list", {}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 5}),
        ("elicitation/create", {"message": "name?", "requestedSchema": {"type": "object", "properties": {}}}),
        ("sampling/createMessage", {"messages": "wrong"}),
        ("tasks/list", {}),
        ("no/such/method", {}),
        ("ping", {}),
    ]

    def ask(arguments: Mapping[str, Any]) -> dict[str, Any]:
        replies = [server.ask(method, params) for method, params in requests]
        errors = [reply.get("error") for reply in replies]
        return text("\n".join(f"{error['code']} {error['message']}" if error else "{}" for error in errors))

    server.tools = [Tool("ask", ask)]
    server.run()


def closes_stdout(argument: str) -> None:
    """After a call it goes on running, but says nothing more."""

    def close(arguments: Mapping[str, Any]) -> dict[str, Any]:
        os.close(1)
        threading.Event().wait(_FOREVER_SECONDS)
        return text("never")

    Server([Tool("close", close)]).run()


def main(arguments: list[str]) -> None:
    """Be the server that the first argument names."""
    mode = arguments[0].replace("-", "_")
    globals()[mode](arguments[1] if len(arguments) > 1 else "")


if __name__ == "__main__":
    main(sys.argv[1:])
