"""Things are dragged from another program's window into the real one, with a real pointer and X server.

Needs Xvfb, openbox and xdotool; it is left out without them, but never in CI.
"""

import asyncio
import os
import shutil
import sqlite3
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.attaching import MOST_ATTACHMENTS
from tests.support.lines_process import LinesProcess, lines_process
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer

NEEDED = ("Xvfb", "openbox", "xdotool")
SECONDS = 60.0
SCREEN = "1440x900x24"
COPY, MOVE, REFUSED = "CopyAction", "MoveAction", "IgnoreAction"
BLIND = FakeModel("smol:latest")
SEEING = FakeModel("smol:latest", ("completion", "tools", "vision"))

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        os.environ.get("CI") != "true" and not all(map(shutil.which, NEEDED)),
        reason=f"needs {', '.join(NEEDED)}",
    ),
]


@dataclass(slots=True)
class Rig:
    """The app's window, another program's window, and the pointer between them. `agreed`: what the window
    below the pointer agreed to last; Qt keeps it from one drag to the next."""

    window: LinesProcess
    source: LinesProcess
    environ: dict[str, str]
    agreed: str = REFUSED
    _is_steady: asyncio.Event = field(default_factory=asyncio.Event)

    async def pointer(self, *steps: object) -> None:
        """What xdotool does with the mouse."""
        moving = await asyncio.create_subprocess_exec("xdotool", *map(str, steps), env=self.environ)
        assert await asyncio.wait_for(moving.wait(), SECONDS) == 0

    async def drag(self, **offer: Any) -> None:
        """Begin to drag what the source offers, to where nothing can be dropped."""
        self.source.say(**offer)
        x, y = await self.source.next("at")
        await self.pointer("mousemove", x, y, "mousedown", 1, "mousemove", x + 15, y + 15)
        await self.source.next("began")
        await self.over("list")
        await self.agree(REFUSED)

    async def agree(self, *wanted: str) -> None:
        """Wait until the source knows that the window below the pointer agrees to one of these."""
        async with self._unsteady():
            while self.agreed not in wanted:
                self.agreed = await self.source.next("action")

    async def offers_to_take(self) -> str:
        """Wait until the overlay is shown; gives what it says."""
        async with self._unsteady():
            shown = await self.window.until(lambda now: now["drop_words"], "the overlay is shown")
        return str(shown["drop_words"])

    @asynccontextmanager
    async def _unsteady(self) -> AsyncIterator[None]:
        """While the block runs the pointer trembles as in a hand: Qt 6.11 does not tell the window below of
        a place that it comes to while an answer about another one is on its way."""
        trembling = asyncio.ensure_future(self._tremble())
        try:
            yield
        finally:
            self._is_steady.set()
            await trembling
            self._is_steady.clear()

    async def _tremble(self) -> None:
        while not self._is_steady.is_set():
            for step in (1, -1):
                await self.pointer("mousemove_relative", "--", step, 0, "sleep", "0.05")

    async def over(self, place: str) -> None:
        """Move the pointer over a part of the app's window."""
        x, y = self.window.last["places"][place]
        await self.pointer("mousemove", x - 30, y, "mousemove", x - 10, y - 1, "mousemove", x, y)

    async def drop(self) -> str:
        """Let it go; gives what the source is told."""
        await self.pointer("mouseup", 1)
        dropped: str = await self.source.next("dropped")
        return dropped

    async def drop_files(self, place: str, *paths: Path) -> str:
        """Files from another program onto a part of the window; gives what the overlay said."""
        await self.drag(files=[str(path) for path in paths])
        await self.over(place)
        words = await self.offers_to_take()
        await self.agree(COPY)
        assert await self.drop() == COPY  # it would rather have moved, that is: deleted its files
        await self.window.until(lambda now: not now["drop_words"], "the overlay goes")
        return words

    async def chips(self, *names: str) -> dict[str, Any]:
        """Wait until exactly these are attached and kept."""
        wanted = [[name, True] for name in names]
        return await self.window.until(lambda now: now["chips"] == wanted, f"chips {names}")

    async def error(self, *words: str) -> str:
        """Wait until the error says all of these."""
        now = await self.window.until(
            lambda now: all(word in now["error"] for word in words), f"error {words}"
        )
        return str(now["error"])


@asynccontextmanager
async def x_server(environ: dict[str, str], folder: Path) -> AsyncIterator[dict[str, str]]:
    """An X server on a free display, with a window manager."""
    reading, writing = os.pipe()
    log = (folder / "x.log").open("wb")
    server = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp"),
        pass_fds=(writing,),
        stdout=log,
        stderr=log,
    )
    os.close(writing)
    manager = None
    try:
        with os.fdopen(reading, "rb") as told:
            number = (await asyncio.wait_for(asyncio.to_thread(told.readline), SECONDS)).decode().strip()
        shown = {**environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        shown.pop("XAUTHORITY", None)
        manager = await asyncio.create_subprocess_exec(
            "openbox",
            "--sm-disable",
            env={**shown, "HOME": str(folder)},
            stdout=log,
            stderr=log,
            stdin=DEVNULL,
        )
        yield shown
    finally:
        for process in (manager, server):
            if process is not None and process.returncode is None:
                process.terminate()
                await asyncio.wait_for(process.wait(), SECONDS)
        log.close()


@asynccontextmanager
async def rig(
    tmp_path: Path, data_dir: Path, environ: dict[str, str], model: FakeModel = BLIND
) -> AsyncIterator[Rig]:
    """Both windows on one screen."""
    config = data_dir / "config"
    config.mkdir(parents=True, mode=0o700)
    (config / "mcp.json").write_text('{"fetch": {"disabled": true}, "memory": {"disabled": true}}')
    async with OllamaServer((model,)) as server, x_server(environ, tmp_path) as shown:
        own = {**shown, "OLLAMA_HOST": f"127.0.0.1:{server.port}", "SOPHOS_ENGINE__KIND": "ollama"}
        async with (
            lines_process("tests.support.window_program", own) as window,
            lines_process("tests.e2e.drag_source", shown) as source,
        ):
            await window.until(lambda now: now["is_ready"], "the window is open")
            made = Rig(window, source, shown)
            yield made
            assert window.process.stdin is not None
            window.process.stdin.close()
            assert await window.gone() == 0
            assert source.process.stdin is not None
            source.process.stdin.close()
            assert await source.gone() == 0


def kept(data_dir: Path) -> list[tuple[str, int]]:
    """Name and size of what the draft of the new chat holds in the file."""
    with closing(sqlite3.connect(data_dir / "sophos.db")) as connection:
        found: Sequence[tuple[str, int]] = connection.execute(
            "SELECT name, size_bytes FROM attachment_uses JOIN attachments USING (sha256) "
            "WHERE kind = 'draft' ORDER BY position"
        ).fetchall()
    return list(found)


async def test_files_are_attached_wherever_in_the_chat_they_are_dropped(
    tmp_path: Path, data_dir: Path, environ: dict[str, str]
) -> None:
    one, two = tmp_path / "orders #1.csv", tmp_path / "заметки и ещё.txt"
    one.write_text("a;b\n")
    two.write_text("x" * 5_000)
    async with rig(tmp_path, data_dir, environ) as made:
        assert await made.drop_files("composer", one) == "Drop to attach 1 file"
        await made.chips(one.name)
        assert await made.drop_files("chat", two) == "Drop to attach 1 file"
        now = await made.chips(one.name, two.name)
        assert (now["text"], now["error"]) == ("", "")
        assert (one.read_text(), two.stat().st_size) == ("a;b\n", 5_000)
        assert kept(data_dir) == [(one.name, 4), (two.name, 5_000)]
        # The list is no place for them, and says so while they are over it.
        await made.drag(files=[str(one)])
        await made.over("composer")
        await made.agree(COPY)
        await made.over("list")
        await made.agree(REFUSED)
        await made.window.until(lambda now: not now["drop_words"], "the overlay goes")
        assert await made.drop() == REFUSED
        await made.chips(one.name, two.name)


async def test_ten_files_at_once_are_attached_and_an_eleventh_is_refused_with_words(
    tmp_path: Path, data_dir: Path, environ: dict[str, str]
) -> None:
    files = [tmp_path / f"file {number}.txt" for number in range(MOST_ATTACHMENTS + 1)]
    for number, path in enumerate(files):
        path.write_text(str(number))
    async with rig(tmp_path, data_dir, environ) as made:
        assert await made.drop_files("composer", *files[:-1]) == "Drop to attach 10 files"
        now = await made.chips(*(path.name for path in files[:-1]))
        assert now["error"] == ""
        await made.drop_files("chat", files[-1])
        await made.error("10")
        await made.chips(*(path.name for path in files[:-1]))


async def test_what_cannot_be_attached_is_said_by_its_name_and_the_rest_is_attached(
    tmp_path: Path, data_dir: Path, environ: dict[str, str]
) -> None:
    folder, link, huge = tmp_path / "a folder", tmp_path / "dangling.txt", tmp_path / "huge.log"
    good = tmp_path / "good.txt"
    folder.mkdir()
    link.symlink_to(tmp_path / "nothing there")
    good.write_text("good")
    with huge.open("wb") as made_file:
        made_file.truncate(300_000_000)
    async with rig(tmp_path, data_dir, environ) as made:
        await made.drop_files("composer", folder)
        await made.error("a folder", "it is a folder")
        await made.drop_files("chat", link)
        await made.error("dangling.txt")
        await made.drop_files("composer", huge)
        await made.error("huge.log", "300.0 MB")
        await made.drop_files("composer", folder, link, huge, good)
        await made.error("a folder", "dangling.txt", "huge.log")
        await made.chips("good.txt")
        assert kept(data_dir) == [("good.txt", 4)]
        await made.drop_files("composer", good)
        await made.window.until(lambda now: not now["error"], "what was wrong is settled")


@pytest.mark.parametrize("model", [BLIND, SEEING], ids=["blind", "seeing"])
async def test_a_dragged_picture_is_attached_and_a_model_that_cannot_see_it_is_named(
    tmp_path: Path, data_dir: Path, environ: dict[str, str], model: FakeModel
) -> None:
    async with rig(tmp_path, data_dir, environ, model) as made:
        await made.drag(image=True)
        await made.over("composer")
        assert await made.offers_to_take() == "Drop to attach 1 file"
        await made.agree(COPY)
        assert await made.drop() == COPY
        now = await made.chips("pasted image.png")
        if model is BLIND:
            now = await made.window.until(lambda now: now["warning"], "the warning")
            assert "smol:latest cannot see images" in now["warning"]
        else:
            # A second thing, read after the model was looked at for the first one.
            note = tmp_path / "note.txt"
            note.write_text("note")
            await made.drop_files("composer", note)
            now = await made.chips("pasted image.png", "note.txt")
            assert now["warning"] == ""


async def test_text_goes_into_the_field_alone_and_an_address_is_text_that_nobody_fetches(
    tmp_path: Path, data_dir: Path, environ: dict[str, str]
) -> None:
    asked: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    web = await asyncio.start_server(connected, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{web.sockets[0].getsockname()[1]}/picture.png"
    async with rig(tmp_path, data_dir, environ) as made:
        await made.drag(text="said elsewhere")
        await made.over("composer")
        await made.agree(COPY, MOVE)
        await made.over("chat")
        await made.agree(REFUSED)
        await made.over("composer")
        await made.agree(COPY, MOVE)
        assert await made.drop() != REFUSED
        await made.window.until(lambda now: now["text"] == "said elsewhere", "the text")
        for offer in ({"urls": [address], "text": address}, {"urls": [address]}):
            await made.drag(**offer)
            await made.over("composer")
            await made.agree(COPY, MOVE)
            before = made.window.last["text"]
            assert await made.drop() != REFUSED
            now = await made.window.until(lambda now, before=before: now["text"] != before, "the address")  # type: ignore[misc]
            assert address in now["text"]
            assert (now["chips"], now["error"], now["drop_words"]) == ([], "", "")
        share = "file://files.example.org/share/a.txt"
        await made.drag(urls=[share], text=share)
        await made.over("composer")
        await made.agree(COPY, MOVE)
        await made.drop()
        now = await made.window.until(lambda now: share in now["text"], "the address of a share")
        assert now["chips"] == []
    web.close()
    await web.wait_closed()
    assert asked == []
