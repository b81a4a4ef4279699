"""What a person did before each picture was taken, in the real window.

Invariant: a scene leaves the window in the state of its name, with nothing on its way.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from sophos_desktop.core.domain.conversation import Message, Role, ToolCall
from sophos_desktop.core.domain.events import ModelCallFinished, StepEvent, ToolCallStarted
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.trace.trace_model import NAME
from sophos_desktop.shell.trace.trace_tree import TraceTree
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.pictures.stories import DECIMALS, FAILED, STOPPED, TOTALS, conversation_called
from tests.support.fake_core import FakeCore, FakeHandle
from tests.support.fake_core_parts import interrupted
from tests.support.window import WindowRig, turns, until

Scene = Callable[[WindowRig, FakeCore], Awaitable[None]]
URL = (
    "https://data.example.org/exports/2026/tariffs.csv?region=eu&columns=code,rate,valid_from&encoding=utf-8"
)


async def _open(rig: WindowRig, core: FakeCore, title: str) -> None:
    rig.window.presenter.open(conversation_called(core, title))
    await rig.opened(conversation_called(core, title))
    rig.composer.setFocus()
    await turns(20)


async def _ask(rig: WindowRig, core: FakeCore, text: str) -> FakeHandle:
    rig.action("actionNewChat").trigger()
    await rig.opened(None)
    rig.type(text)
    rig.enter()
    await until(lambda: rig.window.presenter.is_running)
    return core.runs.handles[-1]


async def main(rig: WindowRig, core: FakeCore) -> None:
    """An answer with two calls, one of them open, and the next message half written."""
    await _open(rig, core, TOTALS)
    await until(lambda: "Thought for 2.6 s" in rig.transcript_text)
    card = next(card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard))
    below = QPoint(40, card.height() - 18)
    row = card.childAt(below)
    assert row is not None
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=row.mapFrom(card, below))
    rig.composer.setFocus()
    rig.type("Also write the totals to totals.json")
    tree, index = rig.find(TraceTree, "traceTree"), rig.window.trace.index(0, NAME)
    while index.isValid() and index.data() != "open_nodes":
        index = tree.indexBelow(index)
    tree.setCurrentIndex(index)


async def streaming(rig: WindowRig, core: FakeCore) -> None:
    """An answer that is being written."""
    handle = await _ask(rig, core, "Fetch the tariff table")
    handle.think("Look at the page first", "a1")
    call = ToolCall("a1:0", "fetch", "fetch", {"url": URL})
    handle.store(Message("a1", Role.ASSISTANT, "I look the table up.", "Look at the page first", (call,)))
    handle.call(call, "code;rate\n0101;4.5")
    handle.say("The table has **twelve** rows; the first", "a2")
    await until(lambda: "twelve" in rig.transcript_text)


async def transcript(rig: WindowRig, core: FakeCore) -> None:
    """Everything that Markdown has."""
    await _open(rig, core, DECIMALS)
    await until(lambda: "Thought for 4.1 s" in rig.transcript_text)


async def approval(rig: WindowRig, core: FakeCore) -> None:
    """Two calls of one turn that wait, one of them uncertain."""
    handle = await _ask(rig, core, "Fetch the EU tariffs and note that you did.")
    note = {"path": "notes/tariffs.md", "line": "EU table fetched, 30 Nov"}
    calls = (
        ToolCall("a1:0", "files", "append_line", note),
        ToolCall("a1:1", "fetch", "fetch", {"url": URL}),
    )
    handle.tell(StepEvent(1, "agent", "started"))
    handle.tell(ModelCallFinished(1, "a1", 0, 900, 0, 1200, 1000, 80))
    handle.tell(StepEvent(1, "agent", "finished", 2100, "1f0b3c5e-77aa-6000"))
    handle.store(Message("a1", Role.ASSISTANT, "", None, calls, run_id=handle.run_id))
    handle.tell(StepEvent(2, "tools", "started"))
    handle.tell(ToolCallStarted("a1:0", "files", "append_line", note, 1))
    core.ask(handle, "a1:0", "uncertain", ends=False, tool="append_line", args=note)
    core.ask(
        handle,
        "a1:1",
        "approval",
        server="fetch",
        tool="fetch",
        args=dict(calls[1].args),
        reason="It reaches the network",
        scope="data.example.org",
    )
    await until(lambda: not rig.window.presenter.is_running)


async def stopped(rig: WindowRig, core: FakeCore) -> None:
    """An answer that the person stopped, and what was left out of its prompt."""
    await _open(rig, core, STOPPED)
    await until(lambda: "left out" in rig.transcript_text)


async def failed(rig: WindowRig, core: FakeCore) -> None:
    """A run that ended with an error, after a call that failed."""
    await _open(rig, core, FAILED)


async def resumable(rig: WindowRig, core: FakeCore) -> None:
    """A run that a kill cut off."""
    key = conversation_called(core, TOTALS)
    core.conversations.touch(key, interrupted(key))
    await _open(rig, core, TOTALS)
    assert core.conversations.known[key].last_run
    await until(lambda: rig.shows("resumeBanner"))


async def empty(rig: WindowRig, _core: FakeCore) -> None:
    """A new chat."""
    rig.action("actionNewChat").trigger()
    await rig.opened(None)
    rig.composer.setFocus()


async def narrow(rig: WindowRig, core: FakeCore) -> None:
    """The smallest window in which one would work."""
    rig.window.resize(680, 620)
    await _open(rig, core, TOTALS)
    await until(lambda: "Thought for 2.6 s" in rig.transcript_text)


async def find(rig: WindowRig, core: FakeCore) -> None:
    """Hits in the conversation."""
    await _open(rig, core, TOTALS)
    rig.action("actionFind").trigger()
    rig.transcript.find_bar.field.setText("orders")
    await turns(20)


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        main,
        streaming,
        transcript,
        approval,
        stopped,
        failed,
        resumable,
        empty,
        narrow,
        find,
    )
}
TALL = {"transcript": 1240}
"""Scenes whose window is higher than the usual one, with their heights."""
ENDING = RunStatus.CANCELLED
