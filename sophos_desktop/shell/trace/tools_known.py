"""What the app knows now of the servers and tools that a trace names, and of the steps that a run may take.

Invariant: asks what is in memory alone; a trace may name what is not there any more, and shows all the same.
"""

from typing import Any

from sophos_desktop.core.domain.specs import ToolAnnotations
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.shell.facade import Core


class ToolsKnown:
    """Lives as long as its window; knows nothing before `attach` and after `detach`."""

    def __init__(self) -> None:
        """Knows nothing."""
        self._core: Core | None = None

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core

    def detach(self) -> None:
        """The core is about to close."""
        self._core = None

    def server_words(self, server: str) -> str:
        """`memory, built in`."""
        if self._core is not None and self._core.trust.of(server) is Trust.BUILT_IN:
            return f"{server}, {Trust.BUILT_IN.words}"
        return server

    def hints(self, server: str, tool: str) -> str:
        """What the server says that a tool does; empty if the tool is not there."""
        if self._core is None:
            return ""
        for status in self._core.servers.statuses():
            for spec in status.tools if status.name == server else ():
                if spec.tool == tool:
                    return hint_words(spec.annotations)
        return ""

    @property
    def step_limit(self) -> int | None:
        """How many steps a run may take; None if that is not known."""
        if self._core is None:
            return None
        items: Any = self._core.settings.items()
        limit = next((item.value for item in items if item.key == "answer.step_limit"), None)
        return limit if isinstance(limit, int) else None


def hint_words(hints: ToolAnnotations) -> str:
    """The hints that decide whether a call may be repeated, and what it may destroy."""
    said = ["read-only" if hints.read_only else "not read-only"]
    if not hints.read_only:
        said.append("idempotent" if hints.idempotent else "not idempotent")
        if hints.destructive:
            said.append("destructive")
    return ", ".join(said)
