"""Tests that misbehave, each in one way: tests/architecture/test_guards.py runs a copy of this file.

Invariant: the name of a test says how it ends: `test_fails_…` or `test_passes_…`.
"""

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import qWarning

from tests.support.guards import ExpectedLogs

kept: list[Any] = []
release = threading.Event()


def test_fails_for_a_warning() -> None:
    warnings.warn("deprecated", DeprecationWarning, stacklevel=1)


def test_fails_for_a_log_record() -> None:
    logging.getLogger("sample").warning("something is wrong")


def test_passes_with_an_announced_log_record(expected_logs: ExpectedLogs) -> None:
    expected_logs("sample: something is wr.ng")
    logging.getLogger("sample").warning("something is wrong")


def test_fails_for_an_announcement_that_does_not_come_true(expected_logs: ExpectedLogs) -> None:
    expected_logs("nobody says this")


def test_fails_for_a_qt_message() -> None:
    qWarning("a timer cannot be started from another thread")


def test_passes_with_an_announced_qt_message(expected_logs: ExpectedLogs) -> None:
    expected_logs("QT default: a timer")
    qWarning("a timer cannot be started from another thread")


async def test_fails_for_a_pending_task() -> None:
    kept.append(asyncio.ensure_future(asyncio.Event().wait()))


async def test_fails_for_a_task_whose_error_nobody_hears() -> None:
    async def fail() -> None:
        raise ValueError("unheard")

    await asyncio.wait([asyncio.ensure_future(fail())])


async def test_passes_with_a_finished_task() -> None:
    await asyncio.ensure_future(asyncio.sleep(0))


def test_fails_for_a_thread() -> None:
    threading.Thread(target=release.wait, name="left-behind", daemon=True).start()


def test_passes_with_a_thread_that_ends() -> None:
    release.set()
    threading.Thread(target=release.wait).start()


def test_fails_for_a_child_process() -> None:
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))


def test_fails_for_a_descriptor(tmp_path: Path) -> None:
    kept.append(os.open(tmp_path / "left", os.O_CREAT | os.O_WRONLY))


def test_fails_for_a_socket() -> None:
    kept.append(socket.socket())


def test_fails_for_a_connection_beyond_this_machine() -> None:
    with socket.socket() as connection, pytest.raises(OSError, match="network guard"):
        connection.connect(("192.0.2.1", 80))


def test_fails_for_a_look_up_beyond_this_machine() -> None:
    with pytest.raises(OSError, match="network guard"):
        socket.getaddrinfo("example.org", 80)


async def test_fails_for_an_async_connection_beyond_this_machine() -> None:
    with pytest.raises(OSError, match="network guard"):
        await asyncio.open_connection("example.org", 80)


def test_passes_with_a_name_that_cannot_exist() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nobody.invalid", 80)


async def test_passes_with_a_connection_to_loopback() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(greet, "localhost", 0)
    async with server:
        host, port = server.sockets[0].getsockname()[:2]
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


def test_passes_without_the_persons_settings() -> None:
    assert "SOPHOS_DATA_DIR" not in os.environ
    assert "OLLAMA_HOST" not in os.environ
    assert "LANGSMITH_TRACING" not in os.environ


@pytest.mark.needs_node
def test_is_left_out_without_node() -> None:
    pass
