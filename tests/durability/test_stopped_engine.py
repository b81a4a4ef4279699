"""An engine that is stopped (SIGSTOP) answers nothing and closes nothing: the run waits, and Stop works."""

import asyncio
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.core.domain.events import TextDelta
from tests.durability.engine_process import Engine, running_engine
from tests.durability.scenario import TALK, TALK_QUESTION
from tests.support.core_fixture import (
    end_of,
    ended,
    followed,
    open_test_core,
    transcript,
    until_event,
    until_let_go,
)

pytestmark = pytest.mark.long
SETTINGS = '[engine]\nkind = "ollama"\nmodel = "scripted:latest"\n'
WHOLE = [("user", TALK_QUESTION), ("assistant", "".join(TALK))]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine that stops in the middle of its talk."""
    with running_engine(tmp_path, holding=True) as running:
        yield running


@contextmanager
def stopped(process: "subprocess.Popen[str]") -> Iterator[None]:
    """It does not run while the block runs."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def release(engine: Engine) -> None:
    """Let the engine go on with its talk, now and later."""
    request = urllib.request.Request(f"{engine.url}/control/release", method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        answer.read()


async def test_a_run_waits_for_a_stopped_engine_and_goes_on_with_it(engine: Engine, data_dir: Path) -> None:
    async with open_test_core(data_dir, engine.url, settings=SETTINGS) as core:
        handle = await core.runs.start(None, TALK_QUESTION)
        await until_event(handle, TextDelta, 2)
        with stopped(engine.process):
            # The file and the other commands do not care.
            assert await transcript(core, handle.conversation_id) == WHOLE[:1]
            assert core.runs.works_on(handle.run_id)
        await asyncio.to_thread(release, engine)
        assert end_of(await followed(handle)).status == "completed"
        assert await transcript(core, handle.conversation_id) == WHOLE


async def test_stop_works_while_the_engine_is_stopped_in_the_middle_of_its_answer(
    engine: Engine, data_dir: Path
) -> None:
    async with open_test_core(data_dir, engine.url, settings=SETTINGS) as core:
        handle = await core.runs.start(None, TALK_QUESTION)
        await until_event(handle, TextDelta, 2)
        with stopped(engine.process):
            assert core.runs.stop(handle.conversation_id)
            end = await ended(handle)
            assert (end.status, end.resumable) == ("cancelled", True)
            partial = (await core.conversations.messages(handle.conversation_id))[-1]
            assert (partial.text, partial.state) == ("".join(TALK[:2]), MessageState.STOPPED)
            await until_let_go(core, handle)
        await asyncio.to_thread(release, engine)
        resumed = await core.runs.resume(handle.conversation_id)
        assert end_of(await followed(resumed)).status == "completed"
        assert await transcript(core, handle.conversation_id) == WHOLE


async def test_stop_works_where_the_engine_was_stopped_before_the_run_began(
    engine: Engine, data_dir: Path
) -> None:
    await asyncio.to_thread(release, engine)
    async with open_test_core(data_dir, engine.url, settings=SETTINGS) as core:
        with stopped(engine.process):
            handle = await core.runs.start(None, TALK_QUESTION)
            assert core.runs.stop(handle.conversation_id)
            end = await ended(handle)
            assert (end.status, end.error_code) == ("cancelled", None)
            await until_let_go(core, handle)
        if end.resumable:
            again = await core.runs.resume(handle.conversation_id)
        else:
            assert await core.conversations.draft(handle.conversation_id) == TALK_QUESTION
            again = await core.runs.start(handle.conversation_id, TALK_QUESTION)
        assert end_of(await followed(again)).status == "completed"
        assert await transcript(core, handle.conversation_id) == WHOLE
