"""Puts the guard around `mcp-server-fetch`, in one place, and proves that nothing of it stays outside.

Invariant: the upstream's code reaches the network through `httpx.AsyncClient` alone, looked up when it is
called, and that name is ours while `guarded_upstream` is entered; an upstream that differs is an
UpstreamChanged, never an unguarded server.
"""

import dis
import importlib.util
import inspect
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.abc import InspectLoader
from types import CodeType, FrameType
from typing import Any

import httpx
import mcp_server_fetch.server  # type: ignore[import-untyped]
from mcp.types import Tool, ToolAnnotations

from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchGuard, FetchLimits, FetchRefused
from sophos_desktop.core.mcp_host.servers.fetch_transport import REMARKS, GuardedTransport

_MODULES = ("mcp_server_fetch", "mcp_server_fetch.server")
_NETWORK = ("httpx", ("AsyncClient", "HTTPError"))
_HARMLESS = frozenset(
    {"argparse", "asyncio", "markdownify", "mcp.server", "mcp.server.stdio", "mcp.shared.exceptions"}
    | {"mcp.types", "protego", "pydantic", "readabilipy.simple_json", "server", "typing", "urllib.parse"}
)
_PARAMETERS = {
    "fetch_url": ("url", "user_agent", "force_raw", "proxy_url"),
    "check_may_autonomously_fetch_url": ("url", "user_agent", "proxy_url"),
    "extract_content_from_html": ("html",),
    "serve": ("custom_user_agent", "ignore_robots_txt", "proxy_url"),
}


class UpstreamChanged(Exception):
    """The installed mcp-server-fetch is not the one that the guard was made for. The message says where."""


class _ReadingTool(Tool):
    """This upstream version describes its tool without hints: it reads, and it reads the open world."""

    annotations: ToolAnnotations | None = ToolAnnotations(readOnlyHint=True, openWorldHint=True)


def check_upstream() -> None:
    """Raises UpstreamChanged unless all that the upstream imports is known, httpx is imported within its
    functions and by the two names that are expected, and the functions take what we pass."""
    for name in _MODULES:
        check_imports(name, _code_of(name))
    for function, parameters in _PARAMETERS.items():
        found = getattr(mcp_server_fetch.server, function, None)
        if found is None or tuple(inspect.signature(found).parameters) != parameters:
            raise UpstreamChanged(f"mcp_server_fetch.server.{function} is not the function it was")
    if "use_readability" not in inspect.signature(_simple_json().simple_json_from_html_string).parameters:
        raise UpstreamChanged("readabilipy.simple_json can no longer be kept from starting node")


def check_imports(module: str, code: CodeType, *, nested: bool = False) -> None:
    """Raises UpstreamChanged if code imports what it did not import when the guard was written."""
    for imported, names in _imports(code):
        if imported not in _HARMLESS and not (nested and (imported, names) == _NETWORK):
            what = f"{imported} ({', '.join(names) or 'all of it'})"
            raise UpstreamChanged(f"{module}, {code.co_name}: it imports {what}")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            check_imports(module, constant, nested=True)


def _imports(code: CodeType) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            found.append((instruction.argval, ()))
        elif instruction.opname == "IMPORT_FROM":
            module, names = found[-1]
            found[-1] = (module, (*names, instruction.argval))
    return found


def _code_of(module: str) -> CodeType:
    # Through the loader: an executable has the code, but not its source.
    specification = importlib.util.find_spec(module)
    loader = specification.loader if specification is not None else None
    code = loader.get_code(module) if isinstance(loader, InspectLoader) else None
    if code is None:
        raise UpstreamChanged(f"the code of {module} cannot be looked at")
    return code


def guarded_client(guard: FetchGuard) -> type[httpx.AsyncClient]:
    """What stands in for `httpx.AsyncClient`. It takes a proxy and nothing else."""

    class GuardedClient(httpx.AsyncClient):
        """A client whose only transport is the guarded one. Lives as long as upstream's `async with`."""

        def __init__(self, *, proxy: str | None = None) -> None:
            super().__init__(
                transport=GuardedTransport(guard, proxy),
                headers={"Accept-Encoding": "gzip"},
                max_redirects=guard.limits.redirects,
                timeout=guard.limits.request_seconds,
                trust_env=False,
            )

    return GuardedClient


@contextmanager
def guarded_upstream(guard: FetchGuard) -> Iterator[Any]:
    """The upstream's server module, guarded until this is left. Raises UpstreamChanged.

    For a process, or a test, that has no other use for httpx meanwhile.
    """
    check_upstream()
    upstream, simple_json, library = mcp_server_fetch.server, _simple_json(), _as_any(httpx)
    replaced: list[tuple[Any, str, Any]] = [
        (library, "AsyncClient", guarded_client(guard)),
        (upstream, "fetch_url", _with_remarks(upstream.fetch_url)),
        (upstream, "extract_content_from_html", _bounded(upstream.extract_content_from_html, guard.limits)),
        (upstream, "Tool", _ReadingTool),
        (
            simple_json,
            "simple_json_from_html_string",
            _without_node(simple_json.simple_json_from_html_string),
        ),
    ]
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    try:
        for owner, name, value in replaced:
            setattr(owner, name, value)
        yield upstream
    finally:
        for owner, name, value in originals:
            setattr(owner, name, value)


def _with_remarks(
    fetch_url: Callable[..., Awaitable[tuple[str, str]]],
) -> Callable[..., Awaitable[tuple[str, str]]]:
    """Puts what was left out in front of the page, where the model reads it."""

    async def fetch_with_remarks(*args: Any, **kwargs: Any) -> tuple[str, str]:
        remarks: list[str] = []
        token = REMARKS.set(remarks)
        try:
            content, prefix = await fetch_url(*args, **kwargs)
        finally:
            REMARKS.reset(token)
        return content, "".join(f"{remark}\n" for remark in remarks) + prefix

    return fetch_with_remarks


def _bounded(extract: Callable[[str], str], limits: FetchLimits) -> Callable[[str], str]:
    """Making Markdown takes about half a minute for a megabyte, and far more for a page that is meant to."""

    def extract_bounded(html: str) -> str:
        remarks = REMARKS.get()
        if len(html) > limits.html_characters and remarks is not None:
            kept = f"{limits.html_characters:,} characters"
            remarks.append(f"Only the first {kept} of this page were made into Markdown; raw has all.")
        with _interrupted_after(limits.markdown_seconds):
            return extract(html[: limits.html_characters])

    return extract_bounded


def _without_node(simple_json: Callable[..., Any]) -> Callable[..., Any]:
    """With node on the PATH, the library runs `npm install` at the first page and then gives pages to a
    process without any bound. Its own Python way needs neither."""

    def simple_json_in_python(html: str, *args: Any, **kwargs: Any) -> Any:
        return simple_json(html, *args, **{**kwargs, "use_readability": False})

    return simple_json_in_python


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raise FetchRefused in the midst of what runs for longer. On Windows there is no such bound."""
    main_thread = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not main_thread:
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise FetchRefused(f"This page cannot be made into Markdown within {seconds:g} seconds; ask for raw")

    previous = signal.signal(signal.SIGALRM, interrupt)
    # Again every second, should a library swallow the first.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


def _simple_json() -> Any:
    return _as_any(mcp_server_fetch.server).readabilipy.simple_json


def _as_any(module: Any) -> Any:
    return module
