"""Loads what only a started server needs: the protocol's library, its adapter and the schema checker.

Invariant: the event loop is not held up by these imports (half a second and more). A program that imports
in a thread of its own anyway may call `load` there first.
"""

import asyncio
import threading

_is_loaded = threading.Event()


def load() -> None:
    """Import the modules; in any thread, as often as one likes."""
    import sophos_desktop.core.mcp_host.arguments
    import sophos_desktop.core.mcp_host.http_transport
    import sophos_desktop.core.mcp_host.session  # noqa: F401

    _is_loaded.set()


async def loaded() -> None:
    """Return once the modules are there."""
    if not _is_loaded.is_set():
        await asyncio.to_thread(load)
