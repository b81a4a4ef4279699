"""The real server processes, through the tool host."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.mcp_host.config import McpConfigSource, ServerConfig
from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.fetch.site import FORBIDDEN, answer, redirect, running_site
from tests.core.mcp_host.harness import PROJECT, ready, running_host, tool

REFUSED = "is on this machine or its network; fetch only reads public pages"
LOOPBACK = [
    *("127.0.0.1", "127.1", "127.0.0.1.", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0", "0.0.0.0"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *(
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "ｌｏｃａｌｈｏｓｔ",
        "１２７.０.０.１",
        "127。0。0。1",
    ),
    *("user:word@127.0.0.1", "1.1.1.1@127.0.0.1", "%31%32%37.0.0.1"),
]
ELSEWHERE = ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "224.0.0.1"]


async def _fetched(host: ToolHost, url: str) -> ToolResult:
    return await host.call(tool(host, "fetch", "fetch"), {"url": url, "raw": False})


def _shipped(tmp_path: Path) -> ServerConfig:
    source = McpConfigSource(
        PROJECT / "config" / "mcp.json", tmp_path / "mcp.json", {}, tmp_path / "memory.jsonl"
    )
    (config,) = [server for server in source.load().servers if server.name == "fetch"]
    return replace(config, cwd=str(PROJECT))


async def test_the_shipped_server_refuses_this_machine_in_every_spelling(tmp_path: Path) -> None:
    config = _shipped(tmp_path)
    assert (config.built_in, config.command) == (True, sys.executable)
    async with running_site(FORBIDDEN) as site, running_host(config) as host:
        await ready(host, "fetch")
        urls = [f"http://{name}:{site.port}/" for name in LOOPBACK]
        urls += [f"https://{name}/" for name in ELSEWHERE]
        results = await asyncio.gather(*(_fetched(host, url) for url in urls))
        refused = {url: REFUSED in result.text for url, result in zip(urls, results, strict=True)}
        assert refused == dict.fromkeys(urls, True)
        assert all(result.is_error for result in results)
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/x"):
            result = await _fetched(host, url)
            assert (result.is_error, "fetch only reads http and https pages" in result.text) == (True, True)
    assert site.connections == 0


async def test_no_variable_of_ours_reaches_the_server(tmp_path: Path) -> None:
    async with running_site(FORBIDDEN) as proxy, running_site(FORBIDDEN) as site:
        environ = {
            **os.environ,
            "HTTP_PROXY": proxy.url(""),
            "ALL_PROXY": proxy.url(""),
        }
        async with running_host(_shipped(tmp_path), environ=environ) as host:
            await ready(host, "fetch")
            assert REFUSED in (await _fetched(host, site.url("/"))).text
    assert (proxy.connections, site.connections) == (0, 0)


async def test_its_tool_reads_the_open_world(tmp_path: Path) -> None:
    async with running_host(_shipped(tmp_path)) as host:
        await ready(host, "fetch")
        (spec,) = host.tools()
        assert (spec.tool, spec.trusted) == ("fetch", True)
        assert (spec.annotations.read_only, spec.annotations.open_world) == (True, True)


async def test_a_page_is_read_robots_are_respected_and_a_redirect_inwards_is_refused() -> None:
    module = "tests.core.mcp_host.fetch.pretending_server"
    config = ServerConfig("fetch", command=sys.executable, args=("-m", module), cwd=str(PROJECT))
    async with running_site() as site, running_site(FORBIDDEN) as inner, running_host(config) as host:
        site.pages["/robots.txt"] = answer("User-agent: *\nDisallow: /private")
        site.pages["/page"] = answer("<html><h1>Title</h1><p>Words</p></html>", content_type="text/html")
        site.pages["/inwards"] = redirect(inner.url("/"))
        await ready(host, "fetch")
        page = await _fetched(host, site.url("/page"))
        assert (page.is_error, "# Title" in page.text) == (False, True)
        private = await _fetched(host, site.url("/private"))
        assert (private.is_error, "autonomous fetching of this page is not allowed" in private.text) == (
            True,
            True,
        )
        inwards = await _fetched(host, site.url("/inwards"))
        assert inwards.is_error
        assert inwards.text.startswith("The address 127.0.0.1 is on this machine or its network")
        assert (await _fetched(host, site.url("/page"))).text == page.text, (
            "and it is there for the next call"
        )
    assert site.paths.count("/private") == 0
    assert inner.connections == 0
