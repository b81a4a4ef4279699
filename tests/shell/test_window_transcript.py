"""The transcript in its window: what is read later, what commands do, where messages about runs stand."""

import base64
from dataclasses import replace

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Message,
    MessageState,
    Role,
    ToolCall,
    ToolStatus,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Event, ModelCallFinished, Notice, RunEvent, ToolCallFinished
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard, ToolGroup
from sophos_desktop.shell.transcript.transcript_model import MessageImage
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, interrupted, record, user
from tests.support.window import WindowRig, open_window, until

AT = "2026-11-30T10:00:00Z"
CALL = ToolCall("m1:0", "memory", "search", {"query": "orders"})
ASKING = Message("m1", Role.ASSISTANT, "", "hm", (CALL,), run_id="r1")
RESULT = Message("t1", Role.TOOL, "found", tool_call_id="m1:0", tool_status=ToolStatus.OK, run_id="r1")
ANSWER = Message("m2", Role.ASSISTANT, "Here it is.", model="qwen3:8b", run_id="r1")


def told(run_id: str, *events: Event) -> list[dict[str, object]]:
    return [RunEvent(run_id, seq, AT, event).to_json() for seq, event in enumerate(events, start=1)]


def core_with(*messages: Message) -> FakeCore:
    core = FakeCore()
    core.conversations.state["last_conversation"] = core.conversations.add("Orders", *messages)
    return core


def calls(rig: WindowRig) -> ToolGroup:
    model = rig.transcript.model
    payloads = [model.message(index).payload for index in range(len(model))]
    return next(payload for payload in payloads if isinstance(payload, ToolGroup))


def png(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


async def test_figures_durations_and_notices_of_earlier_runs_are_read_when_they_are_looked_at() -> None:
    core = core_with(user("Where?"), ASKING, RESULT, ANSWER)
    core.conversations.traces["r1"] = told(
        "r1",
        ModelCallFinished(1, "m1", 0, 1, 2_600, 100, 10, 20),
        ToolCallFinished("m1:0", "ok", "", 9, recorded=False),
        ModelCallFinished(2, "m2", 0, 1, 0, 2_000, 10, 100),
        Notice("ANSWER_CUT", "It was cut."),
    )
    async with open_window(core) as rig:
        await until(lambda: "It was cut." in rig.transcript_text)
        assert "Thought for 2.6 s" in rig.transcript_text
        assert "qwen3:8b · 100 tokens · 50.0 tok/s" in rig.transcript_text
        assert calls(rig).calls[0].duration_ms == 9
        assert core.conversations.traced.count("r1") == 1


async def test_the_whole_of_a_result_and_its_images_are_shown() -> None:
    kept = AttachmentRef("0" * 64, "result.json", "application/json", 900_000)
    core = core_with(user("Draw"), ASKING, replace(RESULT, attachments=(kept,)))
    drawn = {"type": "image", "data": base64.b64encode(png(40, 30)).decode(), "mimeType": "image/png"}
    broken = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
    core.conversations.results["m1:0"] = ToolResult("found, and all the rest", content=(drawn, broken))
    async with open_window(core) as rig:
        await until(lambda: calls(rig).calls[0].result == "found, and all the rest")
        model = rig.transcript.model
        images = [image for index in range(len(model)) for image in model.message(index).images]
        assert images == [MessageImage("m1:0/0", "image/png")]
        assert core.conversations.asked == ["m1:0"]
        rig.transcript.wait_for_images()
        await until(lambda: not rig.transcript.is_busy)


async def test_a_huge_result_is_read_when_it_is_opened() -> None:
    kept = AttachmentRef("0" * 64, "result.json", "application/json", 60_000_000)
    core = core_with(user("Read"), ASKING, replace(RESULT, attachments=(kept,)), ANSWER)
    core.conversations.results["m1:0"] = ToolResult("found, and all the rest")
    async with open_window(core) as rig:
        await until(lambda: core.conversations.traced)
        assert core.conversations.asked == []
        card = rig.card("toolCard")
        assert isinstance(card, ToolCard)
        card.open_call("m1:0")
        await until(lambda: calls(rig).calls[0].result == "found, and all the rest")
        assert core.conversations.asked == ["m1:0"]


async def test_what_cannot_be_read_of_a_run_is_no_error() -> None:
    kept = AttachmentRef("0" * 64, "result.json", "application/json", 900)
    core = core_with(user("Draw"), ASKING, replace(RESULT, attachments=(kept,)))
    async with open_window(core) as rig:
        await until(lambda: core.conversations.asked == ["m1:0"])
        assert not rig.shows("errorBanner")
        assert calls(rig).calls[0].result == "found"


async def test_find_opens_on_the_conversation_and_goes_round_by_its_commands() -> None:
    core = core_with(user("one two"), assistant("two and **two**"))
    async with open_window(core) as rig:
        await until(lambda: rig.action("actionFind").isEnabled())
        rig.action("actionFindNext").trigger()
        bar = rig.transcript.find_bar
        assert bar.isVisible()
        bar.field.setText("two")
        await until(lambda: bar.counter.text() == "1 of 3")
        rig.action("actionFindNext").trigger()
        assert bar.counter.text() == "2 of 3"
        rig.action("actionFindPrevious").trigger()
        rig.action("actionFindPrevious").trigger()
        assert bar.counter.text() == "3 of 3"
        bar.close_bar()
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        assert not rig.action("actionFind").isEnabled()


async def test_the_edit_commands_act_on_the_transcript_while_it_has_the_focus() -> None:
    core = core_with(user("one"), assistant("**two**"))
    async with open_window(core) as rig:
        rig.window.activateWindow()
        await until(rig.window.isActiveWindow)
        rig.transcript.setFocus()
        copy, every = rig.action("actionCopy"), rig.action("actionSelectAll")
        await until(every.isEnabled)
        assert not copy.isEnabled()
        every.trigger()
        assert copy.isEnabled()
        copy.trigger()
        assert QGuiApplication.clipboard().text().split() == ["one", "two"]
        assert not rig.action("actionPaste").isEnabled()
        rig.composer.setFocus()
        assert not copy.isEnabled()


async def test_the_error_in_the_column_and_the_stopped_line_resume_the_run() -> None:
    run = record(
        "", "r1", RunStatus.FAILED, "RECURSION_LIMIT", "The limit was reached. Go on.", unfinished=True
    )
    core = FakeCore()
    core.conversations.add("Failed", user("go"), last_run=run)
    half = assistant("half", MessageState.STOPPED)
    core.conversations.add("Stopped", user("go"), half, last_run=interrupted())
    async with open_window(core) as rig:
        rig.choose("Failed")
        await until(lambda: rig.card("errorCard") is not None)
        card = rig.card("errorCard")
        assert card is not None
        button = card.findChild(QPushButton, "errorAction")
        assert button is not None
        assert button.text() == "Continue"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: len(core.runs.handles) == 1 and rig.error_card() is None)
        core.runs.handles[0].end()
        await until(lambda: rig.shows("sendButton"))
        rig.choose("Stopped")
        await until(lambda: rig.card("metaLine") is not None)
        line = rig.card("metaLine")
        assert isinstance(line, MetaLine)
        await until(line.resume.isVisible)
        QTest.mouseClick(line.resume, Qt.MouseButton.LeftButton)
        await until(lambda: len(core.runs.handles) == 2)
        core.runs.handles[1].end()
        await until(lambda: rig.shows("sendButton"))


async def test_a_run_that_fails_while_it_is_watched_leaves_its_error_at_the_end() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.type("go")
        rig.enter()
        await until(lambda: rig.window.presenter.is_running)
        core.runs.handles[0].say("half")
        core.runs.handles[0].end(RunStatus.FAILED, SophosError(ErrorCode.ENGINE_BUSY, "Busy", "Wait"))
        await until(rig.error_card)
        assert rig.transcript_text.splitlines()[-2:] == ["Busy ENGINE_BUSY", "Wait"]
        error = rig.error_card()
        assert error is not None
        assert error.action == ""


async def test_the_resume_banner_stands_above_the_transcript_over_its_whole_width() -> None:
    core = FakeCore()
    core.conversations.add("Cut off", user("go"), last_run=interrupted())
    async with open_window(core) as rig:
        rig.choose("Cut off")
        await until(lambda: rig.shows("resumeBanner"))
        banner, transcript = rig.banner("resumeBanner"), rig.transcript
        await until(lambda: banner.width() == rig.window.chat.width())
        chat = rig.window.chat
        assert banner.mapTo(chat, QPoint(0, 0)) == QPoint(0, 0)
        assert transcript.mapTo(chat, QPoint(0, 0)).y() >= banner.height()


async def test_the_composer_stands_below_the_column_of_the_text() -> None:
    core = core_with(user("one"), assistant("two"))
    async with open_window(core) as rig:
        await until(lambda: rig.transcript.isVisible())
        for width in (700, 1000, 1400):
            rig.window.resize(width, 700)
            await until(lambda: not rig.transcript.is_busy)
            frame = rig.composer.parentWidget()
            assert frame is not None
            left = rig.transcript.geometry_of_text.column_left
            assert frame.mapTo(rig.window.chat, QPoint(0, 0)).x() == left
            assert frame.width() == rig.transcript.transcript_layout.documents.column
