"""Messages and events fold into the same items, whichever way they come."""

from dataclasses import replace

from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Message,
    MessageState,
    Role,
    ToolCall,
    ToolStatus,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import (
    MessageStored,
    ModelCallFinished,
    Notice,
    RunEvent,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
)
from sophos_desktop.shell.chat.item_kinds import AnswerItem, ErrorItem, Figures, ToolItem, UserItem
from sophos_desktop.shell.chat.items import TranscriptItems

CALL = ToolCall("m1:0", "memory", "search", {"query": "orders"})
ASKING = Message("m1", Role.ASSISTANT, "I look.", tool_calls=(CALL,))
RESULT = Message("t1", Role.TOOL, "found", tool_call_id="m1:0", tool_status=ToolStatus.OK)
ANSWER = Message("m2", Role.ASSISTANT, "Here.")
QUESTION = Message("u1", Role.USER, "Where?")


def test_a_turn_folded_from_events_equals_the_turn_read_from_the_store() -> None:
    live = TranscriptItems()
    live.expect("Where?")
    live.store(QUESTION)
    live.grow(Message("m1", Role.ASSISTANT, "I lo"))
    live.store(ASKING)
    live.start_tool(ToolCallStarted("m1:0", "memory", "search", CALL.args, 1))
    live.finish_tool(ToolCallFinished("m1:0", "ok", "found", 9, recorded=False))
    live.store(RESULT)
    live.grow(Message("m2", Role.ASSISTANT, "He"))
    live.store(ANSWER)
    stored = TranscriptItems()
    stored.reset([QUESTION, ASKING, RESULT, ANSWER])
    assert live.items == stored.items
    assert [type(item) for item in stored.items] == [UserItem, AnswerItem, ToolItem, AnswerItem]


def test_items_that_say_the_same_stay_the_same_objects() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, ANSWER])
    before = items.items
    items.reset([QUESTION, Message("m2", Role.ASSISTANT, "Here it is.")])
    assert items.items[0] is before[0]
    assert items.items[1] is not before[1]


def test_what_was_sent_shows_until_its_message_is_stored() -> None:
    items = TranscriptItems()
    items.expect("Where?")
    assert items.items == [UserItem("pending", "Where?")]
    assert items.count_user_text("Where?") == 0
    items.store(QUESTION)
    assert items.items == [UserItem("u1", "Where?")]
    assert items.count_user_text(" Where? ") == 1


def test_a_message_that_only_asks_for_tools_has_no_item_of_its_own() -> None:
    items = TranscriptItems()
    items.store(Message("m1", Role.ASSISTANT, "", tool_calls=(CALL,)))
    assert [item.key for item in items.items] == ["m1:0"]


def test_a_run_that_is_over_leaves_nothing_growing() -> None:
    items = TranscriptItems()
    items.grow(Message("m1", Role.ASSISTANT, "Half an"))
    items.start_tool(ToolCallStarted("m1:0", "memory", "search", {}, 1))
    items.settle()
    answer, tool = items.items
    assert isinstance(answer, AnswerItem)
    assert (answer.live, answer.state) == (False, MessageState.INCOMPLETE)
    assert isinstance(tool, ToolItem)
    assert tool.status == "interrupted"


def test_a_run_that_goes_on_drops_what_had_arrived_of_its_answer_and_nothing_older() -> None:
    old = Message("m0", Role.ASSISTANT, "older half", state=MessageState.STOPPED)
    half = Message("m2", Role.ASSISTANT, "half", state=MessageState.INCOMPLETE)
    items = TranscriptItems()
    items.reset([old, QUESTION, ASKING, RESULT, half])
    items.drop_partials()
    assert [item.key for item in items.items] == ["m0", "u1", "m1", "m1:0"]


def test_figures_and_durations_are_the_same_whether_told_live_or_read_later() -> None:
    told = [
        RunEvent("r", 1, "2026-11-30T10:00:00Z", RunStarted("c", "message", "ollama", "qwen3:8b")),
        RunEvent("r", 2, "2026-11-30T10:00:01Z", Notice("CONTEXT_TRIMMED", "Two left out.")),
        RunEvent("r", 3, "2026-11-30T10:00:02Z", MessageStored(QUESTION)),
        RunEvent("r", 4, "2026-11-30T10:00:03Z", ModelCallFinished(1, "m1", 0, 1, 500, 500, 10, 20)),
        RunEvent("r", 5, "2026-11-30T10:00:04Z", MessageStored(ASKING)),
        RunEvent("r", 6, "2026-11-30T10:00:05Z", ToolCallFinished("m1:0", "ok", "found", 9, recorded=False)),
        RunEvent("r", 7, "2026-11-30T10:00:06Z", ModelCallFinished(2, "m2", 0, 1, 0, 2_000, 10, 100)),
        RunEvent("r", 8, "2026-11-30T10:00:06Z", Notice("ANSWER_CUT", "It was cut.")),
        RunEvent("r", 9, "2026-11-30T10:00:07Z", MessageStored(ANSWER)),
    ]
    live, later = TranscriptItems(), TranscriptItems()
    for event in told:
        if isinstance(event.event, MessageStored):
            live.store(event.event.message)
        elif isinstance(event.event, ToolCallFinished):
            live.finish_tool(event.event)
        live.take(event)
    later.reset([QUESTION, ASKING, RESULT, ANSWER])
    later.facts.read("r", [event.to_json() for event in told])
    later.show_facts()
    assert live.items == later.items
    assert [item.key for item in later.items] == ["r/2", "u1", "m1", "m1:0", "m2", "r/8"]
    answer, call = later.items[4], later.items[3]
    assert isinstance(answer, AnswerItem)
    assert answer.figures == Figures(None, 100, 50.0)
    assert isinstance(call, ToolItem)
    assert call.duration_ms == 9
    assert live.facts.is_known("r")


def test_events_of_a_later_version_are_passed_over() -> None:
    items = TranscriptItems()
    items.reset([QUESTION])
    items.facts.read("r", [{"type": "telepathy"}])
    assert [item.key for item in items.items] == ["u1"]


def test_the_thinking_that_was_seen_here_lasts_until_its_figures_are_told() -> None:
    now = [10.0]
    items = TranscriptItems(lambda: now[0])
    items.grow(Message("m1", Role.ASSISTANT, "", "hm"))
    now[0] = 12.5
    item = items.grow(Message("m1", Role.ASSISTANT, "So", "hm"))
    assert item.figures.thinking_ms == 2_500
    now[0] = 20.0
    assert items.grow(Message("m1", Role.ASSISTANT, "So it", "hm")).figures.thinking_ms == 2_500


def test_calls_that_somebody_is_asked_about_say_so_until_nobody_is() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, ASKING])
    items.ask({"m1:0": "approval"})
    assert _status(items) == "asked"
    items.ask({"m1:0": "uncertain"})
    assert _status(items) == "uncertain"
    items.drop_partials()
    assert _status(items) is None


def test_what_was_decided_is_said_until_the_call_goes_on() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, ASKING])
    items.ask({"m1:0": "approval"})
    items.decide("m1:0", "allowed")
    assert _status(items) == "allowed"
    items.reset([QUESTION, ASKING])
    items.ask({})
    assert _status(items) == "allowed"
    items.reset([QUESTION, ASKING, RESULT])
    assert _status(items) == "ok"
    items.clear()
    items.reset([QUESTION, ASKING])
    assert _status(items) is None


def test_a_call_that_is_asked_about_again_is_open_again() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, ASKING])
    items.ask({"m1:0": "uncertain"})
    items.decide("m1:0", "again")
    items.ask({"m1:0": "uncertain"})
    items.reset([QUESTION, ASKING])
    assert _status(items) is None
    items.ask({"m1:0": "uncertain"})
    assert _status(items) == "uncertain"


def test_a_question_about_a_call_that_no_message_tells_of_is_there_all_the_same() -> None:
    items = TranscriptItems()
    items.reset([QUESTION])
    items.ask({"m9:0": "approval"})
    assert _status(items) == "asked"


def test_the_last_answer_that_was_stopped_can_be_continued_until_something_goes_on() -> None:
    half = Message("m2", Role.ASSISTANT, "half", state=MessageState.STOPPED)
    items = TranscriptItems()
    items.reset([QUESTION, half])
    items.end_with(SophosError(ErrorCode.ENGINE_BUSY, "Busy", "Wait"), can_continue=True)
    answer, error = items.items[-2:]
    assert isinstance(answer, AnswerItem)
    assert isinstance(error, ErrorItem)
    assert (answer.can_continue, error.title, error.can_continue) == (True, "Busy", True)
    items.expect("Something else")
    items.drop_partials()
    answer = items.items[1]
    assert isinstance(answer, AnswerItem)
    assert not answer.can_continue
    assert [item.key for item in items.items] == ["u1", "m2", "pending"]


def test_arguments_that_were_changed_before_the_call_and_the_whole_of_a_result_are_shown() -> None:
    kept = AttachmentRef("0" * 64, "result.json", "application/json", 900_000)
    result = replace(RESULT, sent_args={"query": "other"}, attachments=(kept,))
    items = TranscriptItems()
    items.reset([QUESTION, ASKING, result])
    items.show_whole("m1:0", "found and all the rest", ())
    items.reset([QUESTION, ASKING, result])
    call = items.items[-1]
    assert isinstance(call, ToolItem)
    assert (call.arguments, call.whole_bytes) == ('{"query": "other"}', 900_000)
    assert call.result == "found and all the rest"


def test_a_run_is_known_while_something_of_it_is_shown() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, replace(ANSWER, run_id="r1")])
    assert items.has_run("r1")
    assert not items.has_run("r2")
    items.clear()
    assert not items.has_run("r1")


def _status(items: TranscriptItems) -> str | None:
    call = items.items[-1]
    assert isinstance(call, ToolItem)
    return call.status
