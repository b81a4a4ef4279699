"""Every command of the menus, by its object name: what it does, and when it can be used."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
    QTreeWidget,
)

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.shell.diagnostics.help_dialogs import keys_of
from sophos_desktop.shell.diagnostics.servers_dialog import ServersDialog
from sophos_desktop.shell.preferences.settings_dialog import SettingsDialog
from sophos_desktop.shell.widgets.pane_button import PaneButton
from sophos_desktop.shell.widgets.status_item import StatusItem
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import interrupted, server, user
from tests.support.window import WindowRig, open_window, shown_window, until

NEEDS_CORE = {
    "actionNewChat",
    "actionSettings",
    "actionOpenDataFolder",
    "actionServers",
    "actionDoctor",
    "actionExportAllMarkdown",
    "actionExportAllJsonl",
}
NEEDS_CONVERSATION = {"actionRename", "actionDelete", "actionExportMarkdown", "actionExportJsonl"}


def enabled(rig: WindowRig) -> set[str]:
    return {action.objectName() for action in rig.window.actions_ if action.isEnabled()}


async def test_the_commands_follow_the_conversation() -> None:
    core = FakeCore()
    core.conversations.add("Cut off", user("go"), last_run=interrupted())
    async with shown_window() as rig:
        assert not enabled(rig) & (NEEDS_CORE | NEEDS_CONVERSATION | {"actionStop", "actionResume"})
        assert {"actionQuit", "actionAbout", "actionKeyboard", "actionToggleList"} <= enabled(rig)
        await rig.window.attach(core)
        assert enabled(rig) >= NEEDS_CORE
        assert not enabled(rig) & (NEEDS_CONVERSATION | {"actionStop", "actionResume"})
        rig.choose("Cut off")
        await until(lambda: "actionResume" in enabled(rig))
        assert enabled(rig) >= NEEDS_CONVERSATION
        rig.action("actionResume").trigger()
        await until(lambda: "actionStop" in enabled(rig))
        assert not enabled(rig) & {"actionResume", "actionDelete"}
        rig.action("actionStop").trigger()
        await until(lambda: core.runs.handles[0].is_stopped)
        assert "actionStop" not in enabled(rig)
        core.runs.handles[0].end(RunStatus.CANCELLED)
        await until(lambda: "actionDelete" in enabled(rig))
        rig.window.close_for_work()
        assert not enabled(rig) & (NEEDS_CORE | NEEDS_CONVERSATION)


async def test_every_entry_of_the_menus_has_a_name_and_a_function() -> None:
    async with open_window(FakeCore()) as rig:
        titles = [action.text() for action in rig.window.menuBar().actions()]
        assert titles == ["&File", "&Edit", "&View", "&Chat", "&Tools", "&Help"]
        entries = [
            action
            for menu in (*rig.window.menus.findChildren(QMenu), rig.find(QMenu, "conversationMenu"))
            for action in menu.actions()
            if not action.isSeparator() and action.menu() is None
        ]
        assert all(action.objectName().startswith("action") for action in entries)
        assert all(action.receivers("2triggered(bool)") for action in entries)  # "2": Qt's mark of a signal
        known = {action.objectName() for action in (*rig.window.actions_, rig.action("actionToggleTrace"))}
        assert known <= {action.objectName() for action in entries}


async def test_keys_are_the_platforms_and_none_is_given_twice() -> None:
    async with open_window(FakeCore()) as rig:
        keys = [
            action.shortcut().toString()
            for action in rig.window.findChildren(QAction)
            if not action.shortcut().isEmpty()
        ]
        assert len(keys) == len(set(keys))
        assert rig.action("actionNewChat").shortcut() == QKeySequence(QKeySequence.StandardKey.New)
        assert rig.action("actionQuit").shortcut() == QKeySequence("Ctrl+Q")
        assert rig.action("actionSettings").shortcut() == QKeySequence("Ctrl+,")
        assert ("New Chat", "Ctrl+N") in keys_of(rig.window.actions_)


async def test_no_text_takes_a_key_of_a_command_for_itself() -> None:
    async with open_window(FakeCore()) as rig:
        taken = []
        for action in (*rig.window.actions_, rig.action("actionToggleTrace")):
            if action.shortcut().isEmpty() or action.shortcutContext() != Qt.ShortcutContext.WindowShortcut:
                continue
            key = action.shortcut()[0]
            event = QKeyEvent(QEvent.Type.ShortcutOverride, key.key(), key.keyboardModifiers())
            event.ignore()
            QApplication.sendEvent(rig.composer, event)
            if event.isAccepted():
                taken.append((action.objectName(), action.shortcut().toString()))
        assert taken == []


async def test_the_edit_commands_act_on_the_text_that_has_the_focus() -> None:
    core = FakeCore()
    core.conversations.state["last_conversation"] = core.conversations.add("First", user("x"))
    async with open_window(core) as rig:
        edit = rig.window.edit_actions
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        rig.composer.setFocus()
        edit.update()
        assert edit.paste.isEnabled()
        assert not edit.undo.isEnabled()
        rig.type("one two")
        edit.update()
        assert edit.undo.isEnabled()
        rig.action("actionSelectAll").trigger()
        assert edit.cut.isEnabled()
        rig.action("actionCut").trigger()
        assert rig.composer.text == ""
        assert QGuiApplication.clipboard().text() == "one two"
        rig.action("actionPaste").trigger()
        assert rig.composer.text == "one two"
        rig.action("actionUndo").trigger()
        assert rig.composer.text == ""
        rig.action("actionRedo").trigger()
        assert rig.composer.text == "one two"
        field = rig.find(QLineEdit, "conversationFilter")
        field.setFocus()
        field.setText("filter")
        rig.action("actionSelectAll").trigger()
        rig.action("actionCopy").trigger()
        assert QGuiApplication.clipboard().text() == "filter"
        rig.window.chat.transcript.setFocus()
        assert not edit.paste.isEnabled()
        assert edit.select_all.isEnabled()
        rig.window.panel.view.setFocus()
        assert not edit.select_all.isEnabled()


async def test_the_list_is_shown_and_hidden_from_menu_and_status_bar() -> None:
    async with open_window(FakeCore()) as rig:
        rig.action("actionToggleList").trigger()
        assert not rig.shows("listPanel")
        QTest.mouseClick(rig.find(PaneButton, "buttonToggleList"), Qt.MouseButton.LeftButton)
        assert rig.shows("listPanel")


async def test_the_data_folder_is_handed_to_the_system() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        opened: list[str] = []
        rig.window.open_folder = opened.append  # type: ignore[method-assign, assignment]
        rig.action("actionOpenDataFolder").trigger()
        assert opened == [str(core.paths.data_dir)]


async def test_title_state_and_model_stand_in_the_frame() -> None:
    core = FakeCore()
    core.conversations.add("Monthly totals", user("go"), last_run=interrupted())
    async with open_window(core) as rig:
        assert rig.window.windowTitle() == "Sophos Desktop"
        assert not rig.shows("statusRun")
        rig.choose("Monthly totals")
        await until(lambda: rig.window.windowTitle() == "Monthly totals — Sophos Desktop")
        status = rig.find(StatusItem, "statusRun")
        assert status.text == "Interrupted  ·  qwen3:8b"
        rig.action("actionResume").setEnabled(True)
        rig.click("resumeButton")
        await until(lambda: status.text == "Running  ·  qwen3:8b")
        core.runs.handles[0].end(
            RunStatus.FAILED, SophosError(ErrorCode.ENGINE_UNREACHABLE, "Nobody answers"), unfinished=True
        )
        await until(lambda: status.text == "Failed  ·  qwen3:8b")
        assert status.toolTip() == "Nobody answers"
        await core.conversations.rename(rig.window.presenter.conversation_id or "", "Totals")
        core.runs.changed(rig.window.presenter.conversation_id or "")
        await until(lambda: rig.window.windowTitle() == "Totals — Sophos Desktop")


# The windows beside


async def test_settings_are_changed_refused_and_reset_in_the_form() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.action("actionSettings").trigger()
        dialog = rig.find(SettingsDialog, "settingsDialog")
        assert dialog.isVisible()
        assert not dialog.isModal()
        limit = rig.find(QLineEdit, "setting_answer_step_limit")
        limit.setText("many")
        QTest.keyClick(limit, Qt.Key.Key_Return)
        problem = rig.find(QLabel, "setting_answer_step_limit_problem")
        assert problem.text() == 'answer.step_limit cannot be "many"'
        assert limit.text() == "many"
        assert dialog.isVisible()
        limit.setText("40")
        limit.editingFinished.emit()
        assert core.settings.known["answer.step_limit"].value == "40"
        assert not problem.isVisible()
        dialog.field("answer.step_limit").reset.click()
        assert limit.text() == "25"
        host = rig.find(QLineEdit, "setting_engine_host")
        assert host.isReadOnly()
        assert host.text() == "10.0.0.1:11434"
        notes = " ".join(label.text() for label in dialog.field("engine.host").findChildren(QLabel))
        assert "Set by OLLAMA_HOST" in notes


async def test_another_theme_applies_at_once() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.action("actionSettings").trigger()
        dialog = rig.find(SettingsDialog, "settingsDialog")
        dialog.field("ui.theme").edited.emit("ui.theme", "dark")
        assert rig.window.theme.tokens.name == "dark"
        dialog.field("ui.theme").edited.emit("ui.theme", "light")
        assert rig.window.theme.tokens.name == "light"


async def test_the_servers_are_listed_with_their_reasons_and_can_be_restarted() -> None:
    core = FakeCore()
    core.servers.set(
        server("broken", ServerState.FAILED, reason="It ended with 1"), server("good", ServerState.READY, 2)
    )
    async with open_window(core) as rig:
        rig.action("actionServers").trigger()
        dialog = rig.find(ServersDialog, "serversDialog")
        listed = rig.find(QListWidget, "serverList")
        assert [listed.item(row).text() for row in range(2)] == ["broken  ·  failed", "good  ·  ready"]
        assert "Reason: It ended with 1" in rig.find(QLabel, "serverFacts").text()
        rig.click("serverRestartButton")
        await until(lambda: listed.item(0).text() == "broken  ·  ready")
        assert core.servers.restarted == ["broken"]
        listed.setCurrentRow(1)
        assert "Tools (2): tool0, tool1" in rig.find(QLabel, "serverFacts").text()
        dialog.close()
        core.servers.set()
        assert listed.count() == 2  # closed, it hears of nothing
        rig.action("actionServers").trigger()
        assert listed.count() == 0


async def test_a_server_is_trusted_and_not_any_more_from_the_keyboard() -> None:
    core = FakeCore()
    core.servers.set(server("mine", ServerState.READY, 1), server("ours", ServerState.READY, 1))
    core.trust.given["ours"] = Trust.BUILT_IN
    async with open_window(core) as rig:
        rig.action("actionServers").trigger()
        facts = rig.find(QLabel, "serverFacts")
        button = rig.find(QPushButton, "serverTrustButton")
        assert "Trust: not trusted" in facts.text()
        assert (button.text(), button.accessibleName(), button.isEnabled()) == ("Trust", "Trust", True)
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda: "Trust: trusted" in facts.text())
        assert button.text() == "Do Not Trust"
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda: "Trust: not trusted" in facts.text())
        core.trust.error = SophosError(ErrorCode.STORE_BUSY, "The file is busy", "Try again")
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda: rig.find(QLabel, "serversDialogNote").text() == "The file is busy. Try again")
        assert button.isEnabled()
        rig.find(QListWidget, "serverList").setCurrentRow(1)
        assert "Trust: built in" in facts.text()
        assert not button.isEnabled()


async def test_the_doctor_lists_its_checks_with_remedies() -> None:
    async with open_window(FakeCore()) as rig:
        rig.action("actionDoctor").trigger()
        listed = rig.find(QListWidget, "doctorList")
        await until(lambda: listed.count() == 2)
        assert listed.item(1).text() == "Nobody answers\nStart Ollama"
        assert rig.find(QLabel, "doctorDialogNote").text() == "1 of 2 checks need you."


@pytest.mark.parametrize(
    ("action", "dialog"), [("actionAbout", "aboutDialog"), ("actionKeyboard", "keyboardDialog")]
)
async def test_help_opens_once_and_closes_with_escape(action: str, dialog: str) -> None:
    async with open_window(FakeCore()) as rig:
        rig.action(action).trigger()
        rig.action(action).trigger()
        assert len(rig.window.findChildren(QDialog, dialog)) == 1
        shown = rig.find(QDialog, dialog)
        assert shown.isVisible()
        QTest.keyClick(shown, Qt.Key.Key_Escape)
        assert not shown.isVisible()


@pytest.mark.parametrize(
    ("chosen", "send", "break_"), [("enter", "Enter", "Shift+Enter"), ("ctrl-enter", "Ctrl+Enter", "Enter")]
)
async def test_the_list_of_keys_says_which_key_sends_now(chosen: str, send: str, break_: str) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.action("actionKeyboard").trigger()
        rig.find(QDialog, "keyboardDialog").close()
        core.settings.set("ui.send_key", chosen)
        rig.action("actionKeyboard").trigger()
        table = rig.find(QTreeWidget, "keyboardList")
        rows = [table.topLevelItem(row) for row in range(table.topLevelItemCount())]
        keys = {row.text(0): row.text(1) for row in rows if row is not None}
        assert (keys["Send the message"], keys["Break the line"]) == (send, break_)
        assert keys["New Chat"] == "Ctrl+N"


# Exports


async def export_one(rig: WindowRig, action: str, path: Path) -> None:
    rig.action(action).trigger()
    dialog = rig.window.findChildren(QFileDialog, "exportDialog")[-1]
    assert dialog.isVisible()
    dialog.fileSelected.emit(str(path))
    dialog.close()


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("actionExportMarkdown", ExportFormat.MARKDOWN),
        ("actionExportHere", ExportFormat.MARKDOWN),
        ("actionExportJsonl", ExportFormat.CHECKPOINTS),
    ],
)
async def test_the_open_conversation_is_exported_to_the_chosen_file(action: str, kind: ExportFormat) -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("First", user("x"))
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(conversation_id)
        opened: list[str] = []
        rig.window.open_folder = opened.append  # type: ignore[method-assign, assignment]
        await export_one(rig, action, Path("/tmp/out/file.md"))
        await until(lambda: rig.shows("exportOpenFolder"))
        assert core.exports.asked == [((conversation_id,), Path("/tmp/out/file.md"), kind)]
        assert "/tmp/out/file.md" in rig.banner("exportBar").text
        rig.click("exportOpenFolder")
        assert opened == ["/tmp/out"]


async def test_exporting_all_shows_how_far_it_is_and_can_be_cancelled() -> None:
    core = FakeCore()
    for title in ("First", "Second"):
        core.conversations.add(title, user("x"))
    core.exports.gate.clear()
    async with open_window(core) as rig:
        await export_one(rig, "actionExportAllMarkdown", Path("/tmp/out"))
        await until(lambda: rig.banner("exportBar").text == "1 of 2 conversations")
        assert not rig.action("actionExportAllJsonl").isEnabled()
        rig.click("exportCancel")
        await until(lambda: rig.banner("exportBar").title == "The export was cancelled")
        assert rig.action("actionExportAllJsonl").isEnabled()
        core.exports.gate.set()
        await export_one(rig, "actionExportAllJsonl", Path("/tmp/out"))
        await until(lambda: rig.banner("exportBar").title == "2 conversations were exported")


async def test_an_export_that_fails_says_why() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("First", user("x"))
    core.exports.error = SophosError(ErrorCode.EXPORT_FAILED, "out.md cannot be written", "Choose another")
    async with open_window(core) as rig:
        rig.choose("First")
        await rig.opened(conversation_id)
        await export_one(rig, "actionExportMarkdown", Path("/tmp/out.md"))
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "EXPORT_FAILED"
        assert not rig.shows("exportBar")
