"""The events of a run: numbered without a gap, stored before they are seen, whole for who comes late."""

import asyncio
import json
from contextlib import aclosing

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import Role
from sophos_desktop.core.domain.events import (
    DELTAS,
    MessageStored,
    ModelCallFinished,
    RunEvent,
    RunStarted,
    SittingEnded,
    TextDelta,
    ThinkingDelta,
)
from tests.support.core_fixture import end_of, facts, followed, say, streamed_text, transcript, until_let_go
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def test_a_turn_is_told_in_order_from_run_started_to_end(core: Core, server: OllamaServer) -> None:
    server.script(Reply(thinking=("Hm", "."), pieces=("Hel", "lo"), prompt_tokens=14, output_tokens=5))
    handle, events = await say(core, None, "Hi\nthere")
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.run_id for event in events} == {handle.run_id}
    assert [type(event.event).type for event in events] == [
        "run_started",
        "step",
        "message",
        "step",
        "thinking",
        "thinking",
        "text",
        "text",
        "model_call",
        "step",
        "message",
        "end",
    ]
    started = events[0].event
    assert isinstance(started, RunStarted)
    assert (started.kind, started.engine, started.model) == ("message", "ollama", "smol:latest")
    end = end_of(events)
    assert (end.status, end.error_code, end.resumable) == ("completed", None, False)
    assert (end.usage.prompt_tokens, end.usage.output_tokens, end.usage.model_calls) == (14, 5, 1)


async def test_the_deltas_add_up_to_the_message(core: Core, server: OllamaServer) -> None:
    server.script(Reply(thinking=("Let me", " see"), pieces=("Grüße ", "🦉", "\n\n", "end")))
    _, events = await say(core, None, "Hi")
    stored = facts(events, MessageStored)[-1].message
    assert stored.role is Role.ASSISTANT
    assert streamed_text(events) == stored.text == "Grüße 🦉\n\nend"
    assert "".join(delta.text for delta in facts(events, ThinkingDelta)) == stored.thinking == "Let me see"
    assert {delta.message_id for delta in facts(events, TextDelta)} == {stored.id}
    assert facts(events, ModelCallFinished)[0].message_id == stored.id


async def test_title_count_and_time_are_those_of_the_thread(core: Core) -> None:
    handle, _ = await say(core, None, "\n  The first line that is there, and it is rather a long one\nsecond")
    conversation = await core.conversations.find(handle.conversation_id)
    assert conversation.title == "The first line that is there, and it is rather a…"
    assert conversation.message_count == 2
    assert not conversation.resumable
    await say(core, handle.conversation_id, "More")
    again = await core.conversations.find(handle.conversation_id)
    assert (again.title, again.message_count) == (conversation.title, 4)
    assert again.updated_at > conversation.updated_at


def folded(events: list[RunEvent]) -> dict[str, str]:
    """What a front end knows of each message after these events."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event.event, TextDelta):
            texts[event.event.message_id] = texts.get(event.event.message_id, "") + event.event.text
        elif isinstance(event.event, MessageStored):
            texts[event.event.message.id] = event.event.message.text
    return texts


async def test_who_comes_late_gets_the_whole_then_what_follows(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("one ", "two ", "three"), hold_after=2))
    handle = await core.runs.start(None, "Count")
    early = asyncio.ensure_future(followed(handle))
    await server.wait_held()
    seen: list[RunEvent] = []
    async with asyncio.timeout(10), aclosing(handle.events()) as live:  # type: ignore[type-var]
        async for event in live:
            seen.append(event)
            if isinstance(event.event, TextDelta) and event.event.text == "two ":
                server.release()
    whole = await early
    assert [event.to_json() for event in seen] == [event.to_json() for event in whole]
    after_the_end = await followed(handle)
    assert folded(after_the_end) == folded(whole)
    assert [e.seq for e in after_the_end] == [e.seq for e in whole if not isinstance(e.event, DELTAS)]


async def test_who_comes_back_gets_what_is_new_and_nothing_twice(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("one ", "two ", "three")))
    handle, whole = await say(core, None, "Count")
    for seq in (1, 5, len(whole)):
        rest = await followed(handle, seq)
        assert [event.seq for event in rest] == [
            e.seq for e in whole if e.seq >= seq and not isinstance(e.event, DELTAS)
        ]


async def test_what_lasts_is_stored_with_its_texts_in_the_thread_alone(core: Core) -> None:
    handle, events = await say(core, None, "A word that is not in the trace: xylophone")
    stored = await core.conversations.trace(handle.run_id)
    live = [event.to_json() for event in events if not isinstance(event.event, DELTAS)]
    assert stored == live
    raw = await core.runs._stores.trace.events(handle.run_id)
    assert all("xylophone" not in str(event.data) for event in raw)


async def test_the_events_of_several_runs_are_read_at_once(core: Core) -> None:
    first, _ = await say(core, None, "One")
    second, _ = await say(core, first.conversation_id, "Two")
    told = await core.conversations.traces_of(
        [first.run_id, "01234567-89ab-7def-8000-000000000000", second.run_id]
    )
    assert told == {
        handle.run_id: await core.conversations.trace(handle.run_id) for handle in (first, second)
    }


async def test_the_outcome_is_recorded_before_the_end_is_told(core: Core) -> None:
    handle = await core.runs.start(None, "Hi")
    async with asyncio.timeout(10), aclosing(handle.events()) as live:  # type: ignore[type-var]
        async for event in live:
            status = (await core.conversations.find_run(handle.run_id)).status.value
            if isinstance(event.event, SittingEnded):
                assert status == event.event.status == "completed"


async def test_runs_on_several_conversations_go_on_at_once(core: Core, server: OllamaServer) -> None:
    server.play.by_text = {name: (Reply(pieces=(name.upper(),)),) for name in ("ant", "bee", "cat")}
    both = await asyncio.gather(*(say(core, None, name) for name in ("ant", "bee", "cat")))
    for (handle, _), name in zip(both, ("ant", "bee", "cat"), strict=True):
        assert await transcript(core, handle.conversation_id) == [("user", name), ("assistant", name.upper())]


async def test_listeners_hear_when_a_run_begins_and_when_it_is_over(core: Core) -> None:
    heard: list[tuple[str, bool]] = []

    def listen(conversation_id: str) -> None:
        heard.append((conversation_id, core.runs.active(conversation_id) is not None))

    unsubscribe = core.runs.subscribe(listen)
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    unsubscribe()
    assert heard == [(handle.conversation_id, True), (handle.conversation_id, False)]


async def test_half_a_surrogate_pair_from_anywhere_does_not_stop_a_run(
    core: Core, server: OllamaServer
) -> None:
    frames = [{"message": {"content": text}} for text in ("broken \ud83d", " end")]
    final = {"message": {"content": ""}, "done": True, "done_reason": "stop"}
    server.script(Reply(lines=tuple(json.dumps(frame) for frame in (*frames, final))))
    handle, events = await say(core, None, "odd \udc00 text")
    assert end_of(events).status == "completed"
    assert await transcript(core, handle.conversation_id) == [
        ("user", "odd ? text"),
        ("assistant", "broken ? end"),
    ]
