"""The doctor proves that threads, journal and runs agree, and says where they do not."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from sophos_desktop.core.agent.graph_runner import config_of
from sophos_desktop.core.agent.messages import tool_answer
from sophos_desktop.core.agent.state import ToolTask
from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import AttachmentRef, ToolStatus
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.runs.doctor import FINDINGS_SHOWN, Check
from sophos_desktop.core.runs.journal_check import JournalCheck
from sophos_desktop.core.store.consistency import ConsistencyStore
from sophos_desktop.foundation.ids import new_id
from sophos_desktop.foundation.paths import prepare
from tests.core.runs.test_recovery import change
from tests.core.store.store_fixture import connected
from tests.support.core_fixture import (
    append,
    calls,
    end_of,
    ended,
    followed,
    open_test_core,
    paths_of,
    say,
    slow_append,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

GOLDEN = Path(__file__).parents[1] / "store" / "golden"
KEPT = '{"text": "x", "is_error": false, "content": []}'


async def journal(core: Core) -> Check:
    """What the doctor says of threads, journal and runs."""
    (check,) = [check for check in await core.doctor.examine() if check.id == "journal"]
    return check


async def with_a_call(core: Core, server: OllamaServer, file: Path) -> str:
    """A conversation in which a call was made and answered."""
    server.script(calls(append(file, "x")), Reply(pieces=("Done.",)))
    handle, events = await say(core, None, "Go")
    assert end_of(events).status == "completed"
    await until_let_go(core, handle)
    return handle.conversation_id


async def stopped_in_a_call(core: Core, server: OllamaServer, file: Path) -> str:
    """A conversation whose run was stopped while a call was under way."""
    server.script(calls(slow_append(file, "x")))
    handle = await core.runs.start(None, "Go")
    await until_lines(file, 1)
    core.runs.stop(handle.conversation_id)
    await ended(handle)
    await until_let_go(core, handle)
    return handle.conversation_id


async def write(core: Core, conversation_id: str, *messages: BaseMessage) -> None:
    """Another program writes into the thread."""
    graph = core.runs._stores.graph._graph
    await graph.aupdate_state(config_of(conversation_id), {"messages": list(messages)}, as_node="agent")
    read = await core.runs._stores.graph.read(conversation_id)
    change(core.paths.data_dir, "UPDATE conversations SET message_count = ?", read.message_count)


async def first_attempt(core: Core, conversation_id: str) -> ToolAttempt:
    return (await core.runs._stores.journal.attempts(conversation_id))[0]


async def test_what_the_program_writes_agrees_whatever_became_of_the_run(
    tool_core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    await with_a_call(tool_core, server, tmp_path / "a")
    stopped = await stopped_in_a_call(tool_core, server, tmp_path / "b")
    typed_over = await stopped_in_a_call(tool_core, server, tmp_path / "c")
    await say(tool_core, typed_over, "Never mind")
    waiting = await tool_core.runs.resume(stopped)
    assert end_of(await followed(waiting)).status == "waiting"
    skipped = await stopped_in_a_call(tool_core, server, tmp_path / "d")
    await followed(await tool_core.runs.resume(skipped))
    (question,) = await tool_core.decisions.pending(skipped)
    await tool_core.decisions.decide(skipped, question.tool_call_id, "result", result="entered")
    await followed(await tool_core.runs.proceed(skipped))
    found = await journal(tool_core)
    assert (found.ok, found.text) == (True, "Threads, journal and runs of 4 conversations agree")


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_what_earlier_versions_wrote_agrees(data_dir: Path, server: OllamaServer, version: int) -> None:
    prepare(paths_of(data_dir))
    with connected(paths_of(data_dir).database) as old:
        old.executescript((GOLDEN / f"schema-{version}.sql").read_text(encoding="utf-8"))
    async with open_test_core(data_dir, server) as core:
        found = await journal(core)
        assert (found.ok, found.text) == (True, "Threads, journal and runs of 1 conversations agree")


ATTEMPT = """INSERT INTO tool_attempts
    (conversation_id, branch_id, tool_call_id, attempt, run_id, server, tool, args, state,
     started_at, is_error)
    SELECT id, 'main', 'stranger:0', 1, 'run', 's', 't', '{}', 'finished', '', 0 FROM conversations"""
DECISION = """INSERT INTO decisions
    (conversation_id, branch_id, tool_call_id, attempt, why, decision, decided_at)
    SELECT id, 'main', 'stranger:0', 0, 'approval', 'allow', '' FROM conversations"""
ONE_NUL = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
ATTACHMENT = f"INSERT INTO attachments VALUES ('{ONE_NUL}', 'text/plain', 1, x'00')"
USE = f"""INSERT INTO attachment_uses
    SELECT id, 'tool_result', 'stranger:0', 0, '{ONE_NUL}', 'n' FROM conversations"""


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        ([f"UPDATE tool_attempts SET result = '{KEPT}'"], "is in the thread and still kept beside it"),
        (["DELETE FROM tool_attempts"], "of which the journal knows none"),
        (["UPDATE tool_attempts SET state = 'started'"], "of which the journal knows none"),
        ([ATTEMPT], "the call stranger:0 was made, but the thread does not know it"),
        ([DECISION], "the call stranger:0 was decided, but the thread does not know it"),
        (["UPDATE runs SET status = 'waiting', owner = NULL"], "waits for a decision, but nothing is asked"),
        (
            ["UPDATE runs SET status = 'running', owner = 'dead'"],
            "goes on by its row, but its process is dead",
        ),
        (["UPDATE runs SET unfinished = 1"], "work is left, but the thread is complete"),
        (["UPDATE conversations SET message_count = 9"], "9 messages are counted, but the thread has 4"),
        ([ATTACHMENT], "1 attachment is kept that nobody refers to"),
        ([ATTACHMENT, USE], "the attachment 6e340b9c is kept, but nothing refers to it"),
    ],
)
async def test_where_the_records_do_not_agree_it_says_so_with_a_remedy_and_changes_nothing(
    tool_core: Core, server: OllamaServer, tmp_path: Path, statements: Sequence[str], said: str
) -> None:
    conversation = await with_a_call(tool_core, server, tmp_path / "file")
    for statement in statements:
        change(tool_core.paths.data_dir, statement)
    found = await journal(tool_core)
    assert not found.ok
    assert "The records do not agree in one place: " in found.text
    assert said in found.text
    assert f"conversation {conversation}: " in found.text or "nobody refers" in said
    assert found.text.count(". ") == 1, "one sentence and its remedy"
    assert found.remedy
    assert (await journal(tool_core)).text == found.text


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE tool_attempts SET state = 'finished'",
            "gave a result that is neither in the thread nor kept",
        ),
        ("UPDATE runs SET unfinished = 0", "all is done, but the thread has work left"),
    ],
)
async def test_an_open_step_is_compared_too(
    tool_core: Core, server: OllamaServer, tmp_path: Path, statement: str, said: str
) -> None:
    await stopped_in_a_call(tool_core, server, tmp_path / "file")
    assert (await journal(tool_core)).ok
    change(tool_core.paths.data_dir, statement)
    found = await journal(tool_core)
    assert "in one place" in found.text
    assert said in found.text


async def test_a_call_that_was_sent_and_then_forgotten_is_found(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    asked: list[Any] = [{"id": "m:0", "name": "t", "args": {}}]
    await write(
        core, handle.conversation_id, AIMessage("", id="m", tool_calls=asked), HumanMessage("u", id="u")
    )
    assert (await journal(core)).ok
    mine = core.runs._stores.journal.of(handle.conversation_id)
    await mine.start_attempt("m:0", handle.run_id, "s", "t", {})
    assert "the call m:0 was sent, but is neither answered nor left to do" in (await journal(core)).text


async def test_an_attachment_that_a_result_refers_to_and_nobody_has_is_found(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    task = ToolTask(id="m:0", name="t", args={}, problem=None, server="s", tool="t")
    lost = AttachmentRef("ab" * 32, "n", "text/plain", 5)
    asked: list[Any] = [{"id": "m:0", "name": "t", "args": {}}]
    result = tool_answer(task, "head", ToolStatus.ERROR, {}, "", "run", lost)
    await write(core, handle.conversation_id, AIMessage("", id="m", tool_calls=asked), result)
    assert "the attachment abababab of a result is missing" in (await journal(core)).text


async def test_a_conversation_on_which_a_living_process_works_is_left_out(
    tool_core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    server.script(calls(slow_append(tmp_path / "file", "x")))
    handle = await tool_core.runs.start(None, "Go")
    await until_lines(tmp_path / "file", 1)
    found = await journal(tool_core)
    assert (found.ok, found.text) == (
        True,
        "Threads, journal and runs of 0 conversations agree; 1 could not be compared now",
    )
    tool_core.runs.stop(handle.conversation_id)
    await ended(handle)


async def test_every_conversation_is_looked_at_and_only_so_many_findings_are_told(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    copies = FINDINGS_SHOWN + 5
    for _ in range(copies):
        change(
            core.paths.data_dir,
            """INSERT INTO conversations (id, title, status, pinned, metadata, message_count, draft,
               created_at, updated_at) VALUES (?, 't', 'active', 0, '{}', 0, '', '', '')""",
            new_id(),
        )
    change(core.paths.data_dir, DECISION)
    found = await journal(core)
    assert f"in {copies + 1} places" in found.text
    assert found.text.endswith("; 6 more are not shown")
    done: list[tuple[int, int]] = []
    check = _check(core)
    assert len([finding async for finding in check.findings(lambda *far: done.append(far))]) == copies + 1
    assert done == [(count, copies + 1) for count in range(1, copies + 2)]


def _check(core: Core) -> JournalCheck:
    async def is_alive(owner: str) -> bool:
        return True

    return JournalCheck(ConsistencyStore(core.doctor._database), core.runs._stores.graph, is_alive)


async def test_a_conversation_that_changes_while_it_is_compared_counts_as_worked_on(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    check = _check(core)
    read: Callable[..., Any] = check._store.facts
    count = 0

    async def facts(conversation_id: str) -> Any:
        nonlocal count
        count += 1
        change(core.paths.data_dir, "UPDATE conversations SET message_count = ?", count)
        return await read(conversation_id)

    monkeypatch.setattr(check._store, "facts", facts)
    assert [finding async for finding in check.findings()] == []
    assert (check.checked, check.worked_on) == (0, 1)
