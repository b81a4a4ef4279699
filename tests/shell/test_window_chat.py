"""The window as a person uses it: write, read, stop, resume, decide, on a core that the test drives."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QToolButton

from sophos_desktop.core.domain.conversation import Message, MessageState, Role, ToolCall, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from tests.support.fake_core import FakeCore, FakeHandle
from tests.support.fake_core_parts import assistant, interrupted, record, user
from tests.support.window import WindowRig, open_window, shown_window, until

UNREACHABLE = SophosError(
    ErrorCode.ENGINE_UNREACHABLE, "Ollama does not answer at 127.0.0.1:11434", "Start it with ollama serve."
)
CALL = ToolCall("m1:0", "memory", "search_nodes", {"query": "orders"})


async def send(rig: WindowRig, core: FakeCore, text: str) -> FakeHandle:
    """Type, press Enter, wait until the run runs."""
    before = len(core.runs.handles)
    rig.type(text)
    rig.enter()
    await until(lambda: len(core.runs.handles) > before and rig.window.presenter.is_running)
    return core.runs.handles[-1]


async def test_enter_sends_and_the_streamed_answer_appears_as_text() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await send(rig, core, "Hello")
        assert rig.composer.text == ""
        assert "Hello" in rig.transcript_text
        handle.say("It **wor")
        await until(lambda: "It **wor" in rig.transcript_text)
        handle.say("ks**")
        await until(lambda: "It works" in rig.transcript_text)
        assert rig.shows("stopButton")
        assert not rig.shows("sendButton")
        handle.answer("It **works**")
        handle.end()
        await until(lambda: rig.shows("sendButton"))
        assert rig.titles == ["Hello"]
        assert not rig.shows("errorBanner")
        assert not rig.shows("resumeBanner")


async def test_the_send_button_sends_and_is_off_while_there_is_nothing_to_send() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        assert not rig.button("sendButton").isEnabled()
        rig.type("  ")
        rig.enter()
        assert not rig.button("sendButton").isEnabled()
        rig.type("Hello")
        rig.click("sendButton")
        await until(lambda: core.runs.handles)
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))


async def test_tools_and_thinking_show_as_quiet_blocks() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await send(rig, core, "Look")
        handle.think("Where was it", "m1")
        await until(lambda: "Thinking…" in rig.transcript_text)
        handle.store(Message("m1", Role.ASSISTANT, "", "Where was it", (CALL,)))
        handle.call(CALL, "not there", ToolStatus.ERROR)
        await until(lambda: "not there" in rig.transcript_text)
        assert "search_nodes\tFailed" in rig.transcript_text
        assert "Thought for" in rig.transcript_text
        handle.answer("Sorry.")
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_notice_shows_and_can_be_closed() -> None:
    core = FakeCore()
    core.notices.append(Notice("CONFIG_INVALID", "settings.toml, line 3: no value"))
    async with open_window(core) as rig:
        bar = rig.banner("noticeBar")
        assert bar.text == "settings.toml, line 3: no value"
        QTest.mouseClick(rig.find(QToolButton, "noticeBarClose"), Qt.MouseButton.LeftButton)
        assert not rig.shows("noticeBar")


async def test_what_a_run_has_to_say_stands_in_the_conversation_where_it_came() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await send(rig, core, "Hello")
        handle.tell(Notice("CONTEXT_TRIMMED", "Two messages were left out."))
        handle.say("Hi")
        handle.answer("Hi", "answer")
        handle.tell(Notice("ANSWER_CUT", "The answer reached its limit."))
        handle.end()
        await until(lambda: rig.shows("sendButton"))
        lines = [line for line in rig.transcript_text.splitlines() if line]
        assert lines == ["Hello", "Two messages were left out.", "Hi", "The answer reached its limit."]
        assert not rig.shows("noticeBar")


async def test_stop_asks_once_and_the_partial_answer_stays() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await send(rig, core, "Count")
        handle.say("one two")
        await until(lambda: "one two" in rig.transcript_text)
        QTest.keyClick(rig.composer, Qt.Key.Key_Escape)
        await until(lambda: handle.is_stopped)
        assert not rig.button("stopButton").isEnabled()
        assert not rig.action("actionStop").isEnabled()
        stopped = assistant("one two", MessageState.STOPPED)
        core.conversations.stored[handle.conversation_id].append(stopped)
        handle.end(RunStatus.CANCELLED, unfinished=True)
        await until(lambda: rig.goes_on_by)
        assert "Stopped by you; Continue writes it anew" in rig.transcript_text
        assert rig.transcript_text.count("one two") == 1
        assert not rig.shows("resumeBanner")
        assert not rig.shows("errorBanner")


async def test_a_failed_run_shows_title_remedy_and_code_and_can_be_resumed() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        handle = await send(rig, core, "Hello")
        handle.end(RunStatus.FAILED, UNREACHABLE, unfinished=True)
        await until(lambda: rig.error_card() and rig.goes_on_by)
        assert rig.error_card() == ErrorFacts.of(UNREACHABLE, "Try again", "continue")
        assert not rig.shows("errorBanner")
        assert not rig.shows("resumeBanner")
        rig.type("a new message is typed all the same")
        rig.go_on()
        await until(lambda: len(core.runs.handles) == 2 and rig.window.presenter.is_running)
        assert rig.error_card() is None
        assert not rig.shows("resumeBanner")
        core.runs.handles[1].answer("Here I am.")
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))
        assert "Here I am." in rig.transcript_text
        assert rig.composer.text == "a new message is typed all the same"


async def test_a_start_that_fails_leaves_the_text_and_says_why() -> None:
    core = FakeCore()
    core.runs.start_error = SophosError(ErrorCode.STORE_BUSY, "Another process writes", "Try again.")
    async with open_window(core) as rig:
        rig.type("Do not lose me")
        rig.enter()
        await until(lambda: rig.shows("errorBanner"))
        assert rig.composer.text == "Do not lose me"
        assert rig.banner("errorBanner").code == "STORE_BUSY"
        assert rig.button("sendButton").isEnabled()


async def test_sending_while_a_start_is_under_way_sends_once_and_keeps_what_is_typed_since() -> None:
    core = FakeCore()
    core.runs.gate.clear()
    async with open_window(core) as rig:
        rig.type("first")
        rig.enter()
        rig.type(" more")
        rig.enter()
        rig.click("sendButton")
        core.runs.gate.set()
        await until(lambda: core.runs.handles)
        await until(lambda: rig.composer.text == " more")
        assert len(core.runs.handles) == 1
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))


async def test_what_is_sent_while_the_app_opens_goes_out_when_it_is_open() -> None:
    core = FakeCore()
    core.conversations.state["last_conversation"] = core.conversations.add("Old", user("old"))
    async with shown_window() as rig:
        rig.type("early")
        rig.enter()
        assert rig.composer.text == "early"
        await rig.window.attach(core)
        await until(lambda: core.runs.handles and rig.composer.text == "")
        assert core.runs.handles[0].conversation_id == rig.window.presenter.conversation_id
        assert core.conversations.known[core.runs.handles[0].conversation_id].title == "early"
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_text_that_never_reached_the_thread_comes_back_into_the_composer() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("old"))
    core.conversations.state["last_conversation"] = conversation_id
    async with open_window(core) as rig:
        handle = await send(rig, core, "lost on the way")
        del core.conversations.stored[conversation_id][-1]
        core.conversations.drafts[conversation_id] = "lost on the way"
        handle.end(RunStatus.INTERRUPTED, unfinished=False)
        await until(lambda: rig.composer.text == "lost on the way")


async def test_a_text_that_comes_back_stands_before_what_was_typed_since() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("same words"))
    core.conversations.state["last_conversation"] = conversation_id
    async with open_window(core) as rig:
        handle = await send(rig, core, "same words")
        rig.type("typed since")
        del core.conversations.stored[conversation_id][-1]
        handle.end(RunStatus.INTERRUPTED, unfinished=False)
        await until(lambda: rig.composer.text == "same words\ntyped since")
        await rig.window.save()
        assert core.conversations.drafts[conversation_id] == "same words\ntyped since"


async def test_an_interrupted_conversation_opens_with_its_resume_banner() -> None:
    core = FakeCore()
    core.conversations.add("Cut off", user("go"), last_run=interrupted())
    async with open_window(core) as rig:
        rig.choose("Cut off")
        await until(lambda: rig.shows("resumeBanner"))
        assert rig.action("actionResume").isEnabled()
        rig.action("actionResume").trigger()
        await until(lambda: core.runs.handles)
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_resume_that_is_refused_says_why_and_offers_itself_again() -> None:
    core = FakeCore()
    core.conversations.add("Cut off", user("go"), last_run=interrupted())
    core.runs.start_error = SophosError(ErrorCode.SESSION_IN_PROGRESS, "A run is active", "Wait for it.")
    async with open_window(core) as rig:
        rig.choose("Cut off")
        await until(lambda: rig.shows("resumeBanner"))
        rig.click("resumeButton")
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "SESSION_IN_PROGRESS"
        assert rig.shows("resumeBanner")


async def test_a_link_opens_only_after_its_target_was_shown_and_confirmed() -> None:
    core = FakeCore()
    answer = assistant("[here](https://example.org/page) ![x](file:///etc/passwd) ![y](http://127.0.0.1:9/y)")
    core.conversations.state["last_conversation"] = core.conversations.add("Links", user("?"), answer)
    async with open_window(core) as rig:
        opened: list[str] = []
        rig.window.open_address = opened.append  # type: ignore[method-assign, assignment]
        rig.window.chat.transcript.linkActivated.emit("https://example.org/page")
        question = rig.find(QDialog, "linkQuestion")
        assert question.isVisible()
        assert opened == []
        assert rig.find(QLabel, "linkQuestionDetail").text() == "https://example.org/page"
        question.accept()
        assert opened == ["https://example.org/page"]


async def test_a_failure_of_an_earlier_sitting_is_shown_when_its_conversation_opens() -> None:
    core = FakeCore()
    run = record("", "r", RunStatus.FAILED, "ENGINE_UNREACHABLE", UNREACHABLE.message, unfinished=True)
    core.conversations.add("Failed once", user("go"), last_run=run)
    async with open_window(core) as rig:
        rig.choose("Failed once")
        await until(rig.error_card)
        assert rig.error_card() == ErrorFacts.of(UNREACHABLE, "Try again", "continue")
        assert not rig.shows("resumeBanner")
