"""Connects Qt signals to coroutines.

Invariant: every coroutine that a signal starts belongs to a `TaskOwner`, which keeps a strong reference and
routes its error; qasync's own `asyncSlot` does neither (0.28), so it is not used.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import SignalInstance

from sophos_desktop.foundation.tasks import TaskOwner


def connect_async(
    signal: SignalInstance,
    work: Callable[..., Coroutine[Any, Any, Any]],
    owner: TaskOwner,
    name: str,
) -> None:
    """Run `work` with the signal's arguments as a task of `owner` called `name` at each emission."""

    def start(*arguments: Any) -> None:
        owner.spawn(work(*arguments), name)

    signal.connect(start)
