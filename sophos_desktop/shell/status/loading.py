"""Says in the status bar that a model is being loaded, while a run waits for its first answer.

Invariant: it is said only of the run that is followed, only if the engine says that the model is not loaded,
and no longer than until anything comes of the step.
"""

from collections.abc import AsyncGenerator

from sophos_desktop.core.domain.events import (
    Event,
    ModelCallFinished,
    Notice,
    RunEvent,
    RunStarted,
    StepEvent,
)
from sophos_desktop.core.domain.specs import full_model_name
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.status.bar import StatusBar

LOADING = "Loading the model…"
_ASKING_NODE = "agent"


class LoadingWords:
    """Lives as long as its window; is told only of the conversation that is open."""

    def __init__(self, bar: StatusBar, owner: TaskOwner) -> None:
        """Says it in `bar`."""
        self._bar = bar
        self._owner = owner
        self._model: str | None = None
        self._answered_run = ""
        self._looks = 0

    @property
    def answered_run(self) -> str:
        """The run that answered last: its model is loaded."""
        return self._answered_run

    def reset(self) -> None:
        """Another conversation is open, or none."""
        self._looks += 1
        self._model = None
        self._bar.end_activity(LOADING)

    def on_event(self, core: Core, conversation_id: str, told: RunEvent) -> None:
        """Something happened in the run. Until its first answer nobody knows whether its model is loaded, and
        loading may take long."""
        event = told.event
        if isinstance(event, RunStarted):
            self._model = event.model
        elif isinstance(event, ModelCallFinished):
            self._answered_run = told.run_id
        elif told.run_id != self._answered_run and _asks_the_model(event):
            self._looks += 1
            saying = self._say(core, conversation_id, told, self._looks)
            self._owner.spawn(saying, "loading the model")

    async def _say(self, core: Core, conversation_id: str, told: RunEvent, look: int) -> None:
        handle, model = core.runs.active(conversation_id), self._model
        if handle is None or handle.run_id != told.run_id or model is None:
            return
        if not await _must_load(core, model) or look != self._looks:
            return
        self._bar.say_activity(LOADING)
        events = handle.events(told.seq + 1)
        try:
            async for item in events:
                if not isinstance(item.event, Notice):
                    break
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
            if look == self._looks:
                self._bar.end_activity(LOADING)


def _asks_the_model(event: Event) -> bool:
    return isinstance(event, StepEvent) and event.phase == "started" and event.node == _ASKING_NODE


async def _must_load(core: Core, name: str) -> bool:
    """True if an engine has the model and says that it is not loaded."""
    wanted = full_model_name(name)
    known = [model for model in await core.models.all() if full_model_name(model.name) == wanted]
    return bool(known) and not any(model.loaded for model in known)
