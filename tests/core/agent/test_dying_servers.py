"""A call whose server dies under it is as uncertain as one that the death of the app cut off."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.agent.tools_node import CHANGED, DENIED, OUTCOME_UNKNOWN, TRIES_OF_REPEATABLE
from sophos_desktop.core.domain.events import Notice, ToolCallStarted
from sophos_desktop.core.domain.policy import Policy, Verdict
from sophos_desktop.core.domain.ports import ToolCallLost
from sophos_desktop.core.domain.specs import ToolResult
from tests.core.agent.graph_bench import GraphBench, graph_bench, spec


class Dying:
    """A tool whose server dies at its first calls."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths
        self.calls = 0

    async def __call__(self, args: Mapping[str, Any]) -> ToolResult:
        self.calls += 1
        if self.calls <= self.deaths:
            raise ToolCallLost("The tool server here ended during the call", server_died=True)
        return ToolResult(f"done at call {self.calls}")


@pytest.fixture(name="write")
def _write() -> Dying:
    return Dying(1)


@pytest.fixture(name="look")
def _look() -> Dying:
    return Dying(1)


@pytest.fixture(name="doomed")
def _doomed() -> Dying:
    return Dying(1000)


@pytest.fixture(name="bench")
async def _bench(tmp_path: Path, write: Dying, look: Dying, doomed: Dying) -> AsyncIterator[GraphBench]:
    tools = (
        (spec("write"), write),
        (spec("look", read_only=True, trusted=True), look),
        (spec("doomed", read_only=True, trusted=True), doomed),
    )
    async with graph_bench(tmp_path / "sophos.db", *tools) as bench:
        yield bench


async def test_it_is_asked_about_and_made_again_only_if_the_user_says_so(
    bench: GraphBench, write: Dying
) -> None:
    (call,) = await bench.open_calls(CallPiece("here__write", {"n": 1}, ""))
    await bench.go_on()
    (question,) = await bench.questions()
    assert (question.tool_call_id, question.why, question.attempt) == (call, "uncertain", 1)
    assert len(bench.sink.of(Notice)) == 1
    await bench.go_on()
    assert write.calls == 1, "entering again asks again and calls nothing"
    await bench.decide(call, "run-again")
    await bench.go_on()
    assert await bench.results() == [("ok", "done at call 2")]
    assert [event.attempt for event in bench.sink.of(ToolCallStarted)] == [1, 2]


async def test_what_may_be_repeated_is_made_again_by_itself(bench: GraphBench, look: Dying) -> None:
    await bench.open_calls(CallPiece("here__look", {}, ""))
    await bench.go_on()
    assert await bench.results() == [("ok", "done at call 2")]
    assert look.calls == 2


async def test_a_server_that_dies_each_time_is_given_up(bench: GraphBench, doomed: Dying) -> None:
    (call,) = await bench.open_calls(CallPiece("here__doomed", {}, ""))
    await bench.go_on()
    ((status, text),) = await bench.results()
    assert (status, OUTCOME_UNKNOWN in text) == ("interrupted", True)
    assert doomed.calls == TRIES_OF_REPEATABLE
    latest = await bench.journal.latest_attempt(call)
    assert latest is not None
    assert latest.state == "finished"


async def test_settling_after_the_death_says_that_the_outcome_is_unknown(
    bench: GraphBench, write: Dying
) -> None:
    await bench.open_calls(CallPiece("here__write", {}, ""))
    await bench.go_on()
    await bench.settle()
    assert await bench.results() == [("interrupted", OUTCOME_UNKNOWN)]
    assert write.calls == 1


async def test_the_gate_asks_denies_and_is_told_what_the_turn_heard(bench: GraphBench, look: Dying) -> None:
    bench.gate.verdicts["look"] = Verdict(Policy.DENY, "You forbid this tool.")
    bench.gate.verdicts["write"] = Verdict(Policy.ASK, "It may change something.", "a.example")
    denied, asked = await bench.open_calls(
        CallPiece("here__look", {}, ""), CallPiece("here__write", {"n": 1}, "")
    )
    await bench.go_on()
    (question,) = await bench.questions()
    assert (question.tool_call_id, question.why, question.attempt) == (asked, "approval", 0)
    assert (question.reason, question.scope) == ("It may change something.", "a.example")
    assert look.calls == 0
    assert denied != asked
    assert bench.gate.heard == {"look": [], "write": []}
    await bench.decide(asked, "deny", reason="No")
    await bench.settle()
    statuses = dict(await bench.results())
    assert statuses["denied"].startswith(("This call is not allowed", DENIED))


async def test_an_answer_holds_for_the_definition_that_was_shown_alone(
    bench: GraphBench, look: Dying
) -> None:
    bench.gate.verdicts["look"] = Verdict(Policy.ASK)
    first, second = await bench.open_calls(CallPiece("here__look", {}, ""), CallPiece("here__look", {}, ""))
    await bench.go_on()
    await bench.decide(first, "allow", fingerprint="another definition")
    await bench.decide(second, "allow", fingerprint=bench.catalog.tools()[1].fingerprint or None)
    await bench.go_on()
    assert dict(await bench.results()) == {"denied": CHANGED, "ok": "done at call 2"}
    assert look.calls == 2
