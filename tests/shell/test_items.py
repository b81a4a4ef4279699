"""Messages and events fold into the same items, whichever way they come."""

from sophos_desktop.core.domain.conversation import Message, MessageState, Role, ToolCall, ToolStatus
from sophos_desktop.core.domain.events import ToolCallFinished, ToolCallStarted
from sophos_desktop.shell.chat.items import AnswerItem, ToolItem, TranscriptItems, UserItem

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
