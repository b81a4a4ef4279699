"""Where keys and the focus go: banners that close, the Edit menu, what the composer says."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.foreign_runs import FOREIGN_NOTICE
from tests.shell.test_queue_flow import queued, running
from tests.support.card_window import cards, press
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, record, user
from tests.support.window import WindowRig, open_window, turns, until


async def waiting(rig: WindowRig, core: FakeCore, count: int = 1) -> str:
    """A run whose calls wait for a decision."""
    conversation_id = await running(rig, core)
    handle = core.runs.handles[-1]
    for number in range(count):
        core.ask(handle, f"m1:{number}", "approval", ends=number == count - 1)
    await until(lambda: len(cards(rig)) == count and not rig.window.presenter.is_running)
    return conversation_id


async def test_escape_takes_the_question_back_keeps_the_text_and_stops_nothing() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        conversation_id = await waiting(rig, core)
        rig.type("Later")
        rig.enter()
        assert rig.shows("waitingQuestion")
        rig.action("actionStop").trigger()
        assert not rig.shows("waitingQuestion")
        assert rig.composer.text == "Later"
        assert rig.composer.hasFocus()
        await turns()
        assert queued(rig) == ""
        assert len(cards(rig)) == 1
        assert len(core.decisions.open) == 1
        run = core.conversations.known[conversation_id].last_run
        assert run is not None
        assert run.status is RunStatus.WAITING
        rig.action("actionStop").trigger()
        await until(lambda: not cards(rig))


async def test_tab_leads_from_the_message_field_to_the_question_and_on() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core)
        rig.type("Later")
        rig.enter()
        seen = []
        for _ in range(3):
            focused = rig.window.focusWidget()
            assert focused is not None
            QTest.keyClick(focused, Qt.Key.Key_Tab)
            seen.append(rig.window.focusWidget())
        assert seen[:2] == [rig.button("denyAllAndSendButton"), rig.button("waitButton")]
        assert seen[2] is rig.window.chat.composer_frame.attach_button


async def test_the_question_says_that_an_allowed_call_will_not_be_made() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await waiting(rig, core, 2)
        press(cards(rig)[0], "allowOnceButton")
        await until(lambda: len(cards(rig)) == 1)
        rig.type("Never mind")
        rig.enter()
        question = rig.banner("waitingQuestion")
        assert question.title == "1 call is still waiting."
        assert question.text == "If you deny all, 1 call that you allowed will not be made either."


async def test_the_focus_goes_into_the_composer_when_a_banner_hides_with_it() -> None:
    core = FakeCore()
    run = record("", "r", RunStatus.INTERRUPTED, unfinished=True)
    conversation_id = core.conversations.add("Old", user("old"), last_run=run)
    core.conversations.state["last_conversation"] = conversation_id
    async with open_window(core) as rig:
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        await until(lambda: rig.shows("resumeBanner"))
        rig.button("resumeButton").setFocus()
        assert QApplication.focusWidget() is rig.button("resumeButton")
        rig.click("resumeButton")
        await until(lambda: core.runs.handles and not rig.shows("resumeBanner"))
        assert QApplication.focusWidget() is rig.composer
        core.runs.handles[-1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_that_another_process_writes_is_said_until_it_has_written() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("old"))
    core.conversations.state["last_conversation"] = conversation_id
    async with open_window(core) as rig:
        await rig.opened(conversation_id)
        handle = await core.runs.start(conversation_id, "from elsewhere")
        await until(lambda: rig.window.presenter.is_running)
        rig.window.chat.show_notice("Something else")
        rig.window.chat.show_notice(FOREIGN_NOTICE)
        handle.end()
        await until(lambda: rig.shows("sendButton"))
        assert rig.banner("noticeBar").text == "Something else"
        rig.window.chat.withdraw_notice("Something else")
        assert not rig.shows("noticeBar")


async def test_the_edit_menu_copies_what_is_selected_in_the_conversation_wherever_the_focus_is() -> None:
    core = FakeCore()
    last = core.conversations.add("Old", user("one"), assistant("**two**"))
    core.conversations.state["last_conversation"] = last
    async with open_window(core) as rig:
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        copy, markdown = rig.action("actionCopy"), rig.action("actionCopyMarkdown")
        rig.transcript.setFocus()
        await until(rig.action("actionSelectAll").isEnabled)
        assert not markdown.isEnabled()
        rig.action("actionSelectAll").trigger()
        rig.button("sendButton").setEnabled(True)
        rig.button("sendButton").setFocus()
        rig.window.edit_actions.update()
        assert (copy.isEnabled(), markdown.isEnabled()) == (True, True)
        assert rig.action("actionSelectAll").isEnabled()
        markdown.trigger()
        await until(lambda: "**two**" in QGuiApplication.clipboard().text())
        rig.composer.setFocus()
        assert (copy.isEnabled(), markdown.isEnabled()) == (False, False)


class Paints(QObject):
    """Counts how often a widget is painted."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """One more."""
        self.count += event.type() == QEvent.Type.Paint
        return super().eventFilter(watched, event)


async def test_another_placeholder_is_drawn_at_once() -> None:
    async with open_window(FakeCore()) as rig:
        rig.window.setFocus()
        await turns(10)
        QApplication.processEvents()
        paints = Paints()
        rig.composer.viewport().installEventFilter(paints)
        frame = rig.window.chat.composer_frame
        frame.show_waiting(is_waiting=True)
        assert "kept until you have decided" in rig.composer.placeholderText()
        await until(lambda: paints.count)
        rig.composer.viewport().removeEventFilter(paints)


async def test_the_hint_gives_way_before_the_models_name_is_cut() -> None:
    async with open_window(FakeCore()) as rig:
        frame, picker = rig.window.chat.composer_frame, rig.window.picker
        seen = set()
        for width in range(380, 700, 10):
            frame.setFixedWidth(width)
            frame.fit(width)
            await turns(2)
            seen.add(frame.hint.isVisible())
            if frame.hint.isVisible():
                assert picker.width() >= picker.sizeHint().width(), width
        assert seen == {True, False}
