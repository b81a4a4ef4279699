"""The server's side of MCP over stdio, in raw JSON lines.

Standard library only and few imports of it: hundreds of kill tests start such a server, so it must be
ready in a fraction of a second. Each call runs in a thread, so that a slow one blocks no other.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

Handler = Callable[[Mapping[str, Any]], dict[str, Any]]


class Refusal(Exception):
    """Answer a call with a JSON-RPC error."""


class Tool:
    """A tool and what it does. The handler gives the fields of the call's result."""

    def __init__(
        self,
        name: str,
        handler: Handler,
        properties: Mapping[str, Any] | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.handler = handler
        self._properties = dict(properties or {})
        self._annotations = dict(annotations or {})

    def described(self) -> dict[str, Any]:
        """The tool as `tools/list` gives it."""
        schema = {"type": "object", "properties": self._properties, "required": list(self._properties)}
        described: dict[str, Any] = {
            "name": self.name,
            "description": f"The tool {self.name}.",
            "inputSchema": schema,
        }
        return described | ({"annotations": self._annotations} if self._annotations else {})


def text(content: str, *, is_error: bool = False) -> dict[str, Any]:
    """A result with one text."""
    return {"content": [{"type": "text", "text": content}], "isError": is_error}


class Server:
    """Answers on stdin and stdout until stdin ends. `on_message` sees everything that comes in.

    `extra_entries` are listed after the tools, whatever they are; `lists` holds what else is listed, by kind
    (`resources`, `prompts`); `asked` counts the requests by method, each list once however many pages."""

    def __init__(self, tools: list[Tool], on_message: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.tools = tools
        self.page_size = 2
        self.extra_entries: list[Any] = []
        self.lists: dict[str, list[Any]] = {}
        self.greeting: dict[str, Any] = {}
        self.asked: Counter[str] = Counter()
        self._calling = threading.local()
        self._on_message = on_message or (lambda message: None)
        self._lock = threading.Lock()
        self._answers: dict[str, dict[str, Any]] = {}
        self._answered = threading.Condition()

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line: str) -> None:
        """Write one line, whatever it is."""
        with self._lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send the client a request and wait for its answer."""
        request_id = f"server-{method}"
        self.send({"id": request_id, "method": method, "params": params})
        with self._answered:
            self._answered.wait_for(lambda: request_id in self._answers, timeout=10)
            return self._answers[request_id]

    @property
    def progress_token(self) -> Any:
        """Within a tool: the token of its call."""
        return self._calling.token

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send({"method": f"notifications/{method}", "params": params})

    def run(self) -> None:
        """Serve until stdin ends."""
        for line in sys.stdin:
            message = json.loads(line)
            self._on_message(message)
            self._receive(message)

    def _receive(self, message: dict[str, Any]) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method is None:
            with self._answered:
                self._answers[str(request_id)] = message
                self._answered.notify_all()
        elif method == "initialize":
            self.send({"id": request_id, "result": self._greeting(message["params"])})
        elif method in ("tools/list", "resources/list", "prompts/list"):
            self._list(str(method).partition("/")[0], request_id, message.get("params") or {})
        elif method == "tools/call":
            threading.Thread(target=self._call, args=(request_id, message["params"]), daemon=True).start()
        elif method == "ping":
            self.send({"id": request_id, "result": {}})

    def _greeting(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {kind: {"listChanged": True} for kind in ("tools", *self.lists)},
            "serverInfo": {"name": "scripted", "version": "1"},
            **self.greeting,
        }

    def _list(self, kind: str, request_id: object, params: Mapping[str, Any]) -> None:
        start = int(params.get("cursor") or 0)
        self.asked[f"{kind}/list"] += start == 0
        everything = self.lists.get(kind, [])
        if kind == "tools":
            everything = [*(tool.described() for tool in self.tools), *self.extra_entries]
        if (page := self.page(kind, everything, start)) is not None:
            self.send({"id": request_id, "result": page})

    def page(self, kind: str, everything: list[Any], start: int) -> dict[str, Any] | None:
        """One page of a list; may be replaced. None: no answer."""
        end = start + self.page_size
        page: dict[str, Any] = {kind: everything[start:end]}
        return page | ({"nextCursor": str(end)} if end < len(everything) else {})

    def _call(self, request_id: object, params: Mapping[str, Any]) -> None:
        self._calling.token = (params.get("_meta") or {}).get("progressToken")
        handler = next((tool.handler for tool in self.tools if tool.name == params["name"]), None)
        if handler is None:
            self.send({"id": request_id, "error": {"code": -32602, "message": "Unknown tool"}})
            return
        try:
            self.send({"id": request_id, "result": handler(params.get("arguments") or {})})
        except Refusal as error:
            self.send({"id": request_id, "error": {"code": -32000, "message": str(error)}})
