"""The prompt is fitted and the thread is not: what is left out is whole, old and counted."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from sophos_desktop.core.agent.context import (
    FIRST_TOKENS_PER_CHARACTER,
    LEAST_FOR_TOOLS_TOKENS,
    LEAST_TOKENS_PER_CHARACTER,
    MOST_TOKENS_PER_CHARACTER,
    Prompt,
    TokenGauge,
    fit_prompt,
)
from sophos_desktop.core.agent.tool_schemas import tool_size
from sophos_desktop.core.domain.specs import ToolSpec
from tests.core.agent.chat_support import GET_TIME


def history_of(shape: Sequence[tuple[int, Sequence[tuple[int, Sequence[int]]]]]) -> list[BaseMessage]:
    """Turns: the size of the user's message, then answers with their size and the sizes of their results."""
    history: list[BaseMessage] = []
    for user, answers in shape:
        history.append(HumanMessage(f"{len(history)} " + "u" * user))
        for size, results in answers:
            number = len(history)
            made = [{"id": f"{number}:{i}", "name": "tool", "args": {"n": i}} for i in range(len(results))]
            history.append(AIMessage(f"{number} " + "a" * size, tool_calls=made))
            history.extend(
                ToolMessage(f"{number}:{i} " + "r" * result, tool_call_id=f"{number}:{i}")
                for i, result in enumerate(results)
            )
    return history


SIZES = st.integers(0, 3000)
HISTORIES = st.lists(
    st.tuples(SIZES, st.lists(st.tuples(SIZES, st.lists(SIZES, max_size=3)), max_size=3)),
    min_size=1,
    max_size=5,
).map(history_of)
CONTEXTS = st.integers(256, 8192)
RATIOS = st.floats(0.1, 1.5)


def place(history: Sequence[BaseMessage], message: BaseMessage) -> int:
    """Where in the history a message of the prompt comes from: its first word is unique."""
    word = str(message.content).split()[0]
    return next(i for i, kept in enumerate(history) if str(kept.content).split()[0] == word)


def fitted(
    history: Sequence[BaseMessage], num_ctx: int, ratio: float, system: str = ""
) -> tuple[Prompt, list[BaseMessage]]:
    """The prompt, and its messages without the system prompt."""
    prompt = fit_prompt(history, system, (), num_ctx, ratio)
    return prompt, [message for message in prompt.messages if not isinstance(message, SystemMessage)]


@given(HISTORIES, CONTEXTS, RATIOS)
def test_the_newest_user_message_is_always_in_the_prompt_and_whole(
    history: list[BaseMessage], num_ctx: int, ratio: float
) -> None:
    _, kept = fitted(history, num_ctx, ratio)
    newest = next(message for message in reversed(history) if isinstance(message, HumanMessage))
    assert newest.content in [message.content for message in kept]


@given(HISTORIES, CONTEXTS, RATIOS)
def test_a_call_and_its_result_stay_together(history: list[BaseMessage], num_ctx: int, ratio: float) -> None:
    _, kept = fitted(history, num_ctx, ratio)
    open_calls: list[str | None] = []
    for message in kept:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id == open_calls.pop(0)
            continue
        assert open_calls == []
        open_calls = [call["id"] for call in message.tool_calls] if isinstance(message, AIMessage) else []
    assert open_calls == []


@given(HISTORIES, CONTEXTS, RATIOS)
def test_the_order_stays_and_the_prompt_begins_with_a_user(
    history: list[BaseMessage], num_ctx: int, ratio: float
) -> None:
    _, kept = fitted(history, num_ctx, ratio)
    places = [place(history, message) for message in kept]
    assert places == sorted(set(places))
    assert isinstance(kept[0], HumanMessage)


@given(HISTORIES, CONTEXTS, RATIOS)
def test_what_is_left_out_and_shortened_is_counted(
    history: list[BaseMessage], num_ctx: int, ratio: float
) -> None:
    prompt, kept = fitted(history, num_ctx, ratio)
    assert prompt.left_out_messages == len(history) - len(kept)
    shortened = [
        (message, history[place(history, message)])
        for message in kept
        if message.content != history[place(history, message)].content
    ]
    assert prompt.clipped_results == len(shortened)
    for copy, original in shortened:
        assert isinstance(copy, ToolMessage)
        head, _, said = str(copy.content).rpartition("\n[… ")
        assert str(original.content).startswith(head)
        assert said == f"{len(str(original.content)) - len(head)} more characters were left out …]"
    assert prompt.is_trimmed == bool(prompt.left_out_messages or shortened)
    assert prompt.is_trimmed or len(kept) == len(history)


@given(HISTORIES, CONTEXTS, RATIOS, st.integers(0, 400))
def test_what_is_trimmed_fits_unless_one_turn_alone_does_not(
    history: list[BaseMessage], num_ctx: int, ratio: float, system: int
) -> None:
    prompt, kept = fitted(history, num_ctx, ratio, "s" * system)
    users = sum(isinstance(message, HumanMessage) for message in kept)
    assert users == 1 or prompt.estimated_tokens <= num_ctx


@given(HISTORIES, CONTEXTS, RATIOS)
def test_the_thread_is_not_touched(history: list[BaseMessage], num_ctx: int, ratio: float) -> None:
    before = [message.model_dump() for message in history]
    fitted(history, num_ctx, ratio)
    assert [message.model_dump() for message in history] == before


def test_a_short_history_goes_whole_with_the_system_prompt_in_front() -> None:
    history = history_of([(10, [(10, [10])]), (10, [])])
    prompt = fit_prompt(history, "Be brief.", (GET_TIME,), 8192, 0.3)
    assert prompt.messages[0] == SystemMessage("Be brief.")
    assert [message.content for message in prompt.messages[1:]] == [message.content for message in history]
    assert not prompt.is_trimmed
    assert fit_prompt(history, "", (), 8192, 0.3).messages[0].type == "human"


def test_the_notice_says_what_was_left_out() -> None:
    many = fit_prompt(history_of([(4000, [(10, [])]), (4000, [(10, [4000, 4000])])]), "", (), 2048, 0.3)
    assert many.notice().startswith("2 earlier messages were left out and 2 long tool results were shortened")
    one = fit_prompt(history_of([(10, []), (3000, [])]), "", (), 1024, 0.3)
    assert one.notice().startswith("1 earlier message was left out, since")


def test_a_system_prompt_beyond_the_context_leaves_the_newest_message() -> None:
    history = history_of([(10, [(10, [])]), (20, [])])
    prompt, kept = fitted(history, 256, 0.3, "s" * 10_000)
    assert [message.content for message in kept] == [history[-1].content]
    assert prompt.single_message
    assert prompt.estimated_tokens > 256


def test_the_gauge_learns_from_what_the_engine_read() -> None:
    gauge = TokenGauge()
    assert gauge.ratio("model") == FIRST_TOKENS_PER_CHARACTER
    gauge.learn("model", 1000, 500)
    assert gauge.ratio("model") == 0.5
    assert gauge.ratio("another") == FIRST_TOKENS_PER_CHARACTER
    for characters, tokens in ((10, 9), (1000, 0)):
        gauge.learn("model", characters, tokens)
    assert gauge.ratio("model") == 0.5


@given(
    st.lists(
        st.one_of(st.none(), st.tuples(st.integers(0, 10_000_000), st.integers(-5, 10_000_000))), max_size=30
    )
)
def test_whatever_engines_count_the_gauge_believes_no_more_than_texts_can_be(
    reports: list[tuple[int, int] | None],
) -> None:
    gauge = TokenGauge()
    for report in reports:
        if report is None:
            before = gauge.ratio("model")
            gauge.refused("model")
            assert gauge.ratio("model") >= min(before * 1.5, MOST_TOKENS_PER_CHARACTER)
            assert gauge.ratio("model") >= FIRST_TOKENS_PER_CHARACTER
        else:
            gauge.learn("model", *report)
        assert LEAST_TOKENS_PER_CHARACTER <= gauge.ratio("model") <= MOST_TOKENS_PER_CHARACTER


def test_each_refusal_makes_the_gauge_count_more_up_to_a_limit() -> None:
    gauge = TokenGauge()
    seen = []
    for _ in range(12):
        gauge.refused("model")
        seen.append(gauge.ratio("model"))
    assert seen == sorted(seen)
    assert seen[0] == FIRST_TOKENS_PER_CHARACTER * 1.5
    assert seen[-1] == MOST_TOKENS_PER_CHARACTER


def test_an_answer_that_was_cut_while_it_only_thought_is_not_shown_to_the_engine() -> None:
    history = [HumanMessage("0 first"), AIMessage(""), HumanMessage("2 second")]
    prompt, shown = fitted(history, 4096, FIRST_TOKENS_PER_CHARACTER)
    assert [message.content for message in shown] == ["0 first", "2 second"]
    assert not prompt.is_trimmed


def a_tool(number: int) -> ToolSpec:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    return ToolSpec(f"many__t{number}", "many", f"t{number}", "Does something.", schema)


@given(st.integers(0, 200), CONTEXTS, RATIOS)
def test_tools_never_take_more_than_their_share(count: int, num_ctx: int, ratio: float) -> None:
    tools = [a_tool(number) for number in range(count)]
    prompt = fit_prompt([HumanMessage("Go")], "", tools, num_ctx, ratio)
    share = max(num_ctx // 4, min(LEAST_FOR_TOOLS_TOKENS, num_ctx // 2)) / ratio
    assert sum(tool_size(tool) for tool in prompt.tools) <= share
    assert len(prompt.tools) + prompt.left_out_tools == count
    assert bool(prompt.tools_notice()) == bool(prompt.left_out_tools)


def test_what_tools_are_left_out_is_said() -> None:
    prompt = fit_prompt([HumanMessage("Go")], "", [a_tool(n) for n in range(5_000)], 8_192, 0.3)
    assert f"Only {len(prompt.tools)} of 5000 tools were offered" in prompt.tools_notice()
    assert not prompt.is_trimmed


def test_a_clipped_head_says_how_large_the_whole_result_is() -> None:
    kept = {"sha256": "0" * 64, "name": "a.json", "mime_type": "x/y", "size_bytes": 60_123_456}
    history: list[BaseMessage] = [
        HumanMessage("Go"),
        AIMessage("", tool_calls=[{"id": "1:0", "name": "tool", "args": {}}]),
        ToolMessage("r" * 256_000, tool_call_id="1:0", additional_kwargs={"sophos": {"attachment": kept}}),
    ]
    prompt = fit_prompt(history, "", (), 8_192, 0.3)
    assert prompt.clipped_results == 1
    clipped = str(prompt.messages[-1].content)
    assert len(clipped) < 8_192
    assert clipped.endswith(
        "[… the rest was left out; the whole result has 60.1 MB and is kept for the user …]"
    )
