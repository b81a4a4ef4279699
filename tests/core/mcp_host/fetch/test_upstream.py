"""The upstream server under the guard, and that an upstream which differs is not started."""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import mcp_server_fetch.server  # type: ignore[import-untyped]
import pytest
from mcp.shared.exceptions import McpError

from sophos_desktop.core.mcp_host.servers import fetch
from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchRefused
from sophos_desktop.core.mcp_host.servers.fetch_upstream import (
    UpstreamChanged,
    check_imports,
    check_upstream,
    guarded_upstream,
)
from tests.core.mcp_host.fetch.site import (
    FORBIDDEN,
    Names,
    answer,
    guard_for,
    redirect,
    running_site,
)

# The libraries that make the Markdown call what another of them gave up.
pytestmark = pytest.mark.filterwarnings("ignore:Call to deprecated method:DeprecationWarning")

PAGE = "<html><body><h1>Title</h1><p>A <b>word</b>.</p></body></html>"


def test_the_installed_upstream_reaches_the_network_through_one_name() -> None:
    check_upstream()


@pytest.mark.parametrize(
    ("source", "is_known"),
    [
        ("def f():\n  from httpx import AsyncClient, HTTPError", True),
        ("from httpx import AsyncClient, HTTPError", False),
        ("def f():\n  import httpx", False),
        ("def f():\n  from httpx import AsyncClient, Client", False),
        ("def f():\n  from httpx import get, HTTPError", False),
        ("def f():\n  class C:\n    import requests", False),
        ("import socket", False),
        ("import urllib.request", False),
        ("from urllib.parse import urlparse", True),
    ],
)
def test_an_import_that_was_not_there_is_found(source: str, is_known: bool) -> None:
    code = compile(source, "upstream", "exec")
    if is_known:
        check_imports("upstream", code)
    else:
        with pytest.raises(UpstreamChanged, match="it imports"):
            check_imports("upstream", code)


@pytest.mark.parametrize("name", ["fetch_url", "extract_content_from_html", "serve"])
def test_a_changed_upstream_is_not_started(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def other(url: str) -> None: ...

    served: list[Any] = []
    monkeypatch.setattr(mcp_server_fetch.server, "serve", _noting(served))
    monkeypatch.setattr(mcp_server_fetch.server, name, other)
    with pytest.raises(SystemExit, match=f"cannot be guarded, so it is not started: .*{name}"):
        fetch.main([])
    assert served == []


def _noting(served: list[Any]) -> Callable[..., Any]:
    async def serve(custom_user_agent: str, ignore_robots_txt: bool, proxy_url: str) -> None:
        served.append((custom_user_agent, ignore_robots_txt, proxy_url, httpx.AsyncClient.__name__))

    return serve


def test_the_upstreams_own_arguments_are_taken_and_the_guard_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(mcp_server_fetch.server, "serve", _noting(served))
    fetch.main(["--user-agent", "me", "--proxy-url", "http://proxy.example"])
    assert served == [("me", False, "http://proxy.example", "GuardedClient")]
    assert httpx.AsyncClient.__name__ == "AsyncClient"


@pytest.mark.parametrize("argument", ["--allow=127.0.0.1", "--guard=none", "127.0.0.1"])
def test_no_argument_widens_what_is_allowed(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        fetch.main([argument])
    assert ended.value.code == 2
    assert "unrecognized arguments" in capsys.readouterr().err


async def test_a_page_becomes_the_upstreams_markdown_without_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = tmp_path / "started"
    for program in ("node", "npm"):
        (tmp_path / program).write_text(f"#!/bin/sh\necho v20 | tee -a '{witness}'\n")
        (tmp_path / program).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert shutil.which("npm") == str(tmp_path / "npm")
    async with running_site() as site:
        site.pages["/"] = answer(PAGE, content_type="text/html")
        with guarded_upstream(guard_for(Names())) as upstream:
            content, prefix = await upstream.fetch_url(site.url("/"), "agent")
    assert ("# Title" in content, "A word." in content, prefix) == (True, True, "")
    assert not witness.exists()


async def test_the_robots_request_is_guarded_too_and_its_refusal_is_told() -> None:
    async with running_site(FORBIDDEN) as inner, running_site() as site:
        site.pages["/robots.txt"] = redirect(inner.url("/robots.txt"))
        site.pages["/"] = answer(PAGE)
        with guarded_upstream(guard_for(Names())) as upstream:
            with pytest.raises(FetchRefused, match="fetch only reads public pages"):
                await upstream.check_may_autonomously_fetch_url(site.url("/"), "agent")
            with pytest.raises(FetchRefused, match="fetch only reads public pages"):
                await upstream.check_may_autonomously_fetch_url(inner.url("/"), "agent")
    assert inner.connections == 0


async def test_what_robots_txt_forbids_is_not_read() -> None:
    async with running_site() as site:
        site.pages["/robots.txt"] = answer("User-agent: *\nDisallow: /private")
        with guarded_upstream(guard_for(Names())) as upstream:
            await upstream.check_may_autonomously_fetch_url(site.url("/open"), "agent")
            with pytest.raises(McpError, match="autonomous fetching of this page is not allowed"):
                await upstream.check_may_autonomously_fetch_url(site.url("/private/x"), "agent")


async def test_what_was_cut_is_said_in_front_of_the_page() -> None:
    guard = guard_for(Names(), body_bytes=2_000, html_characters=500)
    async with running_site() as site:
        site.pages["/text"] = answer("x" * 3_000, content_type="text/plain")
        site.pages["/html"] = answer("<html><p>" + "y " * 600, content_type="text/html")
        with guarded_upstream(guard) as upstream:
            content, prefix = await upstream.fetch_url(site.url("/text"), "agent")
            assert len(content) == 2_000
            assert prefix.startswith(
                "This page is larger than 0.002 MB; only its first 0.002 MB were read.\n"
            )
            content, prefix = await upstream.fetch_url(site.url("/html"), "agent")
            assert 400 < len(content) < 600
            assert prefix.startswith("Only the first 500 characters of this page were made into Markdown")


@pytest.mark.skipif(sys.platform == "win32", reason="no bound there")
async def test_a_page_that_takes_too_long_to_become_markdown_is_given_up() -> None:
    formatting = "".join(f"<b id={number}>" for number in range(2_000))
    async with running_site() as site:
        site.pages["/"] = answer(f"<html>{formatting}" + "<p>x" * 2_000, content_type="text/html")
        with guarded_upstream(guard_for(Names(), markdown_seconds=0.5)) as upstream:
            began = time.monotonic()
            with pytest.raises(FetchRefused, match=r"within 0\.5 seconds; ask for raw"):
                await upstream.fetch_url(site.url("/"), "agent")
            assert time.monotonic() - began < 10
            content, _ = await upstream.fetch_url(site.url("/"), "agent", force_raw=True)
            assert content.startswith("<html><b id=0>")
