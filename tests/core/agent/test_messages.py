"""Messages of the thread: ids of our own, nothing of ours to an engine, everything to the front ends."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.agent.messages import (
    KEY,
    answer,
    for_engine,
    partial_answer,
    to_domain,
    tool_answer,
    tool_tasks,
    user_message,
)
from sophos_desktop.core.agent.state import ToolTask
from sophos_desktop.core.domain.conversation import Message, MessageState, Role, ToolCall, ToolStatus
from tests.core.agent.chat_support import GET_TIME

AT = "2026-01-02T03:04:05.678Z"
OWN = {"at": AT, "run_id": "run", "model": "smol:latest"}
TASK = ToolTask(id="m:0", name="clock__get_time", args={}, problem=None, server="clock", tool="get_time")


def test_what_the_user_wrote_comes_back() -> None:
    expected = Message("m", Role.USER, "Hello", at=AT, run_id="run")
    assert to_domain(user_message("m", "Hello", AT, "run")) == expected


def test_calls_have_our_ids_and_the_servers_names() -> None:
    pieces = [
        CallPiece("clock__get_time", {"city": "Rome"}, ""),
        CallPiece("clock__get_time", {"city": "Rome"}, ""),
        CallPiece("made_up", {}, ""),
        CallPiece("", None, "{", "The call does not name a tool"),
    ]
    message = answer("m", "I look.", "Hm.", pieces, {GET_TIME.name: GET_TIME}, OWN)
    seen = to_domain(message)
    assert seen.tool_calls == (
        ToolCall("m:0", "clock", "get_time", {"city": "Rome"}),
        ToolCall("m:1", "clock", "get_time", {"city": "Rome"}),
        ToolCall("m:2", "", "made_up", {}),
        ToolCall("m:3", "", "", {}),
    )
    assert (seen.text, seen.thinking, seen.model, seen.run_id) == ("I look.", "Hm.", "smol:latest", "run")
    tasks = tool_tasks(message)
    assert [task["name"] for task in tasks] == ["clock__get_time", "clock__get_time", "made_up", "unnamed"]
    assert [task["problem"] for task in tasks] == [None, None, None, "The call does not name a tool"]


def test_a_result_shows_its_call_its_state_and_what_was_sent() -> None:
    for status in ToolStatus:
        message = tool_answer(TASK, "12:30", status, {"city": "Paris"}, AT, "run")
        seen = to_domain(message)
        assert (seen.role, seen.tool_call_id, seen.tool_status) == (Role.TOOL, "m:0", status)
        assert (message.status == "success") == (status is ToolStatus.OK)
        assert message.additional_kwargs[KEY]["args"] == {"city": "Paris"}


def test_a_partial_answer_comes_back_as_it_was() -> None:
    for thinking in (None, "Hm."):
        for state in (MessageState.STOPPED, MessageState.INCOMPLETE):
            partial = Message(
                "m", Role.ASSISTANT, "Half", thinking, state=state, at=AT, model="x", run_id="run"
            )
            assert to_domain(partial_answer(partial)) == partial


def test_an_engine_sees_nothing_of_ours() -> None:
    call = answer("m", "", "Hm.", [CallPiece("clock__get_time", {}, "")], {}, OWN)
    result = tool_answer(TASK, "12:30", ToolStatus.OK, {}, AT, "run")
    for message in (user_message("m", "Hello", AT, "run"), call, result):
        sent = for_engine(message)
        assert sent.additional_kwargs == {}
        assert sent.id is None
        assert sent.content == message.content
    sent = for_engine(call)
    assert isinstance(sent, AIMessage)
    assert sent.tool_calls == call.tool_calls
    clipped = for_engine(result, "12…")
    assert isinstance(clipped, ToolMessage)
    assert (clipped.content, clipped.tool_call_id) == ("12…", "m:0")


def test_a_message_of_another_program_is_shown_as_far_as_it_goes() -> None:
    foreign = HumanMessage([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}], id="m")
    assert to_domain(foreign) == Message("m", Role.USER, "one two")
    strange = AIMessage("", id="m", tool_calls=[{"id": None, "name": "t", "args": {}}])
    assert to_domain(strange).tool_calls == (ToolCall("m:0", "", "t", {}),)
    assert to_domain(AIMessage("x", id="m", additional_kwargs={KEY: "no object"})).text == "x"
