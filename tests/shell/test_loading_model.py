"""While a model is loaded the window says so, until anything comes of it."""

from dataclasses import replace

from PySide6.QtWidgets import QLabel

from sophos_desktop.core.domain.events import ModelCallFinished, Notice, StepEvent
from sophos_desktop.core.domain.model_choices import EngineModels
from tests.support.fake_core import FakeCore
from tests.support.fake_handle import FakeHandle
from tests.support.fake_models import some_models
from tests.support.window import WindowRig, open_window, turns, until

ASKS = StepEvent(1, "agent", "started")
ANSWERED = ModelCallFinished(1, "answer", None, 1, None, 1, 10, 10)
LOADING = "Loading the model…"


def activity(rig: WindowRig) -> str:
    return rig.find(QLabel, "statusActivity").text()


def unloaded() -> list[EngineModels]:
    return [
        replace(engine, models=tuple(replace(model, loaded=False) for model in engine.models))
        for engine in some_models()
    ]


async def begun(rig: WindowRig, core: FakeCore) -> FakeHandle:
    """A run on the screen."""
    count = len(core.runs.handles)
    rig.type("Hi")
    rig.enter()
    await until(lambda: len(core.runs.handles) > count and rig.window.presenter.is_running)
    return core.runs.handles[-1]


async def test_loading_is_said_until_the_first_piece_comes() -> None:
    core = FakeCore()
    core.models.engines = unloaded()
    async with open_window(core) as rig:
        handle = await begun(rig, core)
        assert activity(rig) == ""
        handle.tell(ASKS)
        await until(lambda: activity(rig) == LOADING)
        handle.tell(Notice("MODEL_LACKS_TOOLS", "It answers without them."))
        await turns(5)
        assert activity(rig) == LOADING
        handle.say("Hello")
        await until(lambda: activity(rig) == "")
        handle.answer("Hello")
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)


async def test_it_is_said_no_more_once_the_run_has_failed_or_another_conversation_is_open() -> None:
    core = FakeCore()
    core.models.engines = unloaded()
    async with open_window(core) as rig:
        handle = await begun(rig, core)
        handle.tell(ASKS)
        await until(lambda: activity(rig) == LOADING)
        handle.end()
        await until(lambda: activity(rig) == "")
        await until(lambda: not rig.window.presenter.is_running)
        handle = await begun(rig, core)
        handle.tell(ASKS)
        await until(lambda: activity(rig) == LOADING)
        rig.window.presenter.open(None)
        await until(lambda: activity(rig) == "")
        rig.window.presenter.open(handle.conversation_id)
        await until(lambda: activity(rig) == LOADING, "it is still so")
        handle.end()
        await until(lambda: activity(rig) == "")


async def test_closing_is_not_covered_by_it() -> None:
    core = FakeCore()
    core.models.engines = unloaded()
    async with open_window(core) as rig:
        handle = await begun(rig, core)
        handle.tell(ASKS)
        await until(lambda: activity(rig) == LOADING)
        rig.window.status.say_activity("Closing…")
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)
        assert activity(rig) == "Closing…"


async def test_a_model_that_is_loaded_or_has_answered_in_the_run_says_nothing() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await begun(rig, core)
        asked = core.models.lists
        handle.tell(ASKS)
        await until(lambda: core.models.lists > asked)
        await turns(5)
        assert activity(rig) == ""
        asked = core.models.lists
        core.models.engines = unloaded()
        handle.tell(ANSWERED)
        await until(lambda: rig.window.status_feed.answered_run == handle.run_id)
        handle.tell(replace(ASKS, step=3))
        await turns(5)
        assert (activity(rig), core.models.lists) == ("", asked)
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)
