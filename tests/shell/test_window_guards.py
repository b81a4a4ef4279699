"""Window tests run on Qt's loop, with real parts of asyncio."""

import asyncio
import sys

import qasync
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot


async def test_async_window_tests_run_on_the_loop_of_qt(qtbot: QtBot) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, qasync.QEventLoop)
    fired: asyncio.Future[str] = loop.create_future()
    QTimer.singleShot(0, lambda: fired.set_result("by Qt"))
    assert await asyncio.wait_for(fired, 5) == "by Qt"


async def test_child_processes_work_on_the_loop_of_qt() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('hello')", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(child.communicate(), 20)
    assert output.split() == [b"hello"]
