"""What is pasted, dropped and chosen becomes a chip, or is refused with words."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import (
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QFrame, QLabel, QToolButton, QWidget

from sophos_desktop.core.domain.attaching import LARGEST_TEXT_BYTES, MOST_ATTACHMENTS
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.model_choices import EngineModels
from sophos_desktop.core.domain.specs import Capability, EngineKind
from sophos_desktop.shell.chat.composing.picked_files import encode_picture, read_file
from tests.support.attaching import (
    EITHER,
    LEFT,
    NO_KEYS,
    attach,
    chips,
    drag,
    file,
    frame,
    names,
    of_files,
    of_picture,
    paste,
    picture,
)
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.fake_models import model
from tests.support.window import open_window, turns, until

# What arrives


async def test_pasted_files_become_chips_that_belong_to_the_draft(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        attach(rig, file(tmp_path, "orders.csv", "a;b\n" * 3_000), file(tmp_path, "notes.md"))
        await until(lambda: names(rig) == ["orders.csv", "notes.md"])
        assert [ref.name for ref in core.attachments.drafts[None]] == ["orders.csv", "notes.md"]
        assert rig.composer.text == ""
        first = chips(rig)[0]
        assert "12 kB · ~3,000 tokens" in [label.text() for label in first.findChildren(QLabel)]
        assert first.accessibleName() == "Attachment orders.csv, 12 kB · ~3,000 tokens"
        assert first.height() == 28


async def test_ctrl_v_of_a_picture_attaches_it_and_of_a_text_inserts_it(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.window.activateWindow()
        rig.composer.setFocus()
        QGuiApplication.clipboard().setMimeData(of_picture())
        QTest.keyClick(rig.composer, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: names(rig) == ["pasted image.png"])
        assert core.attachments.drafts[None][0].mime_type == "image/png"
        both = of_picture()
        both.setText("copied from a table")
        QGuiApplication.clipboard().setMimeData(both)
        QTest.keyClick(rig.composer, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert rig.composer.text == "copied from a table"
        QGuiApplication.clipboard().clear()
        assert names(rig) == ["pasted image.png"]


async def test_a_picture_keeps_the_bytes_that_its_owner_encoded() -> None:
    core, mime = FakeCore(), QMimeData()
    content = encode_picture(picture(), "x").content
    mime.setData("image/png", content)
    async with open_window(core) as rig:
        paste(rig, mime)
        await until(lambda: names(rig) == ["pasted image.png"])
        assert list(core.attachments.contents.values()) == [content]


@pytest.mark.parametrize("address", ["https://example.org/a.txt", "file://example.org/share/a.txt"])
async def test_an_address_that_is_no_file_of_this_machine_stays_text(address: str) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl(address)])
    mime.setText(address)
    async with open_window(FakeCore()) as rig:
        paste(rig, mime)
        assert (rig.composer.text, chips(rig)) == (address, ())


async def test_what_is_dropped_on_the_transcript_or_the_composer_is_attached(tmp_path: Path) -> None:
    core = FakeCore()
    core.conversations.add("Old", user("old"), assistant("yes"))
    async with open_window(core) as rig:
        rig.choose("Old")
        await until(lambda: rig.shows("transcript"))
        one, two = file(tmp_path, "one.txt", "1"), file(tmp_path, "two.txt", "2")
        mime = of_files(one, two)
        target = rig.find(QFrame, "dropTarget")
        for over in (rig.transcript.viewport(), rig.composer.viewport()):
            assert drag(over, mime).isAccepted()
            assert target.isVisible()
            assert target.geometry() == frame(rig).rect()
            assert rig.find(QLabel, "dropWords").text() == "Drop to attach 2 files"
            QCoreApplication.sendEvent(rig.window.chat, QDragLeaveEvent())
            assert not target.isVisible()
        drag(rig.transcript.viewport(), mime)
        move = QDragMoveEvent(QPoint(9, 9), EITHER, mime, LEFT, NO_KEYS)
        QCoreApplication.sendEvent(rig.window.chat, move)
        assert (move.isAccepted(), move.dropAction()) == (True, Qt.DropAction.CopyAction)
        drop = QDropEvent(QPointF(9, 9), EITHER, mime, LEFT, NO_KEYS)
        QCoreApplication.sendEvent(rig.window.chat, drop)
        await until(lambda: names(rig) == ["one.txt", "two.txt"])
        assert (drop.dropAction(), target.isVisible()) == (Qt.DropAction.CopyAction, False)


async def test_dragged_text_is_the_fields_own() -> None:
    mime = QMimeData()
    mime.setText("dragged")
    async with open_window(FakeCore()) as rig:
        assert not drag(rig.transcript.viewport(), mime).isAccepted()
        assert drag(rig.composer.viewport(), mime).isAccepted()
        assert not rig.shows("dropTarget")
        QCoreApplication.sendEvent(rig.composer.viewport(), QDragLeaveEvent())


async def test_the_button_asks_for_files_without_blocking_the_window(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        button = rig.find(QToolButton, "attachButton")
        assert (button.accessibleName(), button.toolTip()) == ("Attach files", "Attach text files or images")
        assert button.size().toTuple() == (28, 28)
        QTest.mouseClick(button, LEFT)
        dialog = rig.find(QFileDialog, "attachDialog")
        assert dialog.isVisible()
        assert dialog.testOption(QFileDialog.Option.DontUseNativeDialog)
        dialog.filesSelected.emit([str(file(tmp_path, "orders.csv"))])
        dialog.reject()
        await until(lambda: names(rig) == ["orders.csv"])


# What is refused


def test_a_pipe_a_device_and_a_folder_are_never_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path, tmp_path / "not there"):
        with pytest.raises(SophosError) as caught:
            read_file(path)
        assert caught.value.code is ErrorCode.BAD_REQUEST
        assert caught.value.title.startswith(f"{path.name} cannot be attached: ")
        assert caught.value.remedy


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as made:
        made.truncate(1 << 40)  # a hole of a terabyte
    with pytest.raises(SophosError, match="may have"):
        read_file(path)
    path.write_bytes(b"x" * LARGEST_TEXT_BYTES)
    assert len(read_file(path).content) == LARGEST_TEXT_BYTES


def test_a_picture_without_end_is_not_compressed() -> None:
    with pytest.raises(SophosError, match="pixels"):
        encode_picture(QImage(10_000, 10_000, QImage.Format.Format_Mono), "pasted image.png")


async def test_what_cannot_be_attached_is_said_and_the_rest_is_attached(tmp_path: Path) -> None:
    binary = tmp_path / "program"
    binary.write_bytes(b"\x7fELF\0\0")
    async with open_window(FakeCore()) as rig:
        attach(rig, binary, file(tmp_path, "good.txt"))
        await until(lambda: rig.shows("errorBanner"))
        banner = rig.banner("errorBanner")
        assert "program" in banner.title
        assert (bool(banner.text), banner.code) == (True, "BAD_REQUEST")
        assert names(rig) == ["good.txt"]


async def test_a_second_file_of_the_same_content_is_said_to_go_along_under_the_first_name(
    tmp_path: Path,
) -> None:
    async with open_window(FakeCore()) as rig:
        attach(rig, file(tmp_path, "one.txt", "same"), file(tmp_path, "two.txt", "same"))
        await until(lambda: rig.shows("errorBanner"))
        assert rig.banner("errorBanner").title.startswith("“two.txt” holds the same as “one.txt”")
        assert names(rig) == ["one.txt"]
        attach(rig, tmp_path / "one.txt")
        await until(lambda: not rig.shows("errorBanner"))
        assert names(rig) == ["one.txt"]


async def test_no_more_than_ten_are_read(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        attach(rig, *(file(tmp_path, f"{at}.txt", str(at)) for at in range(MOST_ATTACHMENTS + 3)))
        await until(lambda: rig.shows("errorBanner"))
        assert names(rig) == [f"{at}.txt" for at in range(MOST_ATTACHMENTS)]
        assert len(core.attachments.contents) == MOST_ATTACHMENTS
        assert len({chip.y() for chip in chips(rig)}) > 1  # in rows
        assert rig.shows("composer")


# Removing


async def test_a_chip_is_removed_by_keyboard_and_the_focus_goes_on(tmp_path: Path) -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        rig.window.activateWindow()
        attach(rig, file(tmp_path, "one.txt", "1"), file(tmp_path, "two.txt", "2"))
        await until(lambda: len(names(rig)) == 2)
        rig.composer.setFocus()
        await until(lambda: rig.composer.hasFocus())
        buttons = [chip.remove_button for chip in chips(rig)]
        first, second = (button for button in buttons if button is not None)
        assert first.accessibleName() == "Remove one.txt"
        QTest.keyClick(rig.composer, Qt.Key.Key_Tab)
        await until(lambda: first.hasFocus())
        QTest.keyClick(first, Qt.Key.Key_Tab)
        await until(lambda: second.hasFocus())
        QTest.keyClick(second, Qt.Key.Key_Tab)
        await until(lambda: rig.find(QToolButton, "attachButton").hasFocus())
        first.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(first, Qt.Key.Key_Space)
        await until(lambda: names(rig) == ["two.txt"])
        await until(lambda: second.hasFocus())
        QTest.keyClick(second, Qt.Key.Key_Space)
        await until(lambda: rig.composer.hasFocus())
        await until(lambda: core.attachments.drafts[None] == [])
        assert not rig.button("sendButton").isEnabled()


# Models


async def test_an_image_warns_while_the_model_is_known_to_see_nothing(tmp_path: Path) -> None:
    core = FakeCore()
    blind = EngineModels(EngineKind.OLLAMA, (model("qwen3:8b", Capability.TOOLS),))
    seeing = EngineModels(EngineKind.OLLAMA, (model("qwen3:8b", Capability.VISION),))
    core.models.engines = [blind]
    async with open_window(core) as rig:
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
        assert not rig.shows("attachmentWarning")
        paste(rig, of_picture())
        await until(lambda: rig.shows("attachmentWarning"))
        words = rig.find(QWidget, "attachmentWarning").accessibleName()
        assert words == (
            "qwen3:8b cannot see images; it will be told that pasted image.png was left out. "
            "Choose a model with vision to send it."
        )
        assert [chip.is_warned for chip in chips(rig)] == [False, True]
        assert words in chips(rig)[1].toolTip()
        core.models.engines = [seeing]
        frame(rig).model_changed.emit()
        await until(lambda: not rig.shows("attachmentWarning"))
        assert [chip.is_warned for chip in chips(rig)] == [False, False]
        core.models.engines = []
        frame(rig).model_changed.emit()
        await turns(10)
        assert not rig.shows("attachmentWarning")


# Measures


async def test_the_frame_has_the_measures_of_the_look(tmp_path: Path) -> None:
    async with open_window(FakeCore()) as rig:
        rig.window.resize(1280, 800)
        rig.window.activateWindow()
        rig.composer.setFocus()
        await until(lambda: frame(rig).width() == 600)
        await turns(10)
        around = frame(rig)
        assert around.height() == 80
        send = QRect(rig.button("sendButton").mapTo(around, QPoint(0, 0)), rig.button("sendButton").size())
        assert send.size().toTuple() == (32, 32)
        assert (600 - send.right(), 80 - send.bottom()) == (10, 10)  # 8, the line, and the pixel itself
        assert around.mapTo(rig.window.chat, QPoint(0, 0)).y() + 80 + 12 == rig.window.chat.height()
        attach(rig, file(tmp_path, "orders.csv"))
        await until(lambda: names(rig) == ["orders.csv"])
        await until(lambda: around.height() == 80 + 28 + 8)
        corner = chips(rig)[0].mapTo(around, QPoint(0, 0))
        assert corner.toTuple() == (13, 11)
        image = around.grab().toImage()
        tokens = rig.window.theme.tokens
        assert image.pixelColor(300, 0).name().upper() == tokens.accent
        rig.find(QToolButton, "attachButton").setFocus()
        await until(lambda: not rig.composer.hasFocus())
        assert around.grab().toImage().pixelColor(300, 0).name().upper() == tokens.border_control


async def test_two_files_that_cannot_be_attached_are_both_named_until_one_is(tmp_path: Path) -> None:
    async with open_window(FakeCore()) as rig:
        attach(rig, tmp_path / "first.txt", tmp_path / "second.txt")
        await until(lambda: rig.shows("errorBanner"))
        said = rig.banner("errorBanner").title
        assert "first.txt" in said
        assert "second.txt" in said
        attach(rig, file(tmp_path, "good.txt"))
        await until(lambda: names(rig) == ["good.txt"])
        await until(lambda: not rig.shows("errorBanner"))


async def test_a_new_chip_below_those_that_fit_is_scrolled_into_view(tmp_path: Path) -> None:
    async with open_window(FakeCore()) as rig:
        rig.window.resize(480, 600)
        files = [file(tmp_path, f"a-file-with-a-long-name-{number}.txt", str(number)) for number in range(6)]
        attach(rig, *files)
        await until(lambda: len(names(rig)) == 6)
        bar = frame(rig).chips.verticalScrollBar()
        await until(lambda: bar.maximum() > 0)
        bar.setValue(0)
        attach(rig, file(tmp_path, "another-file-with-a-long-name.txt", "x"))
        await until(lambda: names(rig)[-1] == "another-file-with-a-long-name.txt")
        await until(lambda: not chips(rig)[-1].visibleRegion().isEmpty())
