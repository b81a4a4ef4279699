"""The server's side of the protocol: one line in, the lines out that answer it.

Invariant: every request that can be read gets exactly one answer, and nothing else does. What cannot be read
is told on stderr and passed over.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from sophos_desktop import __version__
from sophos_desktop.core.mcp_host.servers.memory.graph_file import FileIsBusy, GraphFile
from sophos_desktop.core.mcp_host.servers.memory.json_text import compact
from sophos_desktop.core.mcp_host.servers.memory.schemas import TOOLS
from sophos_desktop.core.mcp_host.servers.memory.tools import call_tool, damage_of, graph_text
from sophos_desktop.core.mcp_host.servers.memory.validation import MISSING, as_json, problems

PROTOCOL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""What is spoken, the newest last: that is answered to a client with any other."""
RESOURCE_URI = "memory://knowledge-graph"
_RESOURCE = {
    "uri": RESOURCE_URI,
    "name": "knowledge-graph",
    "title": "Knowledge Graph",
    "description": "The full knowledge graph with all entities and relations",
    "mimeType": "application/json",
}
_CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": False, "subscribe": True}}
_TEXT = {"type": "string"}
_IMPLEMENTATION = {
    "type": "object",
    "properties": {"name": _TEXT, "version": _TEXT},
    "required": ["name", "version"],
}
_NO_METHOD, _BAD_PARAMETERS, _INTERNAL = -32601, -32602, -32603


def _parameters(*required: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": required or list(properties)}


_PARAMETERS = {
    "initialize": _parameters(
        protocolVersion=_TEXT, capabilities={"type": "object"}, clientInfo=_IMPLEMENTATION
    ),
    "tools/call": _parameters("name", name=_TEXT, arguments={"type": "record"}),
    "resources/read": _parameters(uri=_TEXT),
    "resources/subscribe": _parameters(uri=_TEXT),
    "resources/unsubscribe": _parameters(uri=_TEXT),
}


class _ProtocolError(Exception):
    """Answered as an error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One client's session. Lives as long as the process; `log` is for people."""

    def __init__(self, file: GraphFile, log: TextIO) -> None:
        self._file = file
        self._log = log
        self._subscribed = False
        self._told_damage = ""
        self._notifications: list[str] = []
        self._methods: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
            "ping": lambda _: "{}",
            "initialize": self._initialize,
            "tools/list": lambda _: compact({"tools": TOOLS}),
            "tools/call": self._call,
            "resources/list": lambda _: compact({"resources": [_RESOURCE]}),
            "resources/templates/list": lambda _: compact({"resourceTemplates": []}),
            "resources/read": self._read_resource,
            "resources/subscribe": lambda params: self._subscribe(params, wanted=True),
            "resources/unsubscribe": lambda params: self._subscribe(params, wanted=False),
        }

    def answers(self, line: bytes) -> list[str]:
        """The messages that answer one line, without line breaks; none for a notification."""
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._say("a line that is no JSON was passed over")
            return []
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._say("a line that is no message was passed over")
            return []
        request_id = message.get("id")
        if not isinstance(request_id, str | int) or isinstance(request_id, bool):
            return []  # a notification: none of them asks for anything here
        if not isinstance(method := message.get("method"), str):
            return []  # an answer: this server asks nothing
        try:
            body = f'"result":{self._answered(method, message.get("params", MISSING))}'
        except _ProtocolError as error:
            body = f'"error":{compact({"code": error.code, "message": str(error)})}'
        answer = f'{{{body},"jsonrpc":"2.0","id":{compact(request_id)}}}'
        notifications, self._notifications = self._notifications, []
        return [*notifications, answer]

    def _answered(self, method: str, params: object) -> str:
        if method not in self._methods:
            raise _ProtocolError(_NO_METHOD, "Method not found")
        if method in _PARAMETERS and (found := list(problems(_PARAMETERS[method], params, ("params",)))):
            raise _ProtocolError(_INTERNAL, as_json(found))
        return self._methods[method](params if isinstance(params, dict) else {})

    def _initialize(self, params: Mapping[str, Any]) -> str:
        asked = params["protocolVersion"]
        version = asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[-1]
        info = {"name": "memory-server", "version": __version__}
        return compact({"protocolVersion": version, "capabilities": _CAPABILITIES, "serverInfo": info})

    def _call(self, params: Mapping[str, Any]) -> str:
        outcome = call_tool(self._file, params["name"], params.get("arguments", {}))
        if outcome.changed and self._subscribed:
            updated = {"method": "notifications/resources/updated", "params": {"uri": RESOURCE_URI}}
            self._notifications.append(compact(updated | {"jsonrpc": "2.0"}))
        self._tell(outcome.damage)
        return outcome.result

    def _read_resource(self, params: Mapping[str, Any]) -> str:
        if params["uri"] != RESOURCE_URI:
            raise _ProtocolError(_BAD_PARAMETERS, f"MCP error -32602: Resource {params['uri']} not found")
        try:
            graph = self._file.read()
        except (OSError, FileIsBusy) as error:
            raise _ProtocolError(_INTERNAL, str(error)) from error
        self._tell(damage_of(graph))
        contents = {"uri": RESOURCE_URI, "mimeType": "application/json", "text": graph_text(graph)}
        return compact({"contents": [contents]})

    def _subscribe(self, params: Mapping[str, Any], *, wanted: bool) -> str:
        if params["uri"] == RESOURCE_URI:
            self._subscribed = wanted
        return "{}"

    def _tell(self, damage: str) -> None:
        """Say what is wrong with the file, once."""
        if damage and damage != self._told_damage:
            self._say(damage)
        self._told_damage = damage

    def _say(self, sentence: str) -> None:
        self._log.write(f"{sentence}\n")
        self._log.flush()
