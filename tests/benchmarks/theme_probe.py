"""A full window as a process that changes its theme: `… -m tests.benchmarks.theme_probe`.

200 conversations in the list, one of 200 messages open, the dock shown with the steps of its run. Prints one
JSON line with the best of several, in seconds of processor time: `switch` and `zoom` are ours; `bare` is
QApplication.setStyleSheet with the same sheet and nothing else, Qt's own polishing of the same widgets.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable

import qasync
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.theme.style_sheet import style_sheet
from sophos_desktop.shell.theme.tokens import DARK, LIGHT
from tests.shell.test_trace_model import BEGIN, CALL, END, RESULT, run_record, step, stored
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.window import WindowRig, open_window, turns, until

ROUNDS = 15
_ANSWER = "# Totals\n\nAn *answer* with `code`.\n\n```python\nx = {number}\n```\n\n- one\n- two\n"


def _core() -> FakeCore:
    core = FakeCore()
    for number in range(199):
        core.conversations.add(f"Conversation {number}", user("Total them."), assistant("Done."))
    texts = [
        part
        for number in range(100)
        for part in (user(f"Question {number}?"), assistant(_ANSWER.format(number=number)))
    ]
    conversation_id = core.conversations.add("Long", *texts)
    core.runs.records[conversation_id] = {"r1": run_record("r1")}
    core.conversations.traces["r1"] = stored(
        BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000), END
    )
    core.settings.set("ui.theme", "light")
    return core


async def _best(change: Callable[[int], object]) -> float:
    """Of several rounds; what a change leaves to later is let run between them, but not counted."""
    taken = []
    for number in range(ROUNDS):
        began = time.process_time()
        change(number)
        taken.append(time.process_time() - began)
        await turns(5)
    return min(taken)


async def _measure(rig: WindowRig) -> dict[str, float]:
    window = rig.window
    window.resize(1280, 800)
    rig.choose("Long")
    await until(lambda: len(window.chat.transcript.model) >= 200)
    await until(lambda: window.trace.rowCount(window.trace.run_index("r1")) > 0)
    await turns(50)
    switch = await _best(lambda number: window.theme.choose(("dark", "light")[number % 2]))
    zoom = await _best(lambda number: window.theme.choose_zoom((110, 100)[number % 2]))
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    sheets = [style_sheet(tokens) for tokens in (DARK, LIGHT)]
    window.setStyleSheet("")
    bare = await _best(lambda number: application.setStyleSheet(sheets[number % 2]))
    application.setStyleSheet("")
    return {"switch": switch, "zoom": zoom, "bare": bare}


async def _run() -> None:
    async with open_window(_core()) as rig:
        print(json.dumps(await _measure(rig)), flush=True)


def main() -> int:
    """Measure once."""
    application = QApplication(sys.argv[:1])
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(_run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
