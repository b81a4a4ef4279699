"""Servers that say or list what they should not: `python -m tests.support.mcp_servers.unruly MODE [FILE]`."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.mcp_servers.wire import Server, Tool, text


def odd_output(argument: str) -> None:
    """Each tool writes something odd to stdout before it answers."""
    server = Server([])

    def writing(*pieces: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        def write(arguments: Mapping[str, Any]) -> dict[str, Any]:
            for piece in pieces:
                sys.stdout.write(piece)
                sys.stdout.flush()
            return text("fine")

        return write

    def half_a_line_and_gone(arguments: Mapping[str, Any]) -> dict[str, Any]:
        sys.stdout.write('{"jsonrpc": "2.0", "id"')
        sys.stdout.flush()
        os._exit(5)

    def overlong(arguments: Mapping[str, Any]) -> dict[str, Any]:
        for _ in range(70):
            sys.stdout.write("x" * 1024 * 1024)
        server.write("")
        return text("fine")

    unknown = [
        '{"jsonrpc": "2.0", "id": "nobody", "result": {}}\n',
        '{"jsonrpc":"2.0","id":999,"result":{}}\n',
    ]
    wrong = [
        '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "much"}}\n',
        '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": 5}}\n',
        '{"jsonrpc": "2.0", "method": "notifications/unheard", "params": {}}\n',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled"}\n',
    ]
    server.tools = [
        Tool("nuls", writing("\0\0a\x1b[31mred\u202e\0\n")),
        Tool("halves", writing('{"jsonrpc": "2.0", "method": ', '"notifications/unheard"}\n')),
        Tool("no_message", writing('{"jsonrpc": "2.0"}\n', "17\n", "null\n")),
        Tool("unknown_answers", writing(*unknown)),
        Tool("wrong_notifications", writing(*wrong)),
        Tool("deep", writing("[" * 100_000 + "\n")),
        Tool("overlong", overlong),
        Tool("half_a_line_and_gone", half_a_line_and_gone),
    ]
    server.page_size = 100
    server.run()


def odd_lists(argument: str) -> None:
    """Lists tools that cannot be used between those that can, resources, prompts and instructions."""
    server = Server([Tool("good", lambda _: text("good")), Tool("change", lambda _: change())])
    schema = {"type": "object"}
    server.extra_entries = [
        17,
        {"description": "no name", "inputSchema": schema},
        {"name": "no schema"},
        {"name": "hints", "inputSchema": schema, "annotations": {"readOnlyHint": [1]}},
        {"name": "described", "inputSchema": schema, "description": {"not": "a text"}},
        {"name": "good", "inputSchema": schema, "description": "the second of that name"},
        {"name": "last", "inputSchema": schema},
    ]
    server.lists = {
        "resources": [{"uri": "file:///a", "name": "a"}, 5, {"name": "no uri"}, {"uri": ["b"]}],
        "prompts": [{"name": "greet"}, {"title": "no name"}],
    }
    server.greeting = {"instructions": "Use me\u202e well.\n" + "x" * 10_000}

    def change() -> dict[str, Any]:
        server.lists["resources"] = [{"uri": "file:///new", "name": "new"}]
        server.lists["prompts"] = []
        for kind in ("resources", "prompts", "resources"):
            server.notify(f"{kind}/list_changed")
        return text("changed")

    server.run()


def odd_pages(argument: str) -> None:
    """Pages that go in a `circle`, never end (`endless`), or hold no list (`empty`)."""
    server = Server([Tool("hello", lambda _: text("hello"))])
    pages: dict[str, Callable[[int], dict[str, Any]]] = {
        "circle": lambda start: {"nextCursor": "7"},
        "endless": lambda start: {"nextCursor": str(start + 1)},
        "number": lambda start: {"nextCursor": 3},
        "empty": lambda start: {"tools": "none", "nextCursor": "1"},
    }

    def page(kind: str, everything: list[Any], start: int) -> dict[str, Any]:
        return {"tools": everything if start == 0 else []} | pages[argument](start)

    server.page = page  # type: ignore[method-assign]
    server.run()


def silent_lists(argument: str) -> None:
    """Offers resources and never lists them."""
    server = Server([Tool("hello", lambda _: text("hello"))])
    server.lists = {"resources": []}

    def page(kind: str, everything: list[Any], start: int) -> dict[str, Any] | None:
        return {"tools": everything} if kind == "tools" else None

    server.page = page  # type: ignore[method-assign]
    server.run()


def hidden_names(argument: str) -> None:
    """Tools whose names hide something; each answers with what the server calls it."""
    names = ["plain", "read\u202efdp", "nul\0byte", "two\nlines", "read\u2066fdp"]
    server = Server([Tool(name, lambda _, name=name: text(repr(name))) for name in names])  # type: ignore[misc]
    title = {"name": "titled", "inputSchema": {"type": "object"}, "annotations": {"title": "A\u202e title"}}
    server.extra_entries = [title | {"description": "Reads\u202e a file.\x1b[2J\nCarefully.\u200b"}]
    server.page_size = 100
    server.run()


def bursts(argument: str) -> None:
    """`burst` says a thousand times in one write that the tools changed; `readings` counts the lists."""
    server = Server([])

    def burst(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.tools = [*server.tools, Tool("new", lambda _: text("new"))]
        line = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n'
        server.write((line * 1_000).rstrip())
        return text("done")

    def readings(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return text(str(server.asked["tools/list"]))

    server.tools = [Tool("burst", burst), Tool("readings", readings)]
    server.page_size = 100
    server.run()


def vanishing_tool(argument: str) -> None:
    """`vanish` takes the tool `gone` away and tells nobody."""
    server = Server([])

    def vanish(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.tools = [tool for tool in server.tools if tool.name != "gone"]
        return text("vanished")

    server.tools = [Tool("vanish", vanish), Tool("gone", lambda _: text("here"))]
    server.run()


def reads_late(argument: str) -> None:
    """Reads nothing after the first call until the file ARGUMENT.go exists; ARGUMENT gets what it read."""

    def on_message(message: dict[str, Any]) -> None:
        with open(argument, "a", encoding="utf-8") as log:  # noqa: PTH123
            shown = {key: value for key, value in message.items() if key in ("method", "id")}
            params = message.get("params") or {}
            log.write(json.dumps(shown | {"request": params.get("requestId")}) + "\n")
        if message.get("method") == "tools/call":
            while not os.path.exists(f"{argument}.go"):  # noqa: PTH110
                time.sleep(0.01)

    Server([Tool("say", lambda _: text("said"), {"what": {}})], on_message).run()


def asks_without_reading(argument: str) -> None:
    """`flood` asks five thousand times, with 2 kB of id each, and reads no reply meanwhile."""
    flooding, done = threading.Event(), threading.Event()

    def on_message(message: dict[str, Any]) -> None:
        if flooding.is_set():
            done.wait()

    server = Server([], on_message)

    def flood(arguments: Mapping[str, Any]) -> dict[str, Any]:
        flooding.set()
        for number in range(5_000):
            server.send({"id": f"{number:02000}", "method": "ping"})
        done.set()
        return text("done")

    server.tools = [Tool("flood", flood)]
    server.run()


def lists_no_tools(argument: str) -> None:
    """Greets, and never lists its tools."""
    server = Server([])
    server.page = lambda kind, everything, start: None  # type: ignore[method-assign]
    server.run()


def reports(argument: str) -> None:
    """Says things during its calls. The file ARGUMENT lets `wait` end."""
    server = Server([])

    def progress(arguments: Mapping[str, Any]) -> dict[str, Any]:
        for step in range(1, 1_001):
            server.notify(
                "progress", progressToken=server.progress_token, progress=step, total=1000, message=f"s{step}"
            )
        return text("done")

    def late(arguments: Mapping[str, Any]) -> dict[str, Any]:
        token = server.progress_token
        for strange in (True, "1", None, float("inf"), 10**400):
            server.notify("progress", progressToken=token, progress=strange)
        threading.Timer(0.05, lambda: server.notify("progress", progressToken=token, progress=99)).start()
        return text("done")

    def logs(arguments: Mapping[str, Any]) -> dict[str, Any]:
        for number in range(300):
            server.notify("message", level="info", logger="worker", data={"line": number})
        server.notify("message", level="shout", data="x" * 10_000)
        return text("done")

    def wait(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.notify("progress", progressToken=server.progress_token, progress=0)
        while not os.path.exists(argument):  # noqa: PTH110
            time.sleep(0.01)
        return text("done")

    def idle(arguments: Mapping[str, Any]) -> dict[str, Any]:
        def later() -> None:
            server.notify("message", level="warning", data="nobody\x1b[1m calls")
            server.send({"id": "r", "method": "roots/list"})

        threading.Timer(0.05, later).start()
        return text("done")

    def log_once(arguments: Mapping[str, Any]) -> dict[str, Any]:
        server.notify("message", level="error", data="careful")
        return text("done")

    server.tools = [
        *(Tool("progress", progress), Tool("late", late), Tool("logs", logs)),
        *(Tool("wait", wait), Tool("idle", idle), Tool("log_once", log_once)),
    ]
    server.page_size = 100
    server.run()


def main(arguments: list[str]) -> None:
    """Be the server that the first argument names."""
    mode = arguments[0].replace("-", "_")
    globals()[mode](arguments[1] if len(arguments) > 1 else "")


if __name__ == "__main__":
    main(sys.argv[1:])
