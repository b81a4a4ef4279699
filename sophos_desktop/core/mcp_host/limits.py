"""What all server tasks of a host share: its patience and its surroundings.

Invariant: frozen; passed in once, by the host.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sophos_desktop.core.domain.ports import ChildRecords
from sophos_desktop.core.mcp_host.backoff import RestartPolicy
from sophos_desktop.core.mcp_host.child import CloseLimits
from sophos_desktop.foundation.clock import Clock
from sophos_desktop.foundation.tasks import ErrorRoute


@dataclass(frozen=True, slots=True)
class HostLimits:
    """The host's patience, in seconds, where `mcp.json` says nothing else.

    `initialize_seconds` is long, since a first start may download the server; `list_quiet_seconds` without a
    further change end a burst of them; `other_lists_seconds` a server that has its tools is waited for to
    list its resources and prompts too."""

    initialize_seconds: float = 180.0
    call_seconds: float = 120.0
    still_starting_seconds: float = 5.0
    list_quiet_seconds: float = 0.1
    other_lists_seconds: float = 1.0
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    close: CloseLimits = field(default_factory=CloseLimits)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every server task of a host shares."""

    records: ChildRecords
    environ: Mapping[str, str]
    clock: Clock
    limits: HostLimits
    on_change: Callable[[], None]
    on_error: ErrorRoute
