"""The fetch server as a program, in whose eyes 127.0.0.2 is the public internet."""

from sophos_desktop.core.mcp_host.servers.fetch import main
from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchGuard
from tests.core.mcp_host.fetch.site import is_pretended_public

if __name__ == "__main__":
    main(guard=FetchGuard(is_pretended_public))
