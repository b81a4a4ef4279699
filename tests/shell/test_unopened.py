"""A data folder that cannot be used: said wherever one looks, and nothing is written that cannot be kept."""

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListView, QPushButton, QToolButton, QWidget

from sophos_desktop.bootstrap import Desktop
from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.paths import AppPaths
from sophos_desktop.shell.facade import Core
from tests.shell.test_bootstrap import TOO_NEW, desktop, ended, refused, started
from tests.support.fake_core import FakeCore
from tests.support.window import open_window, shown_window, until


def said_in_the_list(made: Desktop) -> list[str]:
    note = made.window.findChild(QWidget, "unopenedNote")
    assert note is not None
    return [label.text().replace("\u200b", "") for label in note.findChildren(QLabel) if label.isVisible()]


async def refused_by_the_real_core(tmp_path: Path) -> SophosError:
    """What the real core says of this folder, once the window has said the same; the window is closed."""
    made = desktop(tmp_path, lambda options: open_core(CoreOptions(options.paths, options.environ)))
    task = await started(made)
    banner = made.window.chat.error_banner
    await until(banner.isVisible)
    title, *advice, code = said_in_the_list(made)
    assert (banner.title, [banner.text], banner.code) == (title, advice, code)
    error = made.window.presenter._refusal
    made.window.close()
    assert await ended(task, made) == 0
    return error


async def test_a_file_in_the_place_of_the_folder_is_said_in_the_list_with_code_and_remedy(
    tmp_path: Path,
) -> None:
    place = tmp_path / "data"
    place.write_text("mine")
    error = await refused_by_the_real_core(place)
    assert error.title == f"The data folder {place} cannot be made, because a file stands in its place"
    assert (error.code, error.details) == ("STORE_UNREACHABLE", "")
    assert place.read_text() == "mine"


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (errno.EROFS, "STORE_READ_ONLY", "read-only"),
        (errno.ENOSPC, "STORE_FULL", "no space left"),
        (errno.EACCES, "STORE_READ_ONLY", "cannot be written"),
        (errno.ENOTDIR, "STORE_UNREACHABLE", "a file stands"),
        (errno.EIO, "STORE_UNREACHABLE", "cannot be used"),
    ],
)
async def test_each_reason_has_its_own_words_and_none_of_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str, words: str
) -> None:
    def refuse(_paths: AppPaths) -> None:
        raise OSError(number, "as the system says it")

    monkeypatch.setattr("sophos_desktop.core.assembly.prepare", refuse)
    error = await refused_by_the_real_core(tmp_path)
    assert error.code == code
    assert words in error.title
    assert "the system" not in error.title + error.remedy
    assert error.remedy


async def test_without_a_store_nothing_offers_what_cannot_be_done() -> None:
    async with shown_window() as rig:
        rig.window.fail_to_open(TOO_NEW)
        assert not rig.find(QListView, "conversationList").isVisible()
        assert not rig.find(QWidget, "modelPicker").isVisible()
        for name in ("newChatButton", "railNew", "attachButton", "sendButton", "conversationFilter"):
            assert not rig.find(QWidget, name).isEnabled(), name
        rig.type("hello?")
        rig.enter()
        assert rig.composer.text == ""
        assert "not open" in rig.composer.placeholderText()
        assert not rig.window.chat.composer_frame.hint.isVisible()


async def test_with_a_store_the_button_for_a_new_chat_can_be_pressed() -> None:
    async with open_window(FakeCore()) as rig:
        assert rig.find(QToolButton, "newChatButton").isEnabled()
        assert rig.find(QWidget, "conversationFilter").isEnabled()


@pytest.mark.parametrize("is_sent", [False, True])
async def test_what_was_typed_while_it_opened_stays_and_is_asked_about_at_the_end(
    tmp_path: Path, *, is_sent: bool
) -> None:
    gate = asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncIterator[Core]:
        await gate.wait()
        async with refused(TOO_NEW) as core:
            yield core

    made = desktop(tmp_path, lambda _options: slow())
    task = await started(made)
    composer = made.window.chat.composer
    QTest.keyClicks(composer, "typed early")
    if is_sent:
        QTest.keyClick(composer, Qt.Key.Key_Return)
    gate.set()
    await until(lambda: composer.isReadOnly() and composer.text == "typed early")
    made.window.close()
    await until(lambda: made.window.findChild(QPushButton, "unsavedQuestionAccept"))
    leave = made.window.findChild(QPushButton, "unsavedQuestionAccept")
    assert leave is not None
    leave.click()
    assert await ended(task, made) == 0
