"""Runs of the real program: answers, two at once, signals, and a run that another process follows."""

import asyncio
import signal
import sys

from tests.e2e.cli_program import SECONDS, Program
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.sources import ROOT

HELD = Reply(pieces=("Once upon", " a time", " there was a test."), hold_after=2)

WITHOUT_QT = """
import importlib.abc, sys

class NoQt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ImportError(f"{name} is Qt")

sys.meta_path.insert(0, NoQt())
from sophos_desktop.cli.main import main
code = main(["--help"] if sys.argv[1:] == ["help"] else sys.argv[1:])
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("PySide6", "qasync", "langgraph"))
print("loaded", *(name for name in loaded if "." not in name))
sys.exit(code)
"""


async def run_without_qt(program: Program, *argv: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WITHOUT_QT,
        *argv,
        cwd=ROOT,
        env=program.environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode is not None
    return process.returncode, (out + err).decode()


async def test_the_program_answers_and_never_imports_qt(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        asked = await program("ask", "hello")
        assert (asked.code, asked.out) == (0, "Hello!\n")
        conversation_id = asked.err.splitlines()[0].removeprefix("conversation ")
        server.script("It goes on.")
        async with program.started("ask", "-c", conversation_id[-6:], "--json", "-", stdin=-1) as piped:
            assert piped.process.stdin is not None
            piped.process.stdin.write("a question, über Röhren\n".encode())
            piped.process.stdin.close()
            events = (await piped.end()).events
        assert events[-1]["status"] == "completed"
        assert server.chats[-1].body["messages"][-1]["content"] == "a question, über Röhren"
        code, said = await run_without_qt(program, "ask", "without a window")
        assert (code, "loaded langgraph" in said) == (0, True), said
    code, said = await run_without_qt(program, "config")
    assert (code, said.splitlines()[-1]) == (0, "loaded"), "settings need neither Qt nor the agent"


async def test_two_at_once_on_one_conversation_and_a_third_that_follows(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script("First.", HELD)
        asked = await program("ask", "hello")
        conversation_id = asked.err.split()[1]
        async with program.started("ask", "-c", conversation_id, "--json", "tell me") as first:
            await server.wait_held()
            async with program.started("follow", conversation_id, "--json") as follower:
                refusals = await asyncio.gather(
                    program("ask", "-c", conversation_id, "and me", "--json"),
                    program("resume", conversation_id),
                    program("delete", conversation_id, "--yes"),
                )
                assert [refused.code for refused in refusals] == [5, 5, 5]
                assert refusals[0].json["error"]["code"] == "SESSION_IN_PROGRESS"
                assert all("error SESSION_IN_PROGRESS: " in refused.err for refused in refusals)
                server.release()
                told, followed = (await first.end()), (await follower.end())
    assert (told.code, followed.code) == (0, 0)
    lasting = [event["seq"] for event in told.events if event["type"] not in ("text", "thinking")]
    assert [event["seq"] for event in followed.events] == lasting
    assert followed.events[-2]["message"]["text"] == "Once upon a time there was a test."


async def test_who_follows_a_run_whose_process_dies_gets_its_outcome(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(HELD)
        async with program.started("ask", "tell me") as owner:
            conversation_id = (await owner.line(of_stderr=True)).split()[1]
            await server.wait_held()
            async with program.started("follow", conversation_id) as follower:
                assert "begins with ollama/smol:latest" in await follower.line()
                owner.process.kill()
                followed = await follower.end()
    assert followed.code == 143
    assert followed.out.splitlines()[-2:] == [
        "recovered it was interrupted and can be resumed",
        "end interrupted  (can be resumed)",
    ]


async def test_interrupting_stops_the_run_and_keeps_what_arrived(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(HELD)
        async with program.started("ask", "tell me") as asked:
            assert await asked.text("time") == "Once upon a time"
            asked.process.send_signal(signal.SIGINT)
            stopped = await asked.end()
        assert (stopped.code, stopped.out) == (130, "\n")
        assert (await server.wait_ended()).disconnected
        conversation_id = stopped.err.split()[1]
        assert f"cancelled: go on with `sophos-desktop resume {conversation_id}`" in stopped.err
        shown = (await program("show", conversation_id, "--json")).json
        assert [(m["text"], m["state"]) for m in shown["messages"]][1:] == [("Once upon a time", "stopped")]
        server.script(HELD, "The end.")
        async with program.started("resume", conversation_id, "--json") as again:
            await again.text('" a time"}\n')
            again.process.send_signal(signal.SIGINT)
            again.process.send_signal(signal.SIGINT)
            twice = await again.end()
        assert twice.code == 130
        resumed = await program("resume", conversation_id)
        assert (resumed.code, resumed.out) == (0, "The end.\n")


async def test_terminating_drains_the_run_so_that_it_can_be_resumed(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("I call. ",), calls=(program.append("x"),)), HELD, "Done.")
        async with program.started("ask", "--json", "append") as asked:
            await server.wait_held()
            asked.process.send_signal(signal.SIGTERM)
            drained = await asked.end()
        assert drained.code == 143
        end = drained.events[-1]
        assert (end["type"], end["status"], end["resumable"]) == ("end", "interrupted", True)
        resumed = await program("resume", drained.events[0]["conversation_id"])
        assert (resumed.code, resumed.out) == (0, "Done.\n")
    assert program.appended() == ["x"]
