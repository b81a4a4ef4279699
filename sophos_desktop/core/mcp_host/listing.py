"""Reads what a server lists: tools, resources and prompts, page by page.

Invariant: one broken entry costs that entry alone, and the server's tail says so; a server that pages for
ever, or in a circle, is read to a bound. The text in it is foreign and is cleaned for being shown.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.client.session import ClientSession
from mcp.types import (
    ClientRequest,
    ListPromptsRequest,
    ListResourcesRequest,
    ListToolsRequest,
    PaginatedRequestParams,
    Tool,
)
from pydantic import ValidationError

from sophos_desktop.core.domain.fingerprints import tool_fingerprint
from sophos_desktop.core.domain.specs import ToolAnnotations, ToolSpec
from sophos_desktop.core.mcp_host.connection import ServerIdentity
from sophos_desktop.core.mcp_host.names import model_name
from sophos_desktop.core.mcp_host.shown_text import shown, shown_line, shown_name

MAXIMUM_PAGES = 200
MAXIMUM_ENTRIES = 5_000
_SHOWN_CHARACTERS = 300
_ESSENTIAL = ("name", "description", "inputSchema")

Ask = Callable[[str, ClientRequest], Awaitable[Mapping[str, Any]]]
"""Sends a request and gives its result as it came; raises what a `ServerSession` raises."""

Note = Callable[[str], None]


def list_request(method: str, cursor: str | None) -> ClientRequest:
    """The request for one page of `tools/list`, `resources/list` or `prompts/list`."""
    params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
    if method == "tools/list":
        return ClientRequest(ListToolsRequest(params=params))
    if method == "resources/list":
        return ClientRequest(ListResourcesRequest(params=params))
    return ClientRequest(ListPromptsRequest(params=params))


async def entries(ask: Ask, kind: str, note: Note) -> AsyncIterator[object]:
    """All entries of all pages, whatever they are; `kind` is `tools`, `resources` or `prompts`."""
    method = f"{kind}/list"
    cursor: str | None = None
    seen: set[str] = set()
    count = 0
    for _ in range(MAXIMUM_PAGES):
        page = await ask(method, list_request(method, cursor))
        listed = page.get(kind)
        if not isinstance(listed, list):
            note(f"{method}: a page without a list of {kind}")
            return
        for entry in listed:
            count += 1
            if count > MAXIMUM_ENTRIES:
                note(f"{method}: only the first {MAXIMUM_ENTRIES} entries were read")
                return
            yield entry
        following = page.get("nextCursor")
        if following is None or following == "":
            return
        if not isinstance(following, str) or following in seen:
            note(f"{method}: its pages go in a circle or cannot be followed, the rest was not read")
            return
        seen.add(following)
        cursor = following
    note(f"{method}: only the first {MAXIMUM_PAGES} pages were read")


class ToolListing:
    """The tools of one reading: their specs in the server's order, and each one's exact name."""

    def __init__(self, client: ClientSession, identity: ServerIdentity, note: Note) -> None:
        self._client = client
        self._identity = identity
        self._note = note
        self._specs: dict[str, ToolSpec] = {}
        self.exact_names: dict[str, str] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What can be used of what was added."""
        return tuple(self._specs.values())

    def add(self, entry: object) -> None:
        """One entry of `tools/list`; what cannot be used is noted and left out."""
        tool = self._parsed(entry)
        if tool is None:
            return
        name = shown_name(tool.name)
        if name in self._specs:
            self._note(f"tools/list: a second tool called {_called(entry)} was left out")
            return
        try:
            self._specs[name] = self._spec(tool, name)
        except (ValueError, RecursionError) as error:
            self._note(f"tools/list: {_called(entry)} cannot be used: {type(error).__name__}")
            return
        self.exact_names[name] = tool.name

    def _parsed(self, entry: object) -> Tool | None:
        try:
            return Tool.model_validate(entry)
        except (ValidationError, RecursionError) as error:
            reason = _reason(error)
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            essential = {key: entry[key] for key in _ESSENTIAL if key in entry}
            if not isinstance(essential.get("description"), str | None):
                del essential["description"]
            try:
                tool = Tool.model_validate(essential)
            except (ValidationError, RecursionError) as error:
                reason = _reason(error)
            else:
                self._note(f"tools/list: {_called(entry)} is taken without what cannot be read ({reason})")
                return tool
        self._note(f"tools/list: {_called(entry)} was left out ({reason})")
        return None

    def _spec(self, tool: Tool, name: str) -> ToolSpec:
        # The adapter's own reading of an entry; only the call is ours, since it must carry `SentRequest`.
        adapted = convert_mcp_tool_to_langchain_tool(self._client, tool)
        hints = adapted.metadata or {}
        schema = adapted.args_schema if isinstance(adapted.args_schema, dict) else {}
        title = hints.get("title")
        annotations = ToolAnnotations(
            read_only=hints.get("readOnlyHint"),
            idempotent=hints.get("idempotentHint"),
            destructive=hints.get("destructiveHint"),
            open_world=hints.get("openWorldHint"),
            title=title,
        )
        identity = self._identity
        fingerprint = tool_fingerprint(
            identity.fingerprint, tool.name, adapted.description, schema, annotations.to_json()
        )
        return ToolSpec(
            name=model_name(identity.name, tool.name),
            server=identity.name,
            tool=name,
            description=shown(adapted.description),
            input_schema=schema,
            annotations=_shown_annotations(annotations),
            trusted=identity.trusted,
            fingerprint=fingerprint,
        )


async def shown_entries(ask: Ask, kind: str, note: Note) -> tuple[str, ...]:
    """Resources or prompts for being shown: a resource's URI, a prompt's name."""
    key = "uri" if kind == "resources" else "name"
    found: list[str] = []
    async for entry in entries(ask, kind, note):
        value = entry.get(key) or entry.get("name") if isinstance(entry, dict) else None
        if isinstance(value, str) and value:
            found.append(shown_line(value, _SHOWN_CHARACTERS))
        else:
            note(f"{kind}/list: {_called(entry)} was left out (no {key})")
    return tuple(found)


def _shown_annotations(annotations: ToolAnnotations) -> ToolAnnotations:
    if annotations.title is None:
        return annotations
    return ToolAnnotations(
        annotations.read_only,
        annotations.idempotent,
        annotations.destructive,
        annotations.open_world,
        shown_line(annotations.title, _SHOWN_CHARACTERS),
    )


def _called(entry: object) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return f'"{shown_line(name, 100)}"' if isinstance(name, str) else "an entry without a name"


def _reason(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return shown_line(f"{where}: {first['msg']}" if where else first["msg"], 200)
