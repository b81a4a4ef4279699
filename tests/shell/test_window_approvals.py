"""Calls that wait for the person, in the window on the real core: asked by cards, decided by hand."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QTextEdit,
    QWidget,
)

from sophos_desktop.core.domain.conversation import ToolStatus
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.cards.approval_card import ApprovalCard
from sophos_desktop.shell.chat.cards.uncertain_card import UncertainCard
from sophos_desktop.shell.diagnostics.permissions_dialog import PermissionsDialog
from tests.support.card_window import DONE, asked, asking_window, cards, finished, press, results
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    lines_of,
    slow_append,
    until_lines,
)
from tests.support.window import WindowRig, turns, until


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


async def test_a_call_is_shown_whole_and_runs_when_it_is_allowed_once(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        assert isinstance(card, ApprovalCard)
        assert card.accessibleName() == "lines · append_line wants to run"
        assert "trust" in rig.find(QLabel, "approvalReason").text()
        field = rig.find(QTextEdit, "approvalArguments")
        assert field.toPlainText() == f'{{\n  "file": "{file}",\n  "text": "one"\n}}'
        await until(lambda: rig.find(QLabel, "approvalVerdict").text() == "Fits the schema of the tool")
        assert rig.button("alwaysAllowButton").accessibleName() == "Always allow this tool"
        assert lines_of(file) == []
        press(card, "allowOnceButton")
        await finished(rig, core)
        assert lines_of(file) == ["one"]
        assert "Done." in rig.transcript_text
        assert await core.decisions.permissions() == []


async def test_a_denied_call_tells_the_model_why(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        press(card, "denyButton")
        assert not rig.shows("allowOnceButton")
        QTest.keyClicks(rig.find(QLineEdit, "denyReason"), "Not today")
        press(card, "denyButton")
        await finished(rig, core)
        ((status, text),) = await results(core, rig)
        assert (status, text.endswith("Reason: Not today")) == (ToolStatus.DENIED, True)
        assert lines_of(file) == []


async def test_back_from_the_reason_denies_nothing(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        press(card, "denyButton")
        press(card, "denyBackButton")
        assert rig.shows("allowOnceButton")
        assert not rig.shows("denyReason")
        press(card, "denyButton")
        QTest.keyClick(rig.find(QLineEdit, "denyReason"), Qt.Key.Key_Escape)
        assert rig.shows("allowOnceButton")
        assert len(await core.decisions.pending()) == 1


async def test_changed_arguments_are_judged_as_they_are_typed_and_sent_as_they_stand(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        field, verdict = rig.find(QTextEdit, "approvalArguments"), rig.find(QLabel, "approvalVerdict")
        original = field.toPlainText()
        field.setPlainText(original.replace('"one"', '"one"]'))
        assert verdict.text() == "Line 3, column 16: expected ','"
        assert not rig.button("allowOnceButton").isEnabled()
        assert not rig.button("alwaysAllowButton").isEnabled()
        field.setPlainText(original.replace('"one"', "7"))
        await until(lambda: "text" in verdict.text() and "must" in verdict.text())
        assert not rig.button("allowOnceButton").isEnabled()
        press(card, "restoreButton")
        assert field.toPlainText() == original
        field.setPlainText(original.replace('"one"', '"two"'))
        await until(lambda: verdict.text() == "Fits the schema of the tool")
        press(card, "allowOnceButton")
        await finished(rig, core)
        assert lines_of(file) == ["two"]


async def test_arguments_that_the_core_refuses_are_asked_about_again(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        field = rig.find(QTextEdit, "approvalArguments")
        field.setPlainText(field.toPlainText().replace('"one"', "7"))
        press(card, "allowOnceButton")  # sooner than the schema is looked at
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").code == "BAD_REQUEST"
        await until(lambda: "text" in rig.find(QLabel, "approvalVerdict").text())
        assert card.is_open
        assert len(await core.decisions.pending()) == 1


async def test_always_holds_for_later_calls_until_it_is_taken_back(data_dir: Path, file: Path) -> None:
    async with asking_window(
        data_dir,
        calls(append(file, "one")),
        DONE,
        calls(append(file, "two")),
        DONE,
        calls(append(file, "three")),
    ) as (rig, core, _):
        (card,) = await asked(rig, "Write one")
        press(card, "alwaysAllowButton")
        await finished(rig, core)
        rig.type("Write two")
        rig.enter()
        await until(lambda: lines_of(file) == ["one", "two"])
        await finished(rig, core)
        rig.action("actionToolPermissions").trigger()
        dialog = rig.find(PermissionsDialog, "permissionsDialog")
        assert not dialog.isModal()
        listed = rig.find(QListWidget, "permissionList")
        await until(lambda: listed.count() == 1)
        first, second = listed.item(0).text().splitlines()
        assert first == "lines · append_line: always allowed"
        assert second.startswith("Decided on ")
        await until(lambda: rig.find(QLabel, "permissionDefaults").text() == "lines: asks about each call")
        QTest.mouseClick(rig.button("permissionTakeBackButton"), Qt.MouseButton.LeftButton)
        await until(lambda: listed.count() == 0)
        assert not rig.button("permissionTakeBackButton").isEnabled()
        dialog.close()
        await asked(rig, "Write three")
        assert lines_of(file) == ["one", "two"]


async def test_two_calls_are_decided_in_any_order_and_the_run_waits_for_both(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, calls(append(file, "a"), append(file, "b")), DONE) as (rig, core, _):
        first, second = await asked(rig, "Write both", 2)
        height, top = first.height(), first.y()
        press(second, "allowOnceButton")
        await until(lambda: cards(rig) == [first])
        assert "append_line\tAllowed by you" in rig.transcript_text
        assert "append_line\tWaiting for you" in rig.transcript_text
        assert (first.height(), first.y(), first.is_open) == (height, top, True)
        assert not rig.window.presenter.is_running
        assert lines_of(file) == []
        press(first, "denyButton")
        press(first, "denyButton")
        await finished(rig, core)
        assert lines_of(file) == ["b"]
        assert [status for status, _ in await results(core, rig)] == [ToolStatus.DENIED, ToolStatus.OK]


async def test_a_call_stays_decided_when_its_conversation_is_read_again(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "a"), append(file, "b")), DONE) as (rig, core, _):
        first, second = await asked(rig, "Write both", 2)
        press(first, "allowOnceButton")
        await until(lambda: cards(rig) == [second])
        reads: list[object] = []
        rig.transcript.questions.changed.connect(lambda: reads.append(None))
        core.runs._tell(rig.window.presenter.conversation_id or "")  # as if something had changed there
        await until(lambda: reads)
        await turns()
        assert cards(rig) == [second]
        assert "append_line\tAllowed by you" in rig.transcript_text
        assert isinstance(second, ApprovalCard)
        # It moved to where the first was: a second click at once would be half of a double click.
        await until(lambda: second.allow_once.takes_clicks)
        press(second, "allowOnceButton")
        await finished(rig, core)
        assert sorted(lines_of(file)) == ["a", "b"]


# Calls of which nobody knows


async def uncertain(rig: WindowRig, file: Path) -> UncertainCard:
    """A call that was stopped while it ran, and is resumed."""
    rig.type("Write slowly")
    rig.enter()
    await until_lines(file, 1)
    rig.click("stopButton")
    await until(lambda: rig.shows("resumeBanner"))
    rig.click("resumeButton")
    await until(lambda: len(cards(rig)) == 1 and not rig.window.presenter.is_running)
    card = cards(rig)[0]
    assert isinstance(card, UncertainCard)
    return card


async def test_an_uncertain_call_says_what_is_known_and_can_be_skipped(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(slow_append(file, "x")), DONE, mcp=LINES) as (rig, core, _):
        card = await uncertain(rig, file)
        known = rig.find(QLabel, "uncertainKnown")
        await until(lambda: known.text().startswith("The call was sent at "))
        assert known.text().endswith("and no result was recorded. It may have run.")
        assert str(file) in rig.find(QTextEdit, "uncertainArguments").toPlainText()
        assert not rig.shows("saveResultButton")
        shown = [button for button in card.findChildren(QPushButton) if button.isVisible()]
        assert not [button for button in shown if button.property("primary") == "true"]
        press(card, "skipButton")
        await finished(rig, core)
        ((status, _),) = await results(core, rig)
        assert status is ToolStatus.SKIPPED
        assert lines_of(file) == ["x"]


async def test_the_result_of_an_uncertain_call_is_entered_by_hand(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(slow_append(file, "x")), DONE, mcp=LINES) as (rig, core, _):
        card = await uncertain(rig, file)
        press(card, "enterResultButton")
        assert not rig.button("saveResultButton").isEnabled()
        field = rig.find(QTextEdit, "resultField")
        QTest.keyClicks(field, "appended x")
        QTest.keyClick(field, Qt.Key.Key_Return)
        QTest.keyClicks(field, "twice")
        press(card, "saveResultButton")
        await finished(rig, core)
        assert [text for _, text in await results(core, rig)] == ["appended x\ntwice"]
        assert lines_of(file) == ["x"]


async def test_an_uncertain_call_runs_again_when_the_person_says_so(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(slow_append(file, "x")), DONE, mcp=LINES) as (rig, _, _):
        card = await uncertain(rig, file)
        press(card, "runAgainButton")
        await until_lines(file, 2)
        assert not cards(rig)
        await until(lambda: rig.shows("stopButton"))
        rig.click("stopButton")
        await until(lambda: rig.shows("resumeBanner"))


# Keys


def in_focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


async def focused(rig: WindowRig) -> None:
    rig.window.activateWindow()
    await until(rig.window.isActiveWindow)
    rig.composer.setFocus()
    await until(lambda: QApplication.focusWidget() is rig.composer)


async def test_keys_meant_for_the_composer_never_decide(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        await focused(rig)
        (card,) = await asked(rig, "Write one")
        for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_O):
            assert QApplication.focusWidget() is rig.composer
            QTest.keyClick(rig.window, key)
        await until(lambda: card.takes_keys)
        QTest.keyClicks(rig.composer, "  yes ")
        QTest.keyClick(rig.composer, Qt.Key.Key_Return)
        assert rig.shows("waitingQuestion")
        assert QApplication.focusWidget() is rig.composer
        assert card.is_open
        assert lines_of(file) == []
        assert len(await core.decisions.pending()) == 1


async def test_the_keyboard_alone_reaches_a_card_and_decides(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        await focused(rig)
        (card,) = await asked(rig, "Write one")
        await until(lambda: card.takes_keys)
        reached = []
        for _ in range(5):
            QTest.keyClick(in_focus(), Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
            reached.append(in_focus().objectName())
        assert reached == [
            "denyButton",
            "alwaysAllowButton",
            "allowOnceButton",
            "approvalArguments",
            "approvalCardFold",
        ]
        for _ in range(4):
            QTest.keyClick(in_focus(), Qt.Key.Key_Tab)
        assert in_focus().objectName() == "denyButton"
        QTest.keyClick(in_focus(), Qt.Key.Key_Return)
        QTest.keyClicks(in_focus(), "No")
        QTest.keyClick(in_focus(), Qt.Key.Key_Return)
        await finished(rig, core)
        ((status, text),) = await results(core, rig)
        assert (status, text.endswith("Reason: No")) == (ToolStatus.DENIED, True)


async def test_the_keys_of_the_menus_and_of_a_card_do_not_collide(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, _, _):
        (card,) = await asked(rig, "Write one")
        taken = [action.text() for action in rig.window.menuBar().actions()]
        taken += [button.text() for button in card.findChildren(QPushButton)]
        taken += [button.text() for button in rig.banner("waitingQuestion").findChildren(QPushButton)]
        letters = [text[text.index("&") + 1].lower() for text in taken]
        assert len(letters) == len(set(letters)), letters


# Stop, restart


async def test_escape_ends_a_run_that_waits_and_its_work_can_be_continued(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one")), DONE) as (rig, core, _):
        await asked(rig, "Write one")
        assert rig.action("actionStop").isEnabled()
        rig.action("actionStop").trigger()
        await until(lambda: not cards(rig) and rig.shows("resumeBanner"))
        assert not rig.action("actionStop").isEnabled()
        (run,) = await core.conversations.runs(rig.window.presenter.conversation_id or "")
        assert run.status is RunStatus.CANCELLED
        rig.click("resumeButton")
        await until(lambda: len(cards(rig)) == 1)
        assert lines_of(file) == []


async def test_an_open_card_is_there_again_after_a_restart(data_dir: Path, file: Path) -> None:
    async with asking_window(data_dir, calls(append(file, "one"))) as (rig, core, _):
        await asked(rig, "Write one")
        await rig.window.save()
    async with asking_window(data_dir, DONE) as (rig, core, _):
        await until(lambda: len(cards(rig)) == 1)
        # The server is there a little later than the card, and with it the schema.
        await until(lambda: rig.find(QLabel, "approvalVerdict").text() == "Fits the schema of the tool")
        press(cards(rig)[0], "allowOnceButton")
        await finished(rig, core)
        assert lines_of(file) == ["one"]


async def test_a_run_whose_calls_were_all_decided_before_a_kill_can_be_resumed(
    data_dir: Path, file: Path
) -> None:
    async with asking_window(data_dir, calls(append(file, "one"))) as (rig, core, _):
        await asked(rig, "Write one")
        (question,) = await core.decisions.pending()
        await core.decisions.decide(question.conversation_id, question.tool_call_id, "allow")
        await rig.window.save()
    async with asking_window(data_dir, DONE) as (rig, core, _):
        await until(lambda: rig.shows("resumeBanner"))
        assert not cards(rig)
        rig.click("resumeButton")
        await until(lambda: rig.window.presenter.is_running)
        await finished(rig, core)
        assert lines_of(file) == ["one"]
