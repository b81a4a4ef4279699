"""The window's list: switching, drafts, two runs at once, rename, delete, what survives a restart."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QLabel, QLineEdit, QListView, QWidget

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import EngineKind, EngineStatus, ServerState
from sophos_desktop.shell.widgets.status_item import StatusItem
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, server, user
from tests.support.window import WindowRig, open_window, shown_window, until


def core_with(*titles: str) -> tuple[FakeCore, list[str]]:
    core = FakeCore()
    return core, [core.conversations.add(title, user(f"about {title}")) for title in titles]


async def test_the_list_shows_what_is_stored_and_the_filter_narrows_it() -> None:
    core, _ = core_with("Plum cake", "Orders")
    async with open_window(core) as rig:
        assert rig.titles == ["Orders", "Plum cake"]
        QTest.keyClicks(rig.find(QLineEdit, "conversationFilter"), "plum")
        assert rig.titles == ["Plum cake"]


async def test_esc_in_the_filter_takes_back_the_words_and_then_leads_to_the_message() -> None:
    core, _ = core_with("Plum cake", "Orders")
    async with open_window(core) as rig:
        field = rig.find(QLineEdit, "conversationFilter")
        field.setFocus()
        QTest.keyClicks(field, "plum")
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert (field.text(), len(rig.titles)) == ("", 2)
        assert rig.window.focusWidget() is field
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert rig.window.focusWidget() is rig.composer


async def test_down_and_enter_in_the_filter_lead_to_the_first_conversation_that_is_left() -> None:
    core, (plum, _) = core_with("Plum cake", "Orders")
    async with open_window(core) as rig:
        field = rig.find(QLineEdit, "conversationFilter")
        field.setFocus()
        QTest.keyClicks(field, "nothing has this")
        QTest.keyClick(field, Qt.Key.Key_Down)
        assert rig.window.focusWidget() is field
        field.clear()
        QTest.keyClicks(field, "plum")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await rig.opened(plum)
        assert rig.window.focusWidget() is rig.find(QListView, "conversationList")


async def test_esc_in_an_empty_filter_still_stops_a_run_and_in_a_filled_one_does_not() -> None:
    core, _ = core_with("Orders")
    async with open_window(core) as rig:
        rig.type("Go")
        rig.enter()
        await until(lambda: rig.shows("stopButton"))
        field = rig.find(QLineEdit, "conversationFilter")
        field.setFocus()
        QTest.keyClicks(field, "x")
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert rig.window.presenter.can_stop
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert not rig.window.presenter.can_stop


async def test_switching_keeps_each_conversations_draft() -> None:
    core, (first, second) = core_with("First", "Second")
    core.conversations.drafts[second] = "kept from before"
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        assert "about First" in rig.transcript_text
        rig.type("half a thought")
        rig.choose("Second")
        await rig.opened(second)
        assert rig.composer.text == "kept from before"
        assert core.conversations.drafts[first] == "half a thought"
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        rig.type("new")
        rig.choose("First")
        await rig.opened(first)
        assert rig.composer.text == "half a thought"
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert rig.composer.text == "new"


async def test_quick_switching_ends_at_the_last_choice() -> None:
    core, (first, second, third) = core_with("First", "Second", "Third")
    async with open_window(core) as rig:
        for conversation_id in (first, second, third, second):
            rig.window.presenter.open(conversation_id)
        await rig.opened(second)
        assert "about Second" in rig.transcript_text
        assert "about Third" not in rig.transcript_text
        assert rig.composer.text == ""


async def test_two_conversations_run_at_once_and_neither_shows_the_others_text() -> None:
    core, (first, second) = core_with("First", "Second")
    async with open_window(core) as rig:
        for title, conversation_id in (("First", first), ("Second", second)):
            rig.choose(title)
            await rig.opened(conversation_id)
            rig.type("go")
            rig.enter()
            await until(lambda: rig.window.presenter.is_running)
        one, two = core.runs.handles
        one.say("one says", "a1")
        two.say("two says", "a2")
        await until(lambda: "two says" in rig.transcript_text)
        assert "one says" not in rig.transcript_text
        rig.choose("First")
        await rig.opened(first)
        await until(lambda: "one says" in rig.transcript_text)
        assert "two says" not in rig.transcript_text
        two.answer("two says it all", "a2")
        two.end()
        one.say(" more", "a1")
        await until(lambda: "one says more" in rig.transcript_text)
        assert rig.shows("stopButton")
        one.end(RunStatus.FAILED, SophosError(ErrorCode.ENGINE_BUSY, "Busy", "Wait."), unfinished=True)
        await until(rig.error_card)
        rig.choose("Second")
        await rig.opened(second)
        assert rig.error_card() is None
        assert "two says it all" in rig.transcript_text


async def test_a_conversation_that_moves_up_in_the_list_does_not_change_what_is_open() -> None:
    core, (first, second) = core_with("First", "Second")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.type("go")
        rig.enter()
        await until(lambda: rig.titles == ["First", "Second"])
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))
        assert rig.window.presenter.conversation_id == first
        await core.runs.start(second, "from elsewhere")
        await until(lambda: rig.titles == ["Second", "First"])
        assert rig.window.presenter.conversation_id == first
        view = rig.find(QListView, "conversationList")
        assert view.currentIndex().data() == "First"


async def test_a_run_that_something_else_started_in_the_open_conversation_is_followed() -> None:
    core, (first,) = core_with("First")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        handle = await core.runs.start(first, "from elsewhere")
        handle.say("hello from there")
        await until(lambda: "hello from there" in rig.transcript_text)
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_delete_asks_and_then_opens_the_next_conversation() -> None:
    core, (first, second) = core_with("First", "Second")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.type("a draft that goes too")
        rig.find(QListView, "conversationList").setFocus()
        QTest.keyClick(rig.find(QListView, "conversationList"), Qt.Key.Key_Delete)
        question = rig.find(QDialog, "deleteQuestion")
        question.reject()
        assert rig.titles == ["Second", "First"]
        rig.action("actionDelete").trigger()
        await until(lambda: any(one.isVisible() for one in rig.window.findChildren(QDialog)))
        next(one for one in rig.window.findChildren(QDialog) if one.isVisible()).accept()
        await until(lambda: rig.titles == ["Second"])
        await rig.opened(second)
        assert list(core.conversations.known) == [second]
        assert rig.composer.text == ""


async def test_delete_is_refused_while_a_run_is_active() -> None:
    core, (first,) = core_with("First")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.action("actionDelete").trigger()
        handle = await core.runs.start(first, "go")
        await until(lambda: rig.window.presenter.is_running)
        assert not rig.action("actionDelete").isEnabled()
        rig.find(QDialog, "deleteQuestion").accept()
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "SESSION_IN_PROGRESS"
        assert rig.titles == ["First"]
        handle.end()
        await until(lambda: rig.shows("sendButton"))


async def test_rename_happens_in_the_row() -> None:
    core, (first,) = core_with("First")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.action("actionRename").trigger()
        view = rig.find(QListView, "conversationList")
        editor = view.findChild(QLineEdit)
        assert editor is not None
        editor.setText("Better")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await until(lambda: rig.titles == ["Better"])
        assert core.conversations.known[first].title == "Better"


async def test_reopening_shows_the_conversation_and_its_draft_again() -> None:
    core, (first, _second) = core_with("First", "Second")
    core.conversations.stored[first].append(assistant("**An** answer"))
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(first)
        rig.type("not sent yet")
        await rig.window.save()
    async with open_window(core) as rig:
        await rig.opened(first)
        assert "An answer" in rig.transcript_text
        assert rig.composer.text == "not sent yet"
        view = rig.find(QListView, "conversationList")
        assert view.currentIndex().data() == "First"


async def test_a_last_conversation_that_is_gone_opens_a_new_chat() -> None:
    core, _ = core_with("First")
    core.conversations.state["last_conversation"] = "gone"
    async with open_window(core) as rig:
        await rig.opened(None)
        assert not rig.shows("errorBanner")


async def test_what_was_typed_while_the_app_opened_joins_the_draft_of_the_new_chat() -> None:
    core, (first,) = core_with("First")
    core.conversations.state["last_conversation"] = first
    core.conversations.drafts[None] = "older"
    async with shown_window() as rig:
        rig.type("newer")
        await rig.window.attach(core)
        await rig.opened(None)
        assert rig.composer.text == "older\nnewer"


def status(rig: WindowRig, name: str) -> StatusItem:
    return rig.find(StatusItem, name)


async def test_the_status_bar_says_engine_model_and_servers_with_reasons() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await until(lambda: status(rig, "statusModel").text == "qwen3:8b")
        assert status(rig, "statusModel").toolTip() == "It was used last"
        assert status(rig, "statusEngine").text == "Ollama 0.12.6"
        assert status(rig, "statusEngine").toolTip() == "Ollama 0.12.6 answers at 127.0.0.1:11434"
        assert status(rig, "statusServers").text == "no tool servers"
        core.servers.set(
            server("memory", ServerState.READY, 5), server("fetch", ServerState.FAILED, 0, "Not found.")
        )
        assert status(rig, "statusServers").text == "2 servers, 5 tools, 1 failed"
        assert "fetch: failed. Not found." in status(rig, "statusServers").toolTip()
        core.engines.current = EngineStatus(EngineKind.OLLAMA, False, "Nobody answers.", "Start it.")
        rig.window.status_feed.refresh()
        await until(lambda: status(rig, "statusEngine").text == "Ollama down")
        assert status(rig, "statusEngine").toolTip() == "Nobody answers.\nStart it."
        assert status(rig, "statusModel").text == "qwen3:8b"
        core.models.by_settings = None
        core.models.problem = SophosError(ErrorCode.ENGINE_UNREACHABLE, "Nobody answers", "Start it")
        rig.window.status_feed.refresh()
        await until(lambda: not rig.shows("statusModel"))


async def test_in_a_narrow_window_the_status_bar_says_less_and_its_tooltips_everything() -> None:
    core = FakeCore()
    core.servers.set(server("memory", ServerState.READY, 5))
    async with open_window(core) as rig:
        await until(lambda: status(rig, "statusModel").text)
        rig.window.resize(600, 500)
        words = status(rig, "statusServers").findChildren(QLabel)[-1]
        await until(lambda: words.text() == "1")
        assert status(rig, "statusServers").text == "1 server, 5 tools"
        assert "memory: ready" in status(rig, "statusServers").toolTip()


async def test_everything_a_person_can_touch_has_a_name_for_screen_readers() -> None:
    core, _ = core_with("First")
    async with open_window(core) as rig:
        touchable = [
            part
            for part in rig.window.findChildren(QWidget)
            if (
                part.focusPolicy() != Qt.FocusPolicy.NoFocus
                and isinstance(part, QAbstractButton | QLineEdit | QListView)
            )
            or part.objectName() in ("composer", "transcript")
        ]
        assert len(touchable) > 8
        assert [part.objectName() for part in touchable if not part.accessibleName()] == []
        actions = rig.window.findChildren(QAction)
        named = {action.objectName() for action in actions}
        assert {"actionNewChat", "actionResume", "actionStop", "actionQuit", "actionDelete"} <= named


async def test_the_window_can_be_used_by_keyboard_alone() -> None:
    core, (first,) = core_with("First")
    async with open_window(core) as rig:
        rig.window.activateWindow()
        await until(lambda: rig.composer.hasFocus())
        rig.action("actionFocusList").trigger()
        view = rig.find(QListView, "conversationList")
        assert view.hasFocus()
        QTest.keyClick(view, Qt.Key.Key_Down)
        await rig.opened(first)
        rig.action("actionFocusComposer").trigger()
        assert rig.composer.hasFocus()
        seen: set[str] = set()
        for _ in range(12):
            focused = rig.window.focusWidget()
            assert focused is not None
            seen.add(focused.objectName())
            QTest.keyClick(focused, Qt.Key.Key_Tab)
        assert {"composer", "conversationFilter", "newChatButton", "conversationList", "transcript"} <= seen
