"""Calls that were asked about, in the trace of the window on the real core: live and read again alike."""

from pathlib import Path

import pytest

from sophos_desktop.shell.trace.trace_model import NAME, TIME, Role
from sophos_desktop.shell.trace.trace_tree import TraceTree
from tests.shell.test_trace_dock import select, told, wide
from tests.shell.test_window_approvals import uncertain
from tests.support.card_window import DONE, asked, asking_window, finished, press
from tests.support.core_fixture import LINES, append, calls, slow_append
from tests.support.window import WindowRig, until


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


def rows(rig: WindowRig) -> list[tuple[int, str, str]]:
    """Depth, name and state of what is shown below the newest run, without the phases of the model."""
    tree = rig.find(TraceTree, "traceTree")
    found: list[tuple[int, str, str]] = []
    index = tree.indexBelow(rig.window.trace.index(0, NAME))
    while index.isValid() and index.data(Role.LEVEL) > 0:
        found.append((index.data(Role.LEVEL), str(index.data()), str(index.data(Role.STATE))))
        index = tree.indexBelow(index)
    phases = ("Load model", "Read prompt", "Think", "Answer", "Ask for a tool", "Ask for 2 tools")
    return [row for row in found if row[1] not in phases]


async def read_again(rig: WindowRig, expected: list[tuple[int, str, str]]) -> None:
    """Shut the conversation and open it: the trace is read from the store."""
    conversation_id = rig.window.presenter.conversation_id
    rig.action("actionNewChat").trigger()
    await rig.opened(None)
    rig.window.presenter.open(conversation_id)
    await until(lambda: rows(rig) == expected, f"{expected}")


async def test_a_call_that_waits_is_made_in_its_own_row(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        wide(rig)
        (card,) = await asked(rig, "Write one")
        waiting = [(1, "1 · agent", "done"), (1, "2 · tools", "waiting"), (2, "append_line", "waiting")]
        await until(lambda: rows(rig) == waiting, "waiting")
        select(rig, "append_line")
        index = rig.find(TraceTree, "traceTree").currentIndex()
        assert index.siblingAtColumn(TIME).data() == "waiting"
        await read_again(rig, waiting)
        select(rig, "append_line")
        assert (told(rig)["Server"], told(rig)["Decided"]) == ("lines", "not yet")
        await until(lambda: rig.window.chat.cards.cards)
        (card,) = rig.window.chat.cards.cards
        press(card, "allowOnceButton")
        await finished(rig, core)
        made = [
            (1, "1 · agent", "done"),
            (1, "2 · tools", "done"),
            (2, "append_line", "done"),
            (1, "3 · agent", "done"),
        ]
        await until(lambda: rows(rig) == made, "made")
        assert (told(rig)["Attempt"], told(rig)["Decision"]) == ("1 of 1", "allowed")
        await read_again(rig, made)


async def test_a_call_of_which_nobody_knows_is_one_row_until_it_is_skipped(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, calls(slow_append(file, "x")), DONE, mcp=LINES) as (rig, core, _):
        wide(rig)
        card = await uncertain(rig, file)
        await until(lambda: ("slow_append", "uncertain") in [row[1:] for row in rows(rig)], "uncertain")
        assert [row[0] for row in rows(rig)] == [1, 2]
        assert rows(rig)[0][1].endswith("tools")
        select(rig, "slow_append")
        assert told(rig)["Server"] == "lines"
        press(card, "skipButton")
        await finished(rig, core)
        skipped = [(1, "1 · tools", "done"), (2, "slow_append", "skipped"), (1, "2 · agent", "done")]
        await until(lambda: rows(rig) == skipped, "skipped")
        await read_again(rig, skipped)
