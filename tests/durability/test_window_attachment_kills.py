"""The real window is killed while it attaches, and right after: the next start finds all of it or nothing."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.lines_process import LinesProcess, lines_process

PROGRAM = "tests.support.window_program"
NOBODY = "127.0.0.1:1"
TYPED = "look at this"
LARGE_BYTES = 900_000
"""Nearly as much text as may be attached: it spans hundreds of pages of the file."""


@asynccontextmanager
async def window(environ: dict[str, str], **more: str) -> AsyncIterator[LinesProcess]:
    """The window's process, once what was open last is shown."""
    own = {**environ, "OLLAMA_HOST": NOBODY, "SOPHOS_ENGINE__KIND": "ollama", **more}
    async with lines_process(PROGRAM, own) as process:
        await process.until(lambda now: now["is_ready"], "the window is open")
        yield process


async def closed(process: LinesProcess) -> None:
    """Close it as a person does."""
    assert process.process.stdin is not None
    process.process.stdin.close()
    assert await process.gone() == 0


def stored(data_dir: Path) -> dict[str, Any]:
    """What lies in the file, and whether its parts fit together."""
    with closing(sqlite3.connect(data_dir / "sophos.db")) as connection:

        def column(statement: str) -> list[Any]:
            return [row[0] for row in connection.execute(statement)]

        return {
            "sound": column("PRAGMA quick_check") == ["ok"],
            "contents": column("SELECT length(content) FROM attachments ORDER BY sha256"),
            "uses": column("SELECT name FROM attachment_uses WHERE kind = 'draft' ORDER BY position"),
            "unused": column(
                "SELECT count(*) FROM attachments WHERE sha256 NOT IN (SELECT sha256 FROM attachment_uses)"
            )[0],
            "missing": column(
                "SELECT count(*) FROM attachment_uses WHERE sha256 NOT IN (SELECT sha256 FROM attachments)"
            )[0],
            "draft": column("SELECT value FROM app_state WHERE key = 'draft'"),
        }


def attached(*names: str) -> dict[str, Any]:
    """A sound file whose new chat holds these, each of `LARGE_BYTES`, and the text."""
    return {
        "sound": True,
        "contents": [LARGE_BYTES] * len(names),
        "uses": list(names),
        "unused": 0,
        "missing": 0,
        "draft": [TYPED],
    }


def large(folder: Path, name: str) -> Path:
    """A text file that nobody else has."""
    path = folder / name
    path.write_text((name + "\n").ljust(LARGE_BYTES, "x"))
    return path


async def saved_text(process: LinesProcess, data_dir: Path) -> None:
    """Type the text; it is in the file half a second after the last key."""
    process.say(type=TYPED)
    await process.until(lambda now: now["text"] == TYPED and now["is_saved"], "the text is stored")
    assert stored(data_dir)["draft"] == [TYPED]


@pytest.mark.long
@pytest.mark.parametrize(
    ("failpoint", "found"),
    [
        ("attach.before_commit", ()),
        ("attach.after_commit", ("one.txt",)),
        ("attach.before_commit:2", ("one.txt",)),
        ("attach.after_commit:2", ("one.txt", "two.txt")),
    ],
)
async def test_torture_a_window_that_is_killed_while_it_attaches_has_each_file_whole_or_not_at_all(
    tmp_path: Path, data_dir: Path, environ: dict[str, str], failpoint: str, found: tuple[str, ...]
) -> None:
    one, two = large(tmp_path, "one.txt"), large(tmp_path, "two.txt")
    async with window(environ) as process:
        await saved_text(process, data_dir)
        await closed(process)
    async with window(environ, SOPHOS_FAILPOINT=failpoint) as process:
        assert process.last["text"] == TYPED
        process.say(attach=[str(one), str(two)])
        assert await process.gone() == -9
    await shows(environ, data_dir, found)


@pytest.mark.long
async def test_torture_a_window_that_is_killed_right_after_a_chip_is_shown_has_its_file(
    tmp_path: Path, data_dir: Path, environ: dict[str, str]
) -> None:
    one, two = large(tmp_path, "one.txt"), large(tmp_path, "two.txt")
    async with window(environ) as process:
        await saved_text(process, data_dir)
        process.say(attach=[str(one)])
        await process.until(lambda now: now["chips"] == [["one.txt", True]], "the chip")
        await process.kill()
    await shows(environ, data_dir, ("one.txt",))
    async with window(environ) as process:
        process.say(attach=[str(two)])
        # Its chip is there while its file is read: only one that says how large it is promises something.
        await process.until(
            lambda now: ["two.txt", False] in now["chips"] or len(now["chips"]) == 2, "a chip"
        )
        await process.kill()
    kept = stored(data_dir)["uses"]
    assert kept in (["one.txt"], ["one.txt", "two.txt"])
    await shows(environ, data_dir, tuple(kept))


async def shows(environ: dict[str, str], data_dir: Path, found: tuple[str, ...]) -> None:
    """The next start shows exactly these with the text, and the file is sound."""
    async with window(environ) as process:
        wanted = [[name, True] for name in found]
        now = await process.until(lambda now: now["is_ready"] and now["chips"] == wanted, f"chips {found}")
        assert (now["text"], now["error"]) == (TYPED, "")
        assert stored(data_dir) == attached(*found)
        await closed(process)
    assert stored(data_dir) == attached(*found)
