"""A server whose results are more than a short text: an image, structured content, several parts, 60 MB.

`python -m tests.support.mcp_servers.rich_results`.
"""

import base64
from collections.abc import Mapping
from typing import Any

from tests.support.mcp_servers.wire import Server, Tool, text


def image(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A text and bytes that are said to be an image."""
    data = base64.b64encode(arguments["marker"].encode()).decode()
    parts = [{"type": "text", "text": "Here:"}, {"type": "image", "data": data, "mimeType": "image/png"}]
    return {"content": parts, "_meta": {"note": arguments["marker"]}}


def structured(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An object, and the same as text."""
    return {**text("a weather report"), "structuredContent": {"sky": arguments["marker"], "none": None}}


def huge(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A text of so many bytes that begins and ends with the marker."""
    marker = arguments["marker"]
    return text(f"{marker} {'x' * (int(arguments['size_bytes']) - 2 * len(marker) - 2)} {marker}")


_MARKER = {"marker": {"type": "string"}}

if __name__ == "__main__":
    Server(
        [
            Tool("image", image, _MARKER),
            Tool("structured", structured, _MARKER),
            Tool("huge", huge, {**_MARKER, "size_bytes": {"type": "integer"}}),
        ]
    ).run()
