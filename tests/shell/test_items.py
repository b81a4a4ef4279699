"""Messages and events fold into the same items, whichever way they come."""

from dataclasses import replace

import pytest

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
    Recovered,
    RunEvent,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
    ToolDecided,
)
from sophos_desktop.core.domain.run import LeftFailure
from sophos_desktop.shell.chat import items as items_module
from sophos_desktop.shell.chat.item_kinds import (
    AnswerItem,
    ErrorItem,
    Figures,
    NoticeItem,
    ToolItem,
    UserItem,
)
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.run_facts import message_of

CALL = ToolCall("m1:0", "memory", "search", {"query": "orders"})
ASKING = Message("m1", Role.ASSISTANT, "I look.", tool_calls=(CALL,))
RESULT = Message("t1", Role.TOOL, "found", tool_call_id="m1:0", tool_status=ToolStatus.OK)
ANSWER = Message("m2", Role.ASSISTANT, "Here.")
QUESTION = Message("u1", Role.USER, "Where?")
MANY = 20_000


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


def test_what_had_arrived_of_an_answer_stays_until_the_whole_is_stored_and_nothing_older_goes() -> None:
    old = Message("m0", Role.ASSISTANT, "older half", state=MessageState.STOPPED)
    halves = [
        Message("m2", Role.ASSISTANT, "half", state=MessageState.INCOMPLETE),
        Message("m3", Role.ASSISTANT, "ha", state=MessageState.STOPPED),
    ]
    later = Message("m4", Role.ASSISTANT, "what came of a later one", state=MessageState.INCOMPLETE)
    items = TranscriptItems()
    items.reset([old, QUESTION, ASKING, RESULT, *halves])
    items.end_with(None, can_continue=True)
    offered = [items.offers_to_go_on]
    items.go_on()
    offered.append(items.offers_to_go_on)
    assert offered == [True, False]
    items.grow(Message("m5", Role.ASSISTANT, "all"))
    assert [item.key for item in items.items] == ["m0", "u1", "m1", "m1:0", "m2", "m3", "m5"]
    items.store(Message("m5", Role.ASSISTANT, "all of it"))
    items.store(later)
    items.store(ASKING)  # told again to whoever follows late
    assert [item.key for item in items.items] == ["m0", "u1", "m1", "m1:0", "m5", "m4"]


def failed_run(code: str = "EMPTY_ANSWER") -> LeftFailure:
    return LeftFailure("r1", code, "It gave no answer. Ask again.", "u1", "u2")


def test_why_a_question_has_no_answer_stays_at_its_place_live_and_reopened() -> None:
    live, reopened = TranscriptItems(), TranscriptItems()
    live.reset([QUESTION])
    error = SophosError(ErrorCode.EMPTY_ANSWER, "It gave no answer", "Ask again")
    live.end_with(error, can_continue=True, run_id="r1")
    live.expect("And then?")
    live.go_on()
    assert [item.key for item in live.items] == ["u1", "r1/failed", "pending"]
    second = Message("u2", Role.USER, "And then?")
    live.take(RunEvent("r2", 1, "", Notice("CONTEXT_TRIMMED", "Two left out.")))
    live.store(second)
    live.take(RunEvent("r2", 2, "", MessageStored(second)))
    live.store(ANSWER)
    seen = live.items[1]
    assert isinstance(seen, NoticeItem)
    assert seen.text == "It gave no answer · EMPTY_ANSWER"
    live.reset([QUESTION, second, ANSWER])
    live.show_failures([failed_run()])
    assert live.items[1] is seen
    reopened.reset([QUESTION, second, ANSWER])
    reopened.show_failures([failed_run()])
    reopened.take(RunEvent("r2", 1, "", Notice("CONTEXT_TRIMMED", "Two left out.")))
    reopened.take(RunEvent("r2", 2, "", MessageStored(second)))
    assert [item.key for item in live.items] == ["u1", "r1/failed", "r2/1", "u2", "m2"]
    assert reopened.items == live.items


def test_a_failure_whose_next_message_never_arrived_stands_below_its_own_question() -> None:
    items = TranscriptItems()
    items.reset([QUESTION])
    items.show_failures([failed_run(), replace(failed_run(), run_id="r0", input_message_id="gone")])
    assert [item.key for item in items.items] == ["u1", "r1/failed"]


def test_what_recovery_said_is_left_to_the_banner_until_the_run_went_on_or_another_came() -> None:
    told = RunEvent("r1", 5, "", Recovered("it was interrupted and can be resumed: 1 call is uncertain"))
    again = RunEvent("r1", 6, "", RunStarted("c", "resume", None, None))

    def texts(items: TranscriptItems) -> list[str]:
        return [item.text for item in items.items if isinstance(item, NoticeItem)]

    items = TranscriptItems()
    items.reset([QUESTION])
    items.end_with(None, can_continue=True, run_id="r1")
    items.facts.read("r1", [told.to_json()])
    past = "It was interrupted: 1 call was uncertain"
    assert texts(items) == []
    items.take(RunEvent("r2", 1, "", RunStarted("c", "resume", None, None)))
    assert texts(items) == [past]
    items = TranscriptItems()
    items.reset([QUESTION])
    items.end_with(None, can_continue=False, run_id="r1")
    items.facts.read("r1", [told.to_json(), again.to_json()])
    assert texts(items) == [past]


def test_a_call_that_the_user_changed_says_so_whether_told_live_or_read_later() -> None:
    decided = RunEvent("r", 3, "", ToolDecided("m1:0", "allow", "approval", "", edited=True))
    live, later = TranscriptItems(), TranscriptItems()
    for items in (live, later):
        items.reset([QUESTION, ASKING])
    live.take(decided)
    live.start_tool(ToolCallStarted("m1:0", "memory", "search", CALL.args, 1))
    live.finish_tool(ToolCallFinished("m1:0", "ok", "found", 9, recorded=False))
    later.store(RESULT)
    later.facts.read("r", [decided.to_json()])
    later.show_facts()
    for items in (live, later):
        call = items.items[-1]
        assert isinstance(call, ToolItem)
        assert call.is_edited


def test_a_call_that_was_never_sent_waits_again_when_the_run_goes_on() -> None:
    items = TranscriptItems()
    items.reset([QUESTION, ASKING])
    items.know({}, ["m1:0"])

    def status() -> str | None:
        (call,) = (item for item in items.items if isinstance(item, ToolItem))
        return call.status

    assert status() == "not_run"
    items.reset([QUESTION, ASKING])
    assert status() == "not_run"
    items.go_on()
    assert status() is None


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
    items.go_on()
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
    items.go_on()
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


@pytest.mark.parametrize("every", [1, 2])
def test_a_long_conversation_is_read_once_not_once_per_answer(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`every` message is an answer, or every second one."""
    looked_at = 0

    def counted(key: str) -> str:
        nonlocal looked_at
        looked_at += 1
        return message_of(key)

    monkeypatch.setattr(items_module, "message_of", counted)
    roles = [Role.ASSISTANT if place % every == 0 else Role.USER for place in range(MANY)]
    items = TranscriptItems()
    items.reset(Message(f"m{place}", role, "Words") for place, role in enumerate(roles))

    assert len(items.items) == MANY
    assert looked_at <= 4 * MANY
