"""The model picker, the context meter and changed tools in the real window."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QListWidget, QPushButton, QToolButton

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ModelCallFinished
from sophos_desktop.core.domain.model_choices import ChosenModel, ContextUse, EngineModels
from sophos_desktop.core.domain.policy import Permission, Policy
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, EngineStatus
from sophos_desktop.shell.chat.composing.model_picker import ModelPicker
from sophos_desktop.shell.chat.composing.model_popup import ModelPopup
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog
from sophos_desktop.shell.widgets.status_item import ContextMeter, StatusItem
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import WindowRig, open_window, shown_window, until

OLLAMA = EngineKind.OLLAMA


def picker(rig: WindowRig) -> ModelPicker:
    return rig.find(ModelPicker, "modelPicker")


def popup(rig: WindowRig) -> ModelPopup:
    return rig.find(ModelPopup, "modelPopup")


def titles(rig: WindowRig) -> list[str]:
    return [row.title for row in popup(rig).list.rows]


def current(rig: WindowRig) -> str:
    return str(rig.find(QListView, "modelList").currentIndex().data())


def status_model(rig: WindowRig) -> str:
    return rig.find(StatusItem, "statusModel").text


async def opened_popup(rig: WindowRig) -> QLineEdit:
    """The list open and filled; the field that has its keyboard."""
    await until(lambda: picker(rig).shown.marks, "the models are known")
    QTest.mouseClick(picker(rig), Qt.MouseButton.LeftButton)
    await until(lambda: popup(rig).isVisible() and "Looking…" not in titles(rig))
    return rig.find(QLineEdit, "modelFilter")


async def test_the_picker_says_the_model_its_engine_and_what_it_can_do() -> None:
    async with shown_window() as rig:
        assert picker(rig).shown.name == "Looking…"
        assert not picker(rig).isEnabled()
        await rig.window.attach(FakeCore())
        await until(lambda: picker(rig).shown.marks)
        assert picker(rig).isEnabled()
        assert picker(rig).accessibleName() == "Model: qwen3:8b, Ollama"
        assert "Can use tools, can think before it answers" in picker(rig).accessibleDescription()
        assert "Ollama" in picker(rig).toolTip()
        assert picker(rig).height() == 28


async def test_by_keyboard_alone_a_model_is_filtered_and_chosen() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        await until(lambda: picker(rig).shown.marks)
        picker(rig).setFocus()
        QTest.keyClick(picker(rig), Qt.Key.Key_Space)
        await until(lambda: popup(rig).isVisible() and "Looking…" not in titles(rig))
        field = rig.find(QLineEdit, "modelFilter")
        assert current(rig) == "As in the settings (qwen3:8b)"
        QTest.keyClicks(field, "12b")
        assert titles(rig) == ["mistral-nemo:12b"]
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert not popup(rig).isVisible()
        assert rig.window.focusWidget() is rig.composer
        await until(lambda: picker(rig).shown.name == "mistral-nemo:12b")
        assert core.models.choices == {None: ChosenModel(OLLAMA, "mistral-nemo:12b")}
        await until(lambda: status_model(rig) == "mistral-nemo:12b")


async def test_arrows_move_and_escape_changes_nothing() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        field = await opened_popup(rig)
        for key, title in (
            (Qt.Key.Key_Down, "qwen3:8b"),
            (Qt.Key.Key_Down, "llama3.2-vision:11b"),
            (Qt.Key.Key_Up, "qwen3:8b"),
            (Qt.Key.Key_Up, "As in the settings (qwen3:8b)"),
            (Qt.Key.Key_Up, "As in the settings (qwen3:8b)"),
            (Qt.Key.Key_PageDown, "smollm2:135m"),
        ):
            QTest.keyClick(field, key)
            assert current(rig) == title
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert not popup(rig).isVisible()
        assert rig.window.focusWidget() is rig.composer
        assert core.models.choices == {}


async def test_each_conversation_has_its_own_choice_and_a_new_one_takes_the_new_chats_along() -> None:
    core = FakeCore()
    known = core.conversations.add("Known", user("Hi"))
    core.models.choices[known] = ChosenModel(OLLAMA, "llama3.2-vision:11b")
    async with open_window(core) as rig:
        field = await opened_popup(rig)
        QTest.keyClicks(field, "nemo")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: picker(rig).shown.name == "mistral-nemo:12b")
        rig.choose("Known")
        await rig.opened(known)
        await until(lambda: picker(rig).shown.name == "llama3.2-vision:11b")
        await until(lambda: status_model(rig) == "llama3.2-vision:11b")
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        await until(lambda: picker(rig).shown.name == "mistral-nemo:12b")
        rig.type("Go")
        rig.enter()
        await until(lambda: core.runs.handles)
        handle = core.runs.handles[-1]
        assert core.models.choices[handle.conversation_id] == ChosenModel(OLLAMA, "mistral-nemo:12b")
        assert None not in core.models.choices
        handle.answer("Done.")
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)
        assert picker(rig).shown.name == "mistral-nemo:12b"
        rig.action("actionNewChat").trigger()
        await until(lambda: picker(rig).shown.name == "qwen3:8b")


async def test_as_in_the_settings_takes_a_choice_back() -> None:
    core = FakeCore()
    core.models.choices[None] = ChosenModel(OLLAMA, "llama3.2-vision:11b")
    async with open_window(core) as rig:
        await opened_popup(rig)
        assert current(rig) == "llama3.2-vision:11b"
        view = rig.find(QListView, "modelList")
        where = view.visualRect(view.model().index(0, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
        await until(lambda: picker(rig).shown.name == "qwen3:8b")
        assert core.models.choices == {None: ChosenModel(None, None)}


async def test_the_list_opens_at_once_and_fills_when_the_engines_have_answered() -> None:
    core = FakeCore()
    core.models.gate.clear()
    async with open_window(core) as rig:
        await until(lambda: picker(rig).shown.name == "qwen3:8b")
        QTest.mouseClick(picker(rig), Qt.MouseButton.LeftButton)
        assert titles(rig) == ["As in the settings (qwen3:8b)", "Looking…"]
        core.models.gate.set()
        await until(lambda: len(titles(rig)) == 5)
        assert popup(rig).isVisible()
        popup(rig).close()


async def test_an_engine_that_is_down_is_a_row_that_cannot_be_chosen() -> None:
    core = FakeCore()
    down = SophosError(ErrorCode.ENGINE_UNREACHABLE, "Ollama does not answer", "Start it")
    core.models.engines[0] = EngineModels(OLLAMA, problem=down)
    async with open_window(core) as rig:
        await until(lambda: core.models.lists and picker(rig).shown.name == "qwen3:8b")
        QTest.mouseClick(picker(rig), Qt.MouseButton.LeftButton)
        await until(lambda: titles(rig)[-1] == "Ollama does not answer")
        field = rig.find(QLineEdit, "modelFilter")
        for _ in titles(rig):
            QTest.keyClick(field, Qt.Key.Key_Down)
        assert current(rig) == "Ollama does not answer"
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert popup(rig).isVisible()
        assert core.models.choices == {}
        popup(rig).close()


async def test_a_chosen_model_that_is_gone_is_shown_with_a_warning() -> None:
    core = FakeCore()
    core.models.choices[None] = ChosenModel(OLLAMA, "gone:7b")
    async with open_window(core) as rig:
        await until(lambda: picker(rig).shown.is_gone)
        assert picker(rig).accessibleName() == "Model: gone:7b, Ollama"
        assert "has no model gone:7b any more" in picker(rig).toolTip()


async def test_a_choice_that_cannot_be_kept_is_said_and_changes_nothing() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        field = await opened_popup(rig)
        core.models.error = SophosError(ErrorCode.STORE_FULL, "The disk is full", "Make room")
        QTest.keyClicks(field, "nemo")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: rig.banner("errorBanner").title == "The disk is full" or rig.error_card())
        assert picker(rig).shown.name == "qwen3:8b"


async def test_picker_and_status_bar_hear_of_an_engine_that_comes_back() -> None:
    core = FakeCore()
    core.engines.current = EngineStatus(OLLAMA, False, "Nobody answers", "Start it")
    core.models.by_settings, core.models.problem = (
        None,
        SophosError(ErrorCode.ENGINE_UNREACHABLE, "Nobody answers", "Start it"),
    )
    async with open_window(core) as rig:
        await until(lambda: picker(rig).shown.name == "No model")
        await until(lambda: rig.find(StatusItem, "statusEngine").text == "Ollama down")
        core.models.by_settings, core.models.problem = EngineChoice(OLLAMA, "qwen3:8b"), None
        core.engines.current = EngineStatus(OLLAMA, True, "It answers", version="0.12.6")
        rig.window.status_feed.refresh()
        await until(lambda: picker(rig).shown.name == status_model(rig) == "qwen3:8b")


async def test_the_engine_of_the_chosen_model_is_the_one_that_is_reported() -> None:
    core = FakeCore()
    core.engines.others[EngineKind.STARTER] = EngineStatus(EngineKind.STARTER, True, "It answers")
    core.models.choices[None] = ChosenModel(EngineKind.STARTER, "smollm2:135m")
    async with open_window(core) as rig:
        await until(lambda: rig.find(StatusItem, "statusEngine").text == "Starter")
        assert status_model(rig) == "smollm2:135m"


async def test_the_meter_follows_each_call_of_the_model_and_each_conversation() -> None:
    core = FakeCore()
    full = core.conversations.add("Full", user("Hi"))
    unknown = core.conversations.add("Unknown", user("Hi"))
    core.models.uses[full] = ContextUse(8_000, 192, 8_192)
    async with open_window(core) as rig:
        meter = rig.find(ContextMeter, "contextMeter")
        rig.choose("Full")
        await until(lambda: meter.isVisible() and meter.text == "full")
        assert meter.accessibleName() == "Context: full, 8k of 8k tokens"
        rig.choose("Unknown")
        await rig.opened(unknown)
        await until(lambda: not meter.isVisible())
        rig.type("Go")
        rig.enter()
        await until(lambda: core.runs.handles)
        handle = core.runs.handles[-1]
        handle.tell(ModelCallFinished(1, "m1", 0, 1, 0, 9, 6_000, 100, 8_192))
        await until(lambda: meter.isVisible() and meter.text == "6.1k of 8k")
        handle.tell(ModelCallFinished(2, "m2", 0, 1, 0, 9, 6_900, 100, 8_192))
        await until(lambda: meter.text == "7.0k of 8k")
        assert "left out of the prompt" in meter.toolTip()
        rig.choose("Full")
        await until(lambda: meter.text == "full")
        handle.end()
        await until(lambda: core.runs.active(unknown) is None)
        rig.action("actionNewChat").trigger()
        await until(lambda: not meter.isVisible())


async def test_a_tool_that_changed_is_said_once_with_the_way_to_the_permissions() -> None:
    core = FakeCore()
    core.definitions.tell("tool server files: the tool append changed since it was last seen (2026-11-02)")
    async with open_window(core) as rig:
        banner = rig.banner("changedToolsBanner")
        assert banner.isVisible()
        assert "Tool server files: the tool append changed" in banner.text
        assert "Tools > Permissions" in banner.text
        core.definitions.tell("tool server web: it offers a new tool get")
        assert "files" in banner.text
        assert "web" in banner.text
        rig.find(QPushButton, "changedToolsButton").click()
        await until(lambda: rig.find(PlainDialog, "permissionsDialog").isVisible())
        rig.find(PlainDialog, "permissionsDialog").close()
        rig.find(QToolButton, "changedToolsBannerClose").click()
        assert not banner.isVisible()
        core.definitions.tell("tool server web: the tool get changed since it was last seen (2026-11-30)")
        assert banner.isVisible()
        assert "files" not in banner.text


async def test_open_permissions_show_what_the_command_line_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    core = FakeCore()
    listeners: list[Callable[[], None]] = []

    def subscribe(listener: Callable[[], None]) -> Callable[[], None]:
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    async with open_window(core) as rig:
        monkeypatch.setattr(core.neighbours, "subscribe", subscribe)
        rig.action("actionToolPermissions").trigger()
        listed = rig.find(QListWidget, "permissionList")
        await until(lambda: len(listeners) == 1)
        core.decisions.for_good.append(
            Permission("files", "append", "", "f", Policy.ALLOW, "2026-11-30T10:00:00Z")
        )
        listeners[0]()
        await until(lambda: listed.count() == 1)
        assert "append" in listed.item(0).text()
        rig.find(PlainDialog, "permissionsDialog").close()
        assert listeners == []


async def test_a_pointer_that_rests_where_the_list_opens_chooses_nothing() -> None:
    async with open_window(FakeCore()) as rig:
        await opened_popup(rig)
        view = rig.find(QListView, "modelList")
        here = current(rig)
        view.entered.emit(view.model().index(3, 0))
        assert current(rig) == here
        QCursor.setPos(QCursor.pos() + QPoint(7, 3))
        view.entered.emit(view.model().index(3, 0))
        assert current(rig) == "mistral-nemo:12b"
        popup(rig).close()
