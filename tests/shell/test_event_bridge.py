"""The bridge: whole messages, one update a frame, in order, and nothing of a run that was left."""

from collections.abc import AsyncIterator

import pytest

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.event_bridge import EventBridge
from tests.support.fake_core import FakeCore, FakeHandle
from tests.support.window import turns, until


class Listener:
    """What a view would hear, in order."""

    def __init__(self, bridge: EventBridge) -> None:
        self.heard: list[tuple[str, str]] = []
        bridge.run_started.connect(lambda _id, _event: self.heard.append(("started", "")))
        bridge.message_grew.connect(lambda _id, message: self.heard.append(("grew", message.text)))
        bridge.message_stored.connect(lambda _id, message: self.heard.append(("stored", message.text)))
        bridge.noticed.connect(lambda _id, notice: self.heard.append(("notice", notice.text)))
        bridge.ended.connect(lambda _id, ended: self.heard.append(("ended", ended.status)))

    def count(self, what: str) -> int:
        return sum(kind == what for kind, _ in self.heard)


@pytest.fixture
async def owner() -> AsyncIterator[TaskOwner]:
    errors: list[BaseException] = []
    owner = TaskOwner(errors.append)
    yield owner
    await owner.close()
    assert not errors


async def handle_of(core: FakeCore) -> FakeHandle:
    return await core.runs.start(None, "hello")


async def test_many_deltas_reach_the_view_as_one_whole_message(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    listener, handle = Listener(bridge), await handle_of(core)
    bridge.follow(handle)
    for number in range(1000):
        handle.say(f"{number} ")
    await until(lambda: listener.count("grew"))
    text = "".join(f"{number} " for number in range(1000))
    assert [heard for heard in listener.heard if heard[0] == "grew"] == [("grew", text)]


async def test_the_timer_runs_only_while_a_delta_waits(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    listener, handle = Listener(bridge), await handle_of(core)
    bridge.follow(handle)
    await turns(20)
    assert not bridge.timer_is_active
    handle.say("a")
    await until(lambda: bridge.timer_is_active)
    await until(lambda: listener.count("grew"))
    assert not bridge.timer_is_active


async def test_a_later_event_never_overtakes_the_text_before_it(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    listener, handle = Listener(bridge), await handle_of(core)
    bridge.follow(handle)
    handle.say("one")
    handle.tell(Notice("ANSWER_CUT", "cut"))
    handle.say(" two")
    handle.answer("one two three")
    handle.end()
    await until(lambda: listener.count("ended"))
    assert listener.heard == [
        ("started", ""),
        ("stored", "hello"),
        ("grew", "one"),
        ("notice", "cut"),
        ("grew", "one two"),
        ("stored", "one two three"),
        ("ended", "completed"),
    ]
    assert bridge.following is None


async def test_thinking_and_text_grow_apart(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    seen: list[Message] = []
    bridge.message_grew.connect(lambda _id, message: seen.append(message))
    handle = await handle_of(core)
    bridge.follow(handle)
    handle.think("hm")
    handle.say("yes")
    await until(lambda: seen)
    assert seen == [Message("answer", Role.ASSISTANT, "yes", thinking="hm")]


async def test_a_run_that_was_left_says_nothing_more_and_goes_on(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    listener, first = Listener(bridge), await handle_of(core)
    second = await handle_of(core)
    bridge.follow(first)
    first.say("first")
    await until(lambda: bridge.timer_is_active)
    bridge.follow(second)
    first.say(" more")
    second.say("second")
    await until(lambda: listener.count("grew"))
    await turns(20)
    assert [text for kind, text in listener.heard if kind == "grew"] == ["second"]
    bridge.leave()
    assert core.runs.active(first.conversation_id) is first


async def test_who_comes_late_hears_everything_from_the_start(owner: TaskOwner) -> None:
    core, bridge = FakeCore(), EventBridge(owner)
    listener, handle = Listener(bridge), await handle_of(core)
    handle.say("all of ")
    handle.say("it")
    handle.end(RunStatus.CANCELLED)
    bridge.follow(handle)
    await until(lambda: listener.count("ended"))
    assert listener.heard[-2:] == [("grew", "all of it"), ("ended", "cancelled")]
