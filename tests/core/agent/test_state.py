"""The reducer of the message list: the same list for one batch of writes or for several."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage

from sophos_desktop.core.agent.state import append_messages

MESSAGES = st.builds(lambda i, text: HumanMessage(text, id=str(i)), st.integers(0, 6), st.text(max_size=3))
WRITES = st.lists(st.lists(MESSAGES, max_size=3), max_size=6)


@given(WRITES, WRITES, st.lists(MESSAGES, max_size=2))
def test_one_batch_or_two_give_the_same_list(
    first: list[list[BaseMessage]], second: list[list[BaseMessage]], begin: list[BaseMessage]
) -> None:
    state = append_messages([], [begin])
    at_once = append_messages(state, [*first, *second])
    in_two = append_messages(append_messages(state, first), second)
    one_by_one = state
    for write in (*first, *second):
        one_by_one = append_messages(one_by_one, [write])
    assert at_once == in_two == one_by_one


@given(WRITES)
def test_every_id_is_there_once_where_it_first_came_and_with_its_last_text(
    writes: list[list[BaseMessage]],
) -> None:
    result = append_messages([], writes)
    flat = [message for write in writes for message in write]
    assert [message.id for message in result] == list(dict.fromkeys(message.id for message in flat))
    last = {message.id: message.content for message in flat}
    assert {message.id: message.content for message in result} == last


def test_the_state_that_comes_in_is_not_changed() -> None:
    state: list[BaseMessage] = [HumanMessage("old", id="1")]
    assert append_messages(state, [[HumanMessage("new", id="1")]])[0].content == "new"
    assert [message.content for message in state] == ["old"]


def test_messages_without_an_id_take_nobodys_place() -> None:
    first, second = HumanMessage("one"), HumanMessage("two")
    assert append_messages([first], [[second], [HumanMessage("three")]]) == [
        first,
        second,
        HumanMessage("three"),
    ]
