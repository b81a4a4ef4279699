"""The transcript in its window: what is read later, what commands do, where messages about runs stand."""

import base64
from dataclasses import replace

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRectF, QSize, Qt
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
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard, ToolGroup
from sophos_desktop.shell.transcript.model.transcript_model import MessageImage
from sophos_desktop.shell.transcript.view.attached_files import AttachedFiles
from sophos_desktop.shell.transcript.view.bounded_images import PLACEHOLDER
from sophos_desktop.shell.transcript.view.image_window import ImageWindow
from sophos_desktop.shell.transcript.view.rows import PartKind
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
        rig.transcript.images.wait()
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
        await until(lambda: QGuiApplication.clipboard().text().split() == ["one", "two"])
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
        await until(lambda: line.resume is not None and line.resume.isVisible())
        assert line.resume is not None
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


def chips(rig: WindowRig) -> list[QPushButton]:
    files = rig.transcript.findChildren(AttachedFiles)
    return [chip for each in files for chip in each.chips]


async def test_what_went_with_a_message_is_shown_below_it_and_opens_in_a_window() -> None:
    picture = png(900, 600)
    notes = AttachmentRef("1" * 64, "notes.txt", "text/plain", 11)
    photo = AttachmentRef("2" * 64, "photo.png", "image/png", len(picture))
    core = core_with(replace(user("Look at these"), attachments=(notes, photo)), ANSWER)
    core.attachments.contents |= {notes.sha256: b"hello there", photo.sha256: picture}
    async with open_window(core) as rig:
        await until(lambda: len(chips(rig)) == 2)
        assert chips(rig)[0].accessibleName() == "Attachment notes.txt, 11 bytes"
        assert [chip.height() for chip in chips(rig)] == [28, 28]
        message = rig.transcript.model.message(0)
        assert message.images == (MessageImage(photo.sha256, "photo.png", is_thumbnail=True),)
        small = QSize(240, 160)
        await until(lambda: image_area(rig).size().toSize() == small)
        edge = rig.transcript.geometry_of_text.column_left + rig.transcript.transcript_layout.documents.column
        assert image_area(rig).right() == edge

        QTest.mouseClick(chips(rig)[0], Qt.MouseButton.LeftButton)
        await until(lambda: bool(rig.window.findChildren(BigResultWindow)))
        text = rig.window.findChildren(BigResultWindow)[0]
        assert text.view.lines.text == "hello there"
        text.close()

        place = image_area(rig).center().toPoint()
        QTest.mouseClick(rig.transcript.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await until(lambda: bool(rig.window.findChildren(ImageWindow)))
        window = rig.window.findChildren(ImageWindow)[0]
        await until(lambda: window.view.image.size() == QSize(900, 600))
        assert window.windowTitle() == "photo.png"
        window.close()


def image_area(rig: WindowRig) -> QRectF:
    """Where the thumbnail of the first message is; nothing while it is not placed."""
    view = rig.transcript
    for placed in view.transcript_layout.placed:
        if placed.kind is PartKind.IMAGE:
            image = view.transcript_layout.rows.image(placed.message, placed.part)
            left, column = view.geometry_of_text.column_left, view.transcript_layout.documents.column
            return view.images.area(image, QRectF(left, placed.top, column, placed.height))
    return QRectF()


async def test_an_attachment_that_is_gone_or_no_image_costs_a_placeholder() -> None:
    gone = AttachmentRef("3" * 64, "gone.png", "image/png", 100)
    wrong = AttachmentRef("4" * 64, "wrong.png", "image/png", 5)
    core = core_with(replace(user("Look"), attachments=(gone, wrong)), ANSWER)
    core.attachments.contents[wrong.sha256] = b"hello"
    async with open_window(core) as rig:
        images = rig.transcript.images
        first, second = rig.transcript.model.message(0).images
        await until(lambda: None not in (images.revision(first), images.revision(second)))
        assert image_area(rig).height() == PLACEHOLDER


async def test_the_figures_of_all_runs_in_the_view_are_read_at_once() -> None:
    messages = [
        replace(ANSWER, id=f"m{number}", run_id=f"r{number}", text=f"Answer {number}.") for number in range(4)
    ]
    core = core_with(user("Where?"), *messages)
    for number in range(4):
        told_of = ModelCallFinished(1, f"m{number}", 0, 1, 0, 2_000, 10, 100 + number)
        core.conversations.traces[f"r{number}"] = told(f"r{number}", told_of)
    async with open_window(core) as rig:
        await until(lambda: all(f"{100 + number} tokens" in rig.transcript_text for number in range(4)))
        assert core.conversations.reads_of_traces == 1


async def test_images_beyond_what_is_kept_in_memory_are_read_once_while_they_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pictures = [AttachmentRef(str(number) * 64, f"{number}.png", "image/png", 1) for number in range(4)]
    core = core_with(replace(user("Look"), attachments=tuple(pictures)), ANSWER)
    reads: list[str] = []

    async def content(sha256: str) -> bytes:
        reads.append(sha256)
        return b"x" * 31 * 1024 * 1024  # together more than is kept

    monkeypatch.setattr(core.attachments, "content", content)
    async with open_window(core) as rig:
        images = rig.transcript.images
        shown = rig.transcript.model.message(0).images
        await until(lambda: all(images.revision(image) is not None for image in shown))
        assert sorted(reads) == sorted(picture.sha256 for picture in pictures)
