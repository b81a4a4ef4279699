"""`attachment`: the bytes as they were stored, to a pipe, a file or a folder; words where that cannot be."""

import asyncio
import hashlib
import io
import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.cli.attachments import attachment
from sophos_desktop.cli.console import Console
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.signals import Signals
from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store.attachments import Use, hold
from tests.contract import contract
from tests.contract.in_process import Program
from tests.core.store.store_fixture import open_database
from tests.support.core_fixture import paths_of

TEXT = "Grüße \U0001f989\r\n\x1b[2J".encode()
BINARY = bytes(range(256))
Run = Callable[..., Any]


class Terminal(io.TextIOWrapper):
    """A standard output that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(name="kept")
async def _kept(data_dir: Path) -> dict[bytes, str]:
    """Two attachments in the store, by content."""
    kept = {}
    async with open_database(paths_of(data_dir).database) as database, database.write() as connection:
        for content, name in ((TEXT, "notes.txt"), (BINARY, "../odd.bin")):
            digest = hashlib.sha256(content).hexdigest()
            ref = AttachmentRef(digest, name, "x/y", len(content))
            await hold(connection, Use("one", "message", name), [Attachment(ref, content)])
            kept[content] = digest
    return kept


async def run(
    data_dir: Path,
    sha256: str,
    *,
    output: str = "",
    terminal: bool = False,
    as_json: bool = False,
    force: bool = False,
) -> bytes:
    """What the command wrote to stdout, its encoding being none that the content is in."""
    raw = io.BytesIO()
    out = (Terminal if terminal else io.TextIOWrapper)(raw, encoding="latin-1", newline="")
    console = Console(None, out, None, {})
    call = Invocation(
        Namespace(sha256=sha256, output=output, json=as_json, force=force),
        paths_of(data_dir),
        {},
        console,
        Signals(lambda: None, lambda code: None),
    )
    try:
        assert await attachment(call) == 0
    finally:
        await asyncio.to_thread(console.close)
        out.flush()
    return raw.getvalue()


@pytest.mark.parametrize("content", [TEXT, BINARY])
@pytest.mark.parametrize("part", [slice(None), slice(0, 8), slice(-8, None)])
async def test_a_pipe_gets_the_bytes(
    data_dir: Path, kept: dict[bytes, str], content: bytes, part: slice
) -> None:
    assert await run(data_dir, kept[content][part]) == content


async def test_a_file_gets_the_bytes_and_stdout_its_name(
    data_dir: Path, kept: dict[bytes, str], tmp_path: Path
) -> None:
    target = tmp_path / "a file"
    assert await run(data_dir, kept[BINARY], output=str(target)) == f"{target}\n".encode()
    assert target.read_bytes() == BINARY


async def test_a_file_that_is_there_is_replaced_only_if_that_is_wanted(
    data_dir: Path, kept: dict[bytes, str], tmp_path: Path
) -> None:
    (tmp_path / "odd.bin").write_text("precious")
    for output in (tmp_path / "odd.bin", tmp_path):
        with pytest.raises(SophosError) as caught:
            await run(data_dir, kept[BINARY], output=str(output))
        assert (caught.value.code, "--force" in caught.value.remedy) == (ErrorCode.BAD_REQUEST, True)
        assert (tmp_path / "odd.bin").read_text() == "precious"
    await run(data_dir, kept[BINARY], output=str(tmp_path), force=True)
    assert (tmp_path / "odd.bin").read_bytes() == BINARY


async def test_in_a_folder_it_gets_its_own_name_and_no_other_folder_s(
    data_dir: Path, kept: dict[bytes, str], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    await run(data_dir, kept[BINARY], output=str(folder))
    assert (folder / "odd.bin").read_bytes() == BINARY


async def test_json_says_what_it_is(data_dir: Path, kept: dict[bytes, str]) -> None:
    told = json.loads(await run(data_dir, kept[TEXT], as_json=True))
    assert told == {
        "sha256": kept[TEXT],
        "name": "notes.txt",
        "mime_type": "x/y",
        "size_bytes": len(TEXT),
    }


async def test_a_terminal_gets_text_without_control_characters_and_nothing_else(
    data_dir: Path, kept: dict[bytes, str]
) -> None:
    shown = await run(data_dir, kept[TEXT], terminal=True)
    assert b"\x1b" not in shown
    assert shown.startswith("Grüße".encode("latin-1"))
    with pytest.raises(SophosError) as caught:
        await run(data_dir, kept[BINARY], terminal=True)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert "-o FILE" in caught.value.remedy


async def test_what_cannot_be_given_is_said(data_dir: Path, kept: dict[bytes, str], tmp_path: Path) -> None:
    for part, output, code in (
        ("0" * 64, "", ErrorCode.NOT_FOUND),
        ("ab", "", ErrorCode.BAD_REQUEST),
        (kept[TEXT], str(tmp_path / "missing" / "file"), ErrorCode.EXPORT_FAILED),
    ):
        with pytest.raises(SophosError) as caught:
            await run(data_dir, part, output=output)
        assert caught.value.code is code


async def test_the_command_line_gives_it_by_a_part_of_its_digest(
    kept: dict[bytes, str], program: Program, tmp_path: Path
) -> None:
    part, target = kept[TEXT][:6], tmp_path / "out.txt"
    told = await program("attachment", part, "--json")
    assert (told.code, told.json["sha256"]) == (0, kept[TEXT])
    assert set(told.json) == contract.fields("or the path written | `")
    written = await program("attachment", part, "-o", str(target))
    assert (written.code, written.out, target.read_bytes()) == (0, f"{target}\n", TEXT)
    nowhere = str(tmp_path / "missing" / "file")
    again = (part, "-o", str(target))
    for argv, code in (
        (("ab",), 2),
        (("0" * 64,), 6),
        ((part, "-o", nowhere), 7),
        (again, 2),
        ((*again, "--force"), 0),
    ):
        assert (await program("attachment", *argv)).code == code
