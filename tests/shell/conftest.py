"""Window tests: Qt's loop is the asyncio loop, and one QApplication serves the whole session.

Invariant: no test leaves a window on the screen. Async tests have no `qtbot.wait…`: it spins a nested loop.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping

import pytest
import qasync
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from tests.shell.transcript.viewing import conversation, settle, shown


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run async tests on Qt's loop."""
    return {"qt": _make_loop}


def _make_loop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = qasync.QEventLoop(QApplication.instance() or QApplication([]))
    return loop


@pytest.fixture(scope="session", autouse=True)
def application(qapp: QApplication) -> QApplication:
    """Made before any test's guards look, because it keeps descriptors for good."""
    return qapp


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let Qt's threads for large pictures live when the guards look: each holds a descriptor, and they end
    after half a minute without work."""
    if QApplication.instance() is not None:
        _use_picture_threads()


@pytest.fixture(scope="session", autouse=True)
def window_system(application: QApplication) -> None:
    """Paint once before any test's guards look: Qt opens descriptors for that which it keeps for good."""
    with shown(conversation(3)):
        settle()
    _use_picture_threads()


def _use_picture_threads() -> None:
    picture = QImage(512, 300, QImage.Format.Format_RGB32)
    picture.fill(0)
    picture.convertToFormat(QImage.Format.Format_RGBA64)


@pytest.fixture(autouse=True)
def no_window_left(application: QApplication) -> Iterator[None]:
    """Fail a test that leaves a window showing; close it, so that the next one starts clean."""
    yield
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    for widget in left:
        widget.close()
    assert not left, f"windows left showing: {[widget.objectName() or type(widget) for widget in left]}"


@pytest.fixture(autouse=True)
def garbage_is_collected_here() -> Iterator[None]:
    """Keep Qt's objects from being deleted by a worker thread (see shell/garbage.py)."""
    gc.collect()
    gc.freeze()  # what is alive need not be looked at again: each collection takes 0.2 s otherwise
    gc.disable()
    yield
    gc.enable()
