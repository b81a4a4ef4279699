"""The built-in fetch server: `mcp-server-fetch` over stdio, which can read public pages and nothing else.

Invariant: it runs guarded or not at all. What is allowed is a parameter in Python alone: no argument, no
variable and no tool call can widen it.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchGuard
from sophos_desktop.core.mcp_host.servers.fetch_upstream import UpstreamChanged, guarded_upstream


def main(arguments: Sequence[str] | None = None, guard: FetchGuard | None = None) -> None:
    """Serve until stdin ends; takes the upstream's own arguments. Raises SystemExit with a sentence if the
    installed upstream cannot be guarded."""
    parser = argparse.ArgumentParser(prog="fetch", description="Give a model the public pages of the web.")
    parser.add_argument("--user-agent", help="what to call itself in requests")
    parser.add_argument("--ignore-robots-txt", action="store_true", help="read what robots.txt forbids")
    parser.add_argument("--proxy-url", help="the proxy to use for all requests")
    options = parser.parse_args(arguments)
    try:
        with guarded_upstream(guard or FetchGuard()) as upstream:
            asyncio.run(upstream.serve(options.user_agent, options.ignore_robots_txt, options.proxy_url))
    except UpstreamChanged as changed:
        sys.exit(f"The installed mcp-server-fetch cannot be guarded, so it is not started: {changed}")


if __name__ == "__main__":
    main()
