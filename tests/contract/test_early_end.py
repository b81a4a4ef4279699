"""A command that is ended before its run is there ends clean, and one that was claimed keeps the text."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import aiosqlite
import pytest

from sophos_desktop.cli import main
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.parser import PROGRAM
from sophos_desktop.cli.signals import Request
from sophos_desktop.core.runs.model_choice import ModelChoice
from tests.contract.in_process import Program

SECONDS = 0.2
"""How long a database takes to open on a slow disk; nothing is measured against it."""


async def test_ctrl_c_while_the_database_opens_leaves_no_thread_behind_that_fails(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    opened = threading.Event()

    def slowly() -> sqlite3.Connection:
        threading.Event().wait(SECONDS)
        connection = sqlite3.connect(tmp_path / "x.db", check_same_thread=False)
        connection.close()
        opened.set()
        return connection

    async def interrupted(call: Invocation) -> int:
        asyncio.get_running_loop().call_soon(call.signals.deliver, Request.STOP)
        await aiosqlite.Connection(slowly, 64)
        raise AssertionError("it was cancelled")

    monkeypatch.setattr(main, "_command", lambda name: interrupted)
    ended = await program("list")
    assert ended.code == 130
    assert opened.is_set(), "the loop waited for it"
    assert failed == []
    assert not [one for one in threading.enumerate() if "_connection_worker_thread" in one.name]


async def test_who_ends_a_run_right_after_its_claim_is_told_where_the_text_is(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_here(_: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    monkeypatch.setattr(ModelChoice, "make", end_here)
    ended = await program("ask", "Remember the milk")
    conversation_id = ended.err.split()[1]
    assert ended.code == 143
    told = "interrupted: what was not sent is kept as the draft; see it with"
    assert f"{told} `{PROGRAM} show {conversation_id}`" in ended.err
    assert (await program("show", "--json", conversation_id)).json["draft"] == "Remember the milk"
