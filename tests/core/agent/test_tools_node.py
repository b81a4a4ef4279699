"""One call around the journal: what is recorded is not asked again, what is uncertain is the user's."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.agent.tools_node import NEVER_STARTED, NOT_REPEATED, OUTCOME_UNKNOWN, SKIPPED
from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.domain.events import Event, Notice, StepEvent, ToolCallFinished, ToolCallStarted
from sophos_desktop.core.domain.policy import Policy, Verdict
from sophos_desktop.core.domain.ports import ToolCallLost, ToolChanged, ToolServerDown
from sophos_desktop.core.domain.specs import ToolResult
from tests.core.agent.graph_bench import GraphBench, graph_bench, spec
from tests.support.guards import ExpectedLogs

WORK = CallPiece("here__work", {"n": 1}, "")
BUSY = SophosError(ErrorCode.STORE_BUSY, "Another program keeps the file locked")


async def work(args: Mapping[str, Any]) -> ToolResult:
    return ToolResult(f"worked on {args.get('n')}")


async def refuse(args: Mapping[str, Any]) -> ToolResult:
    return ToolResult("no such thing", is_error=True)


async def down(args: Mapping[str, Any]) -> ToolResult:
    raise ToolServerDown("it ended with code 1")


async def lose(args: Mapping[str, Any]) -> ToolResult:
    raise ToolCallLost("The server died.")


async def break_down(args: Mapping[str, Any]) -> ToolResult:
    raise ZeroDivisionError("a bug of ours")


@pytest.fixture(name="bench")
async def _bench(tmp_path: Path) -> AsyncIterator[GraphBench]:
    tools = (
        (spec("work"), work),
        (spec("look", read_only=True, trusted=True), work),
        (spec("peek", read_only=True), work),
        (spec("refuse"), refuse),
        (spec("down"), down),
        (spec("lose"), lose),
        (spec("break_down"), break_down),
    )
    async with graph_bench(tmp_path / "sophos.db", *tools) as bench:
        yield bench


@pytest.mark.parametrize("is_error", [False, True])
async def test_a_recorded_result_is_not_asked_for_again(bench: GraphBench, is_error: bool) -> None:
    first, second = await bench.open_calls(WORK, WORK)
    await bench.finished(first, ToolResult("recorded", is_error))
    await bench.go_on()
    assert await bench.results() == [("error" if is_error else "ok", "recorded"), ("ok", "worked on 1")]
    assert len(bench.catalog.called) == 1
    said = {event.tool_call_id: event.recorded for event in bench.sink.of(ToolCallFinished)}
    assert said == {first: True, second: False}


async def test_an_uncertain_call_waits_for_the_user_while_its_siblings_are_done(bench: GraphBench) -> None:
    first, _ = await bench.open_calls(WORK, WORK)
    await bench.started(first, n=1)
    await bench.go_on()
    (question,) = await bench.questions()
    assert (question.tool_call_id, question.server, question.tool) == (first, "here", "work")
    assert (question.args, question.why, question.attempt) == ({"n": 1}, "uncertain", 1)
    assert len(bench.catalog.called) == 1
    await bench.go_on()
    assert len(bench.catalog.called) == 1
    assert len(await bench.questions()) == 1


@pytest.mark.parametrize(("tool", "asks"), [("look", False), ("peek", True), ("work", True)])
async def test_only_a_trusted_call_that_may_be_repeated_is_repeated_unasked(
    bench: GraphBench, tool: str, asks: bool
) -> None:
    (call,) = await bench.open_calls(CallPiece(f"here__{tool}", {"n": 1}, ""))
    await bench.started(call, tool, n=1)
    await bench.go_on()
    assert bool(await bench.questions()) == asks
    assert bench.catalog.called == ([] if asks else [(tool, {"n": 1})])


async def test_a_call_whose_tool_is_gone_is_asked_about(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(CallPiece("here__gone", {}, ""))
    await bench.started(call, "gone")
    await bench.go_on()
    assert [question.tool for question in await bench.questions()] == ["gone"]


async def test_a_call_that_the_user_skips_is_not_made(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(WORK)
    await bench.started(call)
    await bench.go_on()
    await bench.decide(call, "skip")
    await bench.go_on()
    assert await bench.results() == [("skipped", SKIPPED)]
    assert bench.catalog.called == []


async def test_a_call_that_the_user_repeats_is_a_second_attempt_with_his_arguments(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(WORK)
    await bench.started(call, n=1)
    await bench.go_on()
    await bench.decide(call, "run-again", args={"n": 2})
    await bench.go_on()
    assert await bench.results() == [("ok", "worked on 2")]
    assert [event.attempt for event in bench.sink.of(ToolCallStarted)] == [2]
    latest = await bench.journal.latest_attempt(call)
    assert latest is not None
    assert (latest.attempt, latest.args, latest.state) == (2, {"n": 2}, "finished")


async def test_an_answer_that_the_user_enters_is_the_result(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(WORK)
    await bench.started(call)
    await bench.go_on()
    await bench.decide(call, "result", result="I looked: it is done")
    await bench.go_on()
    assert await bench.results() == [("ok", "I looked: it is done")]
    assert bench.catalog.called == []


async def test_a_repeated_call_that_is_killed_again_is_asked_about_again(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(WORK)
    await bench.started(call)
    await bench.go_on()
    await bench.decide(call, "run-again")
    await bench.started(call)
    await bench.go_on()
    assert [question.attempt for question in await bench.questions()] == [2]
    assert bench.catalog.called == []


async def test_settling_calls_nothing_and_says_of_each_call_what_is_known(bench: GraphBench) -> None:
    calls = await bench.open_calls(WORK, WORK, WORK, WORK)
    await bench.finished(calls[0], ToolResult("recorded"))
    await bench.started(calls[1])
    await bench.started(calls[2])
    await bench.decide(calls[2], "run-again")
    await bench.settle()
    assert await bench.results() == [
        ("ok", "recorded"),
        ("interrupted", OUTCOME_UNKNOWN),
        ("interrupted", OUTCOME_UNKNOWN),
        ("interrupted", NEVER_STARTED),
    ]
    assert bench.catalog.called == []
    assert len(bench.asked) == 1
    thread = await bench.graph.read("conversation")
    assert thread.unfinished
    assert not thread.must_settle


async def test_arguments_with_a_problem_are_an_error_and_no_attempt(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(CallPiece("here__work", None, "{", "The arguments are no JSON"))
    await bench.go_on()
    assert await bench.results() == [("error", "The arguments are no JSON")]
    assert await bench.journal.latest_attempt(call) is None
    assert bench.catalog.called == []


async def test_an_unknown_tool_is_an_error_that_names_what_there_is(bench: GraphBench) -> None:
    (call,) = await bench.open_calls(CallPiece("here__wrok", {}, ""))
    await bench.go_on()
    ((status, text),) = await bench.results()
    assert status == "error"
    assert "here__wrok" in text
    assert "here__work" in text
    assert await bench.journal.latest_attempt(call) is None


async def test_a_server_that_is_down_is_an_error_and_a_notice(bench: GraphBench) -> None:
    await bench.open_calls(CallPiece("here__down", {}, ""))
    await bench.go_on()
    ((status, text),) = await bench.results()
    assert (status, "it ended with code 1" in text) == ("error", True)
    assert [notice.code for notice in bench.sink.of(Notice)] == [NoticeCode.TOOL_SERVER_DOWN]


async def test_a_lost_call_says_that_nobody_knows_and_is_not_sent_again(bench: GraphBench) -> None:
    await bench.open_calls(CallPiece("here__lose", {}, ""))
    await bench.go_on()
    assert await bench.results() == [("interrupted", f"The server died. {OUTCOME_UNKNOWN}")]
    assert len(bench.catalog.called) == 1


async def test_of_four_calls_one_bug_is_one_error_and_the_others_go_on(
    bench: GraphBench, expected_logs: ExpectedLogs
) -> None:
    expected_logs("a tool call failed in our own code.*ZeroDivisionError")
    await bench.open_calls(
        WORK,
        CallPiece("here__break_down", {}, ""),
        CallPiece("here__refuse", {}, ""),
        CallPiece("here__work", {"n": 4}, ""),
    )
    await bench.go_on()
    assert await bench.results() == [
        ("ok", "worked on 1"),
        ("error", "The call failed inside Sophos: ZeroDivisionError"),
        ("error", "no such thing"),
        ("ok", "worked on 4"),
    ]
    assert (await bench.messages())[-1].text == "Done."


async def test_the_calls_of_one_step_are_one_step(bench: GraphBench) -> None:
    await bench.open_calls(WORK, WORK, WORK)
    await bench.go_on()
    started = [event for event in bench.sink.of(StepEvent) if event.node == "tools"]
    assert len(started) == 1
    assert len(bench.sink.of(ToolCallStarted)) == 3


async def test_an_attempt_that_cannot_be_recorded_is_not_made(
    bench: GraphBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.open_calls(WORK)

    async def start_attempt(*_: object) -> None:
        raise BUSY

    monkeypatch.setattr(bench.journal, "start_attempt", start_attempt)
    await bench.go_on()
    ((status, text),) = await bench.results()
    assert (status, "so it was not made" in text) == ("error", True)
    assert bench.catalog.called == []


async def test_a_result_that_cannot_be_recorded_is_still_the_answer(
    bench: GraphBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.open_calls(WORK)

    async def finish_attempt(*_: object) -> bool:
        raise BUSY

    monkeypatch.setattr(bench.journal, "finish_attempt", finish_attempt)
    await bench.go_on()
    assert await bench.results() == [("ok", "worked on 1")]


async def test_a_trace_that_is_refused_changes_no_answer(
    bench: GraphBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = await bench.open_calls(WORK, WORK, CallPiece("here__gone", {}, ""))
    await bench.finished(calls[0], ToolResult("recorded"))

    async def emit(*events: Event) -> None:
        if isinstance(events[0], ToolCallFinished):
            raise BUSY

    monkeypatch.setattr(bench.sink, "emit", emit)
    await bench.go_on()
    assert [status for status, _ in await bench.results()] == ["ok", "ok", "error"]
    assert len(bench.catalog.called) == 1


async def test_a_call_that_is_cancelled_is_uncertain_afterwards(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hang(args: Mapping[str, Any]) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with graph_bench(tmp_path / "sophos.db", (spec("hang"), hang)) as bench:
        (hanging,) = await bench.open_calls(CallPiece("here__hang", {}, ""))
        going = asyncio.ensure_future(bench.go_on())
        await asyncio.wait_for(begun.wait(), 5)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        latest = await bench.journal.latest_attempt(hanging)
        assert latest is not None
        assert latest.state == "started"
        await bench.go_on()
        assert [question.tool_call_id for question in await bench.questions()] == [hanging]


async def test_a_call_whose_tool_changed_just_before_it_was_sent_is_not_made_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    async def changed(args: Mapping[str, Any]) -> ToolResult:
        raise ToolChanged("The tool server changed its tool")

    async with graph_bench(tmp_path / "sophos.db", (spec("work"), changed)) as bench:
        await bench.open_calls(WORK)
        await bench.go_on()
        assert await bench.results() == [
            ("error", "The tool server changed its tool, so it was not made. Ask for it again.")
        ]
        assert bench.sink.of(Notice) == [], "the server is there"


async def test_a_tool_that_is_denied_meanwhile_is_neither_sent_nor_repeated(bench: GraphBench) -> None:
    first, second = await bench.open_calls(CallPiece("here__look", {}, ""), CallPiece("here__look", {}, ""))
    await bench.started(first, "look")
    await bench.decide(second, "allow")
    bench.gate.verdicts["look"] = Verdict(Policy.DENY, "You forbid this tool.")
    await bench.go_on()
    assert bench.catalog.called == []
    assert await bench.results() == [
        ("skipped", f"{NOT_REPEATED} You forbid this tool."),
        ("denied", "This call is not allowed: You forbid this tool."),
    ]
