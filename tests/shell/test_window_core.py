"""The window on the real core: a real store and graph, a scripted Ollama server."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.foundation.paths import resolve_paths
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


@asynccontextmanager
async def window_on(data_dir: Path, environ: Mapping[str, str]) -> AsyncIterator[WindowRig]:
    """The whole app but the tool servers and the loop."""
    options = CoreOptions(resolve_paths(data_dir, environ), environ, tool_servers=False)
    async with open_core(options) as core, open_window(core) as rig:
        yield rig


def environment(server: OllamaServer) -> dict[str, str]:
    return {"OLLAMA_HOST": server.url}


async def send(rig: WindowRig, text: str) -> None:
    rig.type(text)
    rig.enter()
    await until(lambda: rig.window.presenter.is_running)


async def finished(rig: WindowRig) -> None:
    await until(lambda: rig.shows("sendButton") and not rig.window.presenter.is_running)


async def test_a_message_is_answered_and_is_there_after_reopening(data_dir: Path) -> None:
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        server.script(Reply(pieces=("It ", "**works**", " here."), hold_after=2))
        async with window_on(data_dir, environment(server)) as rig:
            await send(rig, "Does it work?")
            await until(lambda: "It works" in rig.transcript_text)
            server.release()
            await finished(rig)
            await until(lambda: "It works here." in rig.transcript_text)
            rig.type("not sent")
            await rig.window.save()
            assert rig.titles == ["Does it work?"]
        async with window_on(data_dir, environment(server)) as rig:
            await until(lambda: "It works here." in rig.transcript_text)
            assert "Does it work?" in rig.transcript_text
            assert rig.composer.text == "not sent"


async def test_stop_keeps_what_came_and_resume_asks_again(data_dir: Path) -> None:
    async with OllamaServer() as server:
        server.script(Reply(pieces=("half of it", " and more"), hold_after=1), "All of it.")
        async with window_on(data_dir, environment(server)) as rig:
            await send(rig, "Tell me")
            await until(lambda: "half of it" in rig.transcript_text)
            rig.click("stopButton")
            await until(lambda: rig.goes_on_by)
            assert "Stopped by you" in rig.transcript_text
            rig.go_on()
            await until(lambda: "All of it." in rig.transcript_text)
            await finished(rig)
            assert not rig.shows("resumeBanner")
            assert "half of it" not in rig.transcript_text


async def test_with_the_engine_down_the_message_is_kept_and_goes_on_when_it_is_back(data_dir: Path) -> None:
    async with OllamaServer() as server:
        environ = {**environment(server), "SOPHOS_ENGINE__KIND": "ollama", "SOPHOS_ENGINE__MODEL": "smol"}
        port = server.port
        await server.stop()
        async with window_on(data_dir, environ) as rig:
            await send(rig, "Are you there?")
            await until(rig.error_card)
            error = rig.error_card()
            assert error is not None
            assert error.code == "ENGINE_UNREACHABLE"
            assert error.remedy
            async with OllamaServer(port=port) as again:
                again.script("Here I am.")
                await until(lambda: rig.goes_on_by)
                rig.go_on()
                await until(lambda: "Here I am." in rig.transcript_text)
                await finished(rig)
                assert "Are you there?" in rig.transcript_text
                assert rig.error_card() is None


async def test_closing_the_core_in_the_middle_of_an_answer_leaves_it_resumable(data_dir: Path) -> None:
    async with OllamaServer() as server:
        server.script(Reply(pieces=("begun", " not ended"), hold_after=1), "Done now.")
        options = CoreOptions(resolve_paths(data_dir, {}), environment(server), tool_servers=False)
        async with open_core(options) as core, open_window(core) as rig:
            await send(rig, "Go")
            await until(lambda: "begun" in rig.transcript_text)
            rig.window.close_for_work()
            await rig.window.save()
            await core.runs.drain(0.1)
            await until(lambda: not rig.window.presenter.is_running)
        async with window_on(data_dir, environment(server)) as rig:
            await until(lambda: rig.shows("resumeBanner"))
            assert "begun" in rig.transcript_text
            rig.click("resumeButton")
            await until(lambda: "Done now." in rig.transcript_text)
            await finished(rig)


async def test_two_conversations_stream_at_once_on_one_core(data_dir: Path) -> None:
    async with OllamaServer() as server:
        server.script(
            Reply(pieces=("first says", " end"), hold_after=1),
            Reply(pieces=("second says", " end"), hold_after=1),
        )
        async with window_on(data_dir, environment(server)) as rig:
            await send(rig, "One")
            await until(lambda: "first says" in rig.transcript_text)
            rig.action("actionNewChat").trigger()
            await rig.opened(None)
            await send(rig, "Two")
            await until(lambda: "second says" in rig.transcript_text)
            server.release()
            await finished(rig)
            assert "second says end" in rig.transcript_text
            rig.choose("One")
            await until(lambda: "first says end" in rig.transcript_text)
            await finished(rig)
            assert "second says" not in rig.transcript_text
