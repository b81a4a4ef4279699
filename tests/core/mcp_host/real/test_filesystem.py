"""The filesystem server, on a folder whose name is as awkward as a person may choose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.harness import ready, running_host, status_of
from tests.core.mcp_host.real.servers import called, good, npm_server

pytestmark = [pytest.mark.needs_node, pytest.mark.long]

NAME = "filesystem"
HUGE_BYTES = 20_000_000
NAMES = [
    "plain.txt",
    "two words.txt",
    "größe 🦉.txt",
    "日本語.txt",
    "עברית.txt",
    'it\'s "quoted".txt',
    "#1 100%.txt",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the server may touch."""
    folder = tmp_path / "Dokumente & Fotos 100% 🦉"
    folder.mkdir()
    return folder


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[ToolHost]:
    """A host whose server may touch the folder."""
    async with running_host(npm_server(NAME, str(folder))) as host:
        await ready(host, NAME)
        yield host


async def test_files_are_written_listed_read_edited_and_moved(folder: Path) -> None:
    async with serving(folder) as host:
        path = str(folder / "notes.txt")
        await good(host, NAME, "write_file", path=path, content="first\nsecond\n")
        assert "[FILE] notes.txt" in (await good(host, NAME, "list_directory", path=str(folder))).text
        assert (await good(host, NAME, "read_text_file", path=path)).text == "first\nsecond\n"
        edits = [{"oldText": "second", "newText": "zweite"}]
        dry = await good(host, NAME, "edit_file", path=path, edits=edits, dryRun=True)
        assert "+zweite" in dry.text
        assert (folder / "notes.txt").read_text() == "first\nsecond\n"
        await good(host, NAME, "edit_file", path=path, edits=edits)
        assert (folder / "notes.txt").read_text() == "first\nzweite\n"
        await good(host, NAME, "create_directory", path=str(folder / "deep" / "er"))
        await good(host, NAME, "move_file", source=path, destination=str(folder / "deep" / "er" / "n.txt"))
        assert (folder / "deep" / "er" / "n.txt").read_text() == "first\nzweite\n"


async def test_names_in_any_script_arrive_unchanged(folder: Path) -> None:
    async with serving(folder) as host:
        for name in NAMES:
            await good(host, NAME, "write_file", path=str(folder / name), content=name)
        assert _names_in(folder) == sorted(NAMES)
        listing = (await good(host, NAME, "list_directory", path=str(folder))).text
        assert sorted(listing.splitlines()) == sorted(f"[FILE] {name}" for name in NAMES)
        for name in NAMES:
            assert (await good(host, NAME, "read_text_file", path=str(folder / name))).text == name


async def test_what_lies_outside_is_an_error_result_in_the_servers_words(folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "link.txt").symlink_to(secret)
    async with serving(folder) as host:
        for path in (str(secret), f"{folder}/../secret.txt", str(folder / "link.txt"), "/etc/passwd"):
            read = await called(host, NAME, "read_text_file", path=path)
            assert (read.is_error, "Access denied" in read.text) == (True, True), path
            written = await called(host, NAME, "write_file", path=path, content="mine")
            assert (written.is_error, "Access denied" in written.text) == (True, True), path
        missing = await called(host, NAME, "read_text_file", path=str(folder / "none.txt"))
        assert (missing.is_error, "ENOENT" in missing.text) == (True, True)
    assert secret.read_text() == "secret"


async def test_a_file_of_20_mb_comes_back_whole_and_the_server_goes_on(folder: Path) -> None:
    content = "0123456789abcde\n" * (HUGE_BYTES // 16)
    (folder / "huge.txt").write_text(content)
    async with serving(folder) as host:
        pid = status_of(host, NAME).pid
        huge = await good(host, NAME, "read_text_file", path=str(folder / "huge.txt"))
        assert [part["text"] == content for part in huge.content] == [True]
        head = await good(host, NAME, "read_text_file", path=str(folder / "huge.txt"), head=1)
        assert head.text.strip() == "0123456789abcde"
        assert status_of(host, NAME).pid == pid


async def test_an_image_is_a_part_of_its_own(folder: Path) -> None:
    (folder / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    async with serving(folder) as host:
        image = await good(host, NAME, "read_media_file", path=str(folder / "dot.png"))
        assert [(part["type"], part["mimeType"]) for part in image.content] == [("image", "image/png")]


async def test_what_must_not_be_repeated_is_told_apart_by_its_hints(folder: Path) -> None:
    async with serving(folder) as host:
        hints = {spec.tool: spec.annotations for spec in host.tools()}
        assert hints["read_text_file"].read_only is True
        assert (hints["write_file"].idempotent, hints["write_file"].destructive) == (True, True)
        assert hints["edit_file"].idempotent is False
        assert not any(spec.repeatable for spec in host.tools()), "nobody has said that it is trusted"


async def test_a_folder_that_is_not_there_fails_in_the_servers_words(tmp_path: Path) -> None:
    async with running_host(npm_server(NAME, str(tmp_path / "gone"))) as host:
        await host.settle(20)
        status = status_of(host, NAME)
        assert any("gone" in line for line in status.stderr_tail)
        assert status.pid is None


def _names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
