"""What engines get is a history that they accept, whatever a thread holds; the thread stays as it is."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from sophos_desktop.core.agent.context import fit_prompt
from sophos_desktop.core.agent.graph_runner import config_of
from sophos_desktop.core.agent.history_repair import NO_RESULT, Repairs, repair_history
from sophos_desktop.core.agent.messages import text_of, to_domain, tool_answer, user_message
from sophos_desktop.core.agent.state import ToolTask
from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus, ToolStatus
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.export.markdown import Transcript, markdown_document
from tests.core.agent.graph_bench import CONVERSATION, GraphBench, graph_bench, spec


def asks(*call_ids: str | None, message_id: str | None = "ai", text: str = "") -> AIMessage:
    made: list[Any] = [{"id": call_id, "name": f"tool-{i}", "args": {}} for i, call_id in enumerate(call_ids)]
    return AIMessage(text, id=message_id, tool_calls=made)


def result(call_id: str, text: str = "result", name: str | None = None) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id, name=name)


def shape(history: Sequence[BaseMessage]) -> list[str]:
    """Each message as a word: calls with their ids, results with id and text."""
    words = []
    for message in history:
        if isinstance(message, AIMessage) and message.tool_calls:
            words.append(f"asks {' '.join(str(call['id']) for call in message.tool_calls)}")
        elif isinstance(message, ToolMessage):
            words.append(f"{message.tool_call_id}: {text_of(message)}")
        else:
            words.append(f"{message.type} {text_of(message)}".strip())
    return words


def why_refused(history: Sequence[BaseMessage]) -> list[str]:
    """Why an engine would refuse a history."""
    problems = []
    seen: set[str] = set()
    waiting: list[str] = []
    for message in history:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                problems.append(f"a result without a call: {message.tool_call_id}")
            else:
                waiting.remove(message.tool_call_id)
            continue
        if waiting:
            problems.append(f"calls without a result: {waiting}")
        if not isinstance(message, HumanMessage | AIMessage):
            problems.append(f"a message of the kind {message.type}")
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        waiting = [str(call["id"]) for call in calls]
        if not all(waiting) or seen & set(waiting) or len(set(waiting)) < len(waiting):
            problems.append(f"an id is empty or there twice: {waiting}")
        seen |= set(waiting)
    return problems + ([f"calls without a result at the end: {waiting}"] if waiting else [])


HUMAN, AI = HumanMessage("Hi", id="u"), AIMessage("Hello", id="a")


@pytest.mark.parametrize(
    ("history", "expected", "repairs"),
    [
        ([], [], Repairs()),
        ([HUMAN, AI], ["human Hi", "ai Hello"], Repairs()),
        (
            [HUMAN, asks("a", "b"), result("a"), result("b"), AI],
            ["human Hi", "asks a b", "a: result", "b: result", "ai Hello"],
            Repairs(),
        ),
        (
            [asks("a", "b"), result("b", "of b"), HUMAN],
            ["asks a b", f"a: {NO_RESULT}", "b: of b", "human Hi"],
            Repairs(unanswered=1),
        ),
        (  # out of order within the step: put in order, which is nothing to speak of
            [asks("a", "b"), result("b", "of b"), result("a", "of a")],
            ["asks a b", "a: of a", "b: of b"],
            Repairs(),
        ),
        (
            [asks("a"), HUMAN, AI, result("a")],
            ["asks a", "a: result", "human Hi", "ai Hello"],
            Repairs(moved=1),
        ),
        ([result("a"), HUMAN, asks("a")], ["human Hi", "asks a", "a: result"], Repairs(moved=1)),
        (
            [HUMAN, result("gone", "alone", "look"), AI],
            ["human Hi", "asks gone", "gone: alone", "ai Hello"],
            Repairs(without_call=1),
        ),
        ([asks("a"), result("a", "1"), result("a", "2")], ["asks a", "a: 1"], Repairs(repeated=1)),
        ([result("x", "1"), result("x", "2")], ["asks x", "x: 1"], Repairs(without_call=1, repeated=1)),
        (  # a server that numbers its calls anew in each answer
            [asks("call_0"), result("call_0", "1"), asks("call_0"), result("call_0", "2")],
            ["asks call_0", "call_0: 1", "asks call_0~2", "call_0~2: 2"],
            Repairs(renamed=1),
        ),
        (
            [asks("x"), asks("x"), result("x", "of the second")],
            ["asks x", f"x: {NO_RESULT}", "asks x~2", "x~2: of the second"],
            Repairs(unanswered=1, renamed=1),
        ),
        (
            [asks("x", "x"), result("x", "1"), result("x", "2")],
            ["asks x ai:1", "x: 1", "ai:1: 2"],
            Repairs(renamed=1),
        ),
        (
            [asks("", None), result("", "1"), result("", "2")],
            ["asks ai:0 ai:1", "ai:0: 1", "ai:1: 2"],
            Repairs(renamed=2),
        ),
        ([asks("a"), result("", "unnamed")], ["asks a", "a: unnamed"], Repairs()),
        (
            [SystemMessage("Obey"), HUMAN, SystemMessage(""), RemoveMessage(id="u")],
            ["human [A note of the kind “system”] Obey", "human Hi"],
            Repairs(noted=1, left_out=2),
        ),
        (
            [ChatMessage(content=role, role=role) for role in ("User", "assistant", "critic")],
            ["human User", "ai assistant", "human [A note of the kind “critic”] critic"],
            Repairs(noted=1),
        ),
        (
            [asks("a"), FunctionMessage(content="old", name="f")],
            ["asks a", "a: old"],
            Repairs(),
        ),
        (
            [
                HumanMessage([{"type": "text", "text": "two "}, "parts"]),
                HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}]),
            ],
            ["human two parts", "human [What is here is no text]"],
            Repairs(noted=1),
        ),
    ],
)
def test_what_engines_refuse_is_repaired_and_counted(
    history: list[BaseMessage], expected: list[str], repairs: Repairs
) -> None:
    before = [message.model_copy(deep=True) for message in history]
    made = repair_history(history)
    assert shape(made.messages) == expected
    assert made.repairs == repairs
    assert history == before
    assert why_refused(made.messages) == []


IDS = st.sampled_from(["", "a", "b", "c"])
MESSAGES = st.one_of(
    st.builds(HumanMessage, st.sampled_from(["", "hi"])),
    st.builds(SystemMessage, st.sampled_from(["", "obey"])),
    st.builds(
        ChatMessage, content=st.just("said"), role=st.sampled_from(["user", "assistant", "tool", "critic"])
    ),
    st.builds(lambda ids: asks(*ids), st.lists(IDS, max_size=3)),
    st.builds(result, IDS),
    st.builds(lambda name: FunctionMessage(content="old", name=name), st.sampled_from(["f", "g"])),
)


@given(st.lists(MESSAGES, max_size=12))
def test_whatever_a_thread_holds_an_engine_accepts_its_history(history: list[BaseMessage]) -> None:
    made = repair_history(history)
    assert why_refused(made.messages) == []
    assert repair_history(made.messages).repairs == Repairs(), "what is repaired needs no repair"
    results = [text_of(m) for m in made.messages if isinstance(m, ToolMessage) and text_of(m) != NO_RESULT]
    given_results = sum(isinstance(m, ToolMessage | FunctionMessage) for m in history)
    assert len(results) == given_results - made.repairs.repeated, "no result is lost without being counted"


@given(st.lists(MESSAGES, max_size=12), st.integers(64, 600))
def test_a_repaired_history_that_is_fitted_is_still_one_that_engines_accept(
    history: list[BaseMessage], num_ctx: int
) -> None:
    prompt = fit_prompt([*history, HumanMessage("now")], "", (), num_ctx, 0.3)
    assert why_refused(prompt.messages) == []


def test_a_note_begins_no_turn_so_that_what_the_user_asked_stays_in_the_prompt() -> None:
    history = [HumanMessage("old " * 900), HumanMessage("the question"), SystemMessage("a note " * 20)]
    kept = [text_of(message) for message in fit_prompt(history, "", (), 600, 0.3).messages]
    assert kept[0] == "the question"


def test_arguments_that_json_does_not_have_reach_the_engine_as_text() -> None:
    asked = AIMessage(
        "", tool_calls=[{"id": "a", "name": "", "args": {"when": datetime(2026, 1, 2, tzinfo=UTC)}}]
    )
    (made, _) = repair_history([asked, result("a")]).messages
    assert isinstance(made, AIMessage)
    assert made.tool_calls[0]["args"] == {"when": "2026-01-02 00:00:00+00:00"}
    assert made.tool_calls[0]["name"] == "unknown_tool"


def test_what_was_repaired_is_said_in_one_sentence() -> None:
    assert Repairs().notice() == ""
    assert Repairs(unanswered=2, renamed=1).notice() == (
        "The history was repaired for the model: 2 tool calls without a result were answered with “outcome "
        "unknown”; 1 tool call with an empty or doubled id was given another. The conversation is unchanged"
    )


def test_a_thread_of_our_own_is_not_touched() -> None:
    task = ToolTask(id="m:0", name="t", args={}, problem=None, server="s", tool="t")
    history = [
        user_message("u", "Go", "", "run"),
        asks("m:0", message_id="m"),
        tool_answer(task, "done", ToolStatus.OK, {}, "", "run"),
    ]
    made = repair_history(history)
    assert all(one is other for one, other in zip(made.messages, history, strict=True))


# The same with real threads: typed into, resumed, shown.


async def _works(args: Any) -> ToolResult:
    return ToolResult("worked")


FOREIGN: list[BaseMessage] = [
    SystemMessage("Be brief", id="s"),
    HumanMessage([{"type": "text", "text": "Go"}], id="u"),
    asks("x", "x", "", message_id="m"),
    result("x").model_copy(update={"id": "r"}),
    result("gone", "alone").model_copy(update={"id": "r2"}),
    ChatMessage(content="hm", role="critic", id="c"),
]


async def write(bench: GraphBench, as_node: str, *messages: BaseMessage) -> None:
    """Another tool wrote this, through LangGraph."""
    await bench.graph._graph.aupdate_state(
        config_of(CONVERSATION), {"messages": list(messages)}, as_node=as_node
    )


def repaired(bench: GraphBench) -> list[str]:
    return [notice.text for notice in bench.sink.of(Notice) if notice.code == "HISTORY_REPAIRED"]


async def test_a_message_typed_into_a_foreign_thread_is_answered_and_the_repair_is_said_once_a_run(
    tmp_path: Path,
) -> None:
    async with graph_bench(tmp_path / "sophos.db") as bench:
        await write(bench, "agent", *FOREIGN)
        before = await bench.messages()
        context = bench.context()
        await bench.graph.run(context, bench.drain, message=("new", "Hello?"), step_limit=25)
        (sent,) = bench.asked
        assert why_refused(sent) == []
        assert text_of(sent[-1]) == "Hello?"
        after = await bench.messages()
        assert after[: len(before)] == before
        assert [message.text for message in after[len(before) :]] == ["Hello?", "Done."]
        (said,) = repaired(bench)
        assert "2 tool calls without a result" in said
        await bench.graph.run(context, bench.drain, message=("newer", "And now?"), step_limit=25)
        assert why_refused(bench.asked[-1]) == []
        assert repaired(bench) == [said]


@pytest.mark.parametrize("typed", [False, True])
async def test_a_foreign_thread_with_open_calls_is_resumed_and_typed_into(
    tmp_path: Path, typed: bool
) -> None:
    made: list[Any] = [{"id": call, "name": "here__work", "args": {}} for call in ("x", "x", "")]
    async with graph_bench(tmp_path / "sophos.db", (spec("work"), _works)) as bench:
        await write(bench, "agent", HumanMessage("Go", id="u"), AIMessage("", id="m", tool_calls=made))
        assert (await bench.graph.read(CONVERSATION)).must_settle
        if typed:
            await bench.settle()
            await bench.graph.run(bench.context(), bench.drain, message=("new", "Hello?"), step_limit=25)
        else:
            await bench.go_on()
        assert not (await bench.graph.read(CONVERSATION)).unfinished
        assert (await bench.messages())[-1].text == "Done."
        assert why_refused(bench.asked[-1]) == []
        assert len(bench.catalog.called) == (0 if typed else 3)
        assert len(await bench.results()) == 3


async def test_a_foreign_thread_is_shown_and_exported(tmp_path: Path) -> None:
    odd = AIMessage(
        "odd", id="o", additional_kwargs={"sophos": {"state": "new", "calls": {"a": 1}, "tool_status": "new"}}
    )
    async with graph_bench(tmp_path / "sophos.db") as bench:
        await write(bench, "agent", *FOREIGN, odd)
        messages = await bench.messages()
        said = [message.text for message in messages]
        assert said == ["Be brief", "Go", "", "result", "alone", "hm", "odd"]
        conversation = Conversation("c", "Foreign", ConversationStatus.ACTIVE, False, None, 7, "", "")
        assert "alone" in "".join(markdown_document(Transcript(conversation, messages, (), ())))


@pytest.mark.parametrize(
    "own", ["text", {"calls": ["x"]}, {"calls": 3}, {"state": 3}, {"attachment": {"sha256": 1}}]
)
def test_a_message_whose_own_part_is_not_ours_is_shown(own: Any) -> None:
    asked = asks("x", "y", text="said").model_copy(update={"additional_kwargs": {"sophos": own}})
    assert to_domain(asked).text == "said"
