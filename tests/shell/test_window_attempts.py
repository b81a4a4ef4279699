"""Runs that did not end well, in the window on the real core: what stays of them, live and reopened."""

import os
import signal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextEdit

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.foundation.paths import resolve_paths
from sophos_desktop.shell.chat.cards.uncertain_card import UncertainCard
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.e2e.cli_program import Program
from tests.support.card_window import DONE, asked, asking_window, cards, finished, part, press
from tests.support.core_fixture import LINES, OLLAMA, append, calls, open_test_core, slow_append, until_lines
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until

FIRST = Reply(pieces=("First half", " and more"), hold_after=1)
SECOND = Reply(pieces=("Second half", " and more"), hold_after=1)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.fixture
def program(data_dir: Path, environ: dict[str, str]) -> Program:
    """The command line, as a child process on the window's folder."""
    return Program(data_dir, environ)


def lines(rig: WindowRig) -> list[str]:
    """What is read, without figures and times."""
    read = [line.split("\t")[0].split(" · smol")[0] for line in rig.transcript_text.splitlines()]
    return [line for line in read if line and not line.startswith("Ollama at ")]


def heads(rig: WindowRig) -> list[str]:
    found = [card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard)]
    return [head.state_words for card in found for head in card.heads]


async def reopen(rig: WindowRig) -> None:
    """Look at a new chat, and come back."""
    conversation_id = rig.window.presenter.conversation_id
    rig.window.presenter.open(None)
    await rig.opened(None)
    rig.window.presenter.open(conversation_id)
    await rig.opened(conversation_id)


async def test_a_half_answer_stays_until_the_whole_one_is_there(data_dir: Path) -> None:
    async with asking_window(data_dir, FIRST, SECOND, Reply(pieces=("All of it.",))) as (rig, core, _):
        rig.type("Tell me")
        rig.enter()
        await until(lambda: "First half" in rig.transcript_text)
        rig.click("stopButton")
        await until(lambda: rig.goes_on_by)
        assert lines(rig) == ["Tell me", "First half", "Stopped by you; Continue writes it anew"]
        rig.go_on()
        await until(lambda: "Second half" in rig.transcript_text)
        assert lines(rig)[:4] == ["Tell me", "First half", "Stopped by you", "Second half"]
        rig.click("stopButton")
        await until(lambda: rig.goes_on_by)
        both = [
            "Tell me",
            "First half",
            "Stopped by you",
            "Second half",
            "Stopped by you; Continue writes it anew",
        ]
        assert lines(rig) == both
        await reopen(rig)
        assert lines(rig) == both
        rig.go_on()
        await until(lambda: "All of it." in rig.transcript_text)
        await finished(rig, core)
        assert "half" not in rig.transcript_text
        await reopen(rig)
        assert lines(rig)[:2] == ["Tell me", "All of it."]
        assert "half" not in rig.transcript_text


async def test_a_half_answer_of_a_killed_run_stays_as_one_that_was_stopped_does(program: Program) -> None:
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        program.use(server)
        options = CoreOptions(resolve_paths(program.data_dir, {}), program.environ, tool_servers=False)
        async with open_core(options) as core, open_window(core) as rig:
            server.script(FIRST, SECOND, "All of it.")
            async with program.started("ask", "Tell me") as other:
                await server.wait_held()
                await until(lambda: "Tell me" in rig.titles)
                rig.choose("Tell me")
                (known,) = await core.conversations.find_all()
                while not await core.runs._stores.trace.partials(known.id):
                    await until(lambda: True)
                os.kill(other.process.pid, signal.SIGKILL)
                await other.end()
            await until(lambda: rig.shows("resumeBanner"), "its death is noticed within seconds")
            anew = "Resume writes it anew; this half stays until then."
            assert rig.banner("resumeBanner").text == anew
            assert not any("interrupted" in line for line in lines(rig))
            rig.go_on()
            await until(lambda: "Second half" in rig.transcript_text)
            assert "First half" in rig.transcript_text
            rig.click("stopButton")
            await until(lambda: rig.goes_on_by)
            await until(lambda: "It was interrupted" in lines(rig))
            assert "First half" in rig.transcript_text
            await reopen(rig)
            assert [one for one in lines(rig) if "half" in one] == ["First half", "Second half"]
            rig.go_on()
            await until(lambda: "All of it." in rig.transcript_text)
            await until(lambda: rig.shows("sendButton"))
            assert "half" not in rig.transcript_text


async def test_after_a_kill_the_uncertain_call_is_asked_about_where_it_was_told(
    program: Program, file: Path
) -> None:
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        program.use(server)
        server.script(calls(slow_append(file, "x")), DONE)
        async with open_test_core(program.data_dir, server, mcp=LINES):
            pass  # writes the configuration
        async with program.started("ask", "Write slowly") as other:
            await until_lines(file, 1)
            os.kill(other.process.pid, signal.SIGKILL)
            await other.end()
        async with open_test_core(program.data_dir, server, mcp=LINES) as core, open_window(core) as rig:
            await until(lambda: "Write slowly" in rig.titles)
            rig.choose("Write slowly")
            await until(lambda: heads(rig) == ["Uncertain"])
            assert rig.banner("resumeBanner").text == "1 call is uncertain; Resume settles that first."
            rig.go_on()
            await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
            (card,) = cards(rig)
            assert isinstance(card, UncertainCard)
            await until(lambda: not card.again.visibleRegion().isEmpty())
            assert heads(rig) == []
            press(card, "skipButton")
            await finished(rig, core)
            assert heads(rig) == ["Skipped"]
            await until(lambda: "It was interrupted: 1 call was uncertain" in lines(rig))


async def test_why_a_question_has_no_answer_stays_when_the_next_message_is_sent(data_dir: Path) -> None:
    async with asking_window(data_dir, Reply(pieces=()), DONE) as (rig, core, _):
        rig.type("Nothing?")
        rig.enter()
        await until(rig.error_card)
        error = rig.error_card()
        assert error is not None
        line = f"{error.title} · EMPTY_ANSWER"
        rig.type("Next")
        rig.enter()
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        assert rig.error_card() is None
        assert lines(rig)[:4] == ["Nothing?", line, "Next", "Done."]
        await reopen(rig)
        assert lines(rig)[:4] == ["Nothing?", line, "Next", "Done."]


async def test_a_failure_that_a_resume_made_good_leaves_nothing(data_dir: Path) -> None:
    async with asking_window(data_dir, Reply(pieces=()), DONE, DONE) as (rig, core, _):
        rig.type("Nothing?")
        rig.enter()
        await until(rig.error_card)
        rig.go_on()
        await until(lambda: "Done." in rig.transcript_text)
        await finished(rig, core)
        rig.type("Next")
        rig.enter()
        await until(lambda: rig.transcript_text.count("Done.") == 2)
        await finished(rig, core)
        assert "EMPTY_ANSWER" not in rig.transcript_text


async def test_a_call_with_changed_arguments_says_so_live_and_reopened(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        field = part(card, QTextEdit, "approvalArguments")
        field.setPlainText(field.toPlainText().replace('"one"', '"two"'))
        await until(lambda: card.findChild(QTextEdit, "approvalArguments"))
        press(card, "allowOnceButton")
        await finished(rig, core)
        await until(lambda: [words.endswith("· Changed by you") for words in heads(rig)] == [True])
        await reopen(rig)
        await until(lambda: [words.endswith("· Changed by you") for words in heads(rig)] == [True])


async def test_a_call_that_the_step_limit_kept_from_running_says_so_until_the_run_goes_on(
    data_dir: Path, file: Path
) -> None:
    settings = OLLAMA + "[answer]\nstep_limit = 1\n"
    async with OllamaServer((FakeModel("smol:latest"),)) as server:
        server.script(calls(append(file, "x")), DONE)
        async with (
            open_test_core(data_dir, server, mcp=LINES, settings=settings) as core,
            open_window(core) as rig,
        ):
            rig.type("Write")
            rig.enter()
            await until(lambda: heads(rig) == ["Not run"])
            button = rig.goes_on_by
            assert button is not None
            assert (button.objectName(), button.text()) == ("errorAction", "Continue")
            assert not rig.shows("resumeBanner")
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            await until_lines(file, 1)
            await until(lambda: rig.shows("sendButton") and "Done" in heads(rig)[0])
