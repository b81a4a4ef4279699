"""`ask --attach`: the model gets the file, `show` names it; what cannot be attached is refused first."""

import asyncio
import base64
import os
from pathlib import Path

import pytest

from sophos_desktop.cli.attachments import read_at_most
from tests.contract import contract
from tests.contract.in_process import Program
from tests.support.core_fixture import PATIENCE_SECONDS
from tests.support.ollama_script import FakeModel
from tests.support.ollama_server import OllamaServer

SEEING = FakeModel("smol:latest", ("completion", "tools", "vision"))
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
REF_FIELDS = {"sha256", "name", "mime_type", "size_bytes"}


async def test_files_go_with_the_message_and_are_named_where_it_is_read(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("milk")
    (tmp_path / "owl.png").write_bytes(PNG)
    attach = [
        argument for name in ("notes.txt", "owl.png") for argument in ("--attach", str(tmp_path / name))
    ]
    async with OllamaServer((SEEING,)) as server:
        program.use(server)
        asked = await program("ask", *attach, "--json", "Look")
        sent = server.chats[0].body["messages"][-1]
        empty = await program("ask", "--attach", str(tmp_path / "notes.txt"), "")
    assert (asked.code, empty.code) == (0, 0)
    assert sent["content"] == 'Look\n\n<attachment name="notes.txt">\nmilk\n</attachment>'
    assert sent["images"] == [base64.b64encode(PNG).decode()]
    told = next(event["message"] for event in asked.events if event["type"] == "message")
    notes, owl = told["attachments"]
    assert set(notes) == REF_FIELDS
    assert (notes["name"], owl["mime_type"], owl["size_bytes"]) == ("notes.txt", "image/png", len(PNG))
    conversation_id = asked.events[0]["conversation_id"]
    shown = (await program("show", "--json", conversation_id)).json
    assert shown["messages"][0]["attachments"] == [notes, owl]
    assert shown["draft_attachments"] == []
    lines = (await program("show", conversation_id)).out.splitlines()
    at = lines.index("Look", 1)  # the first line is the title
    assert lines[at + 1 : at + 3] == [
        f"+ notes.txt  4 bytes  {notes['sha256'][:8]}",
        f"+ owl.png  {len(PNG)} bytes  {owl['sha256'][:8]}",
    ]
    given = await program("attachment", notes["sha256"][:8])
    assert given.out == "milk"
    assert "--attach" in contract.commands()["ask"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.txt", None, "cannot be read"),
        (".", None, "cannot be read"),
        ("a\0b", None, "cannot be read"),
        ("empty.txt", b"", "is empty"),
        ("program.bin", b"\x7fELF\0\0", "neither text nor an image"),
        ("large.txt", b"x" * 1_000_001, "1.0 MB"),
        ("large.png", PNG + b"x" * 20_000_000, "20.0 MB"),
        ("huge.bin", b"x" * 20_000_001, "a text may have 1.0 MB at most"),
    ],
)
async def test_what_cannot_be_attached_is_a_bad_request_that_names_it(
    program: Program, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    (tmp_path / "good.txt").write_text("good")
    refused = await program("ask", "--attach", str(tmp_path / "good.txt"), "--attach", str(file), "Look")
    assert refused.code == 2
    assert refused.err.startswith("error BAD_REQUEST: ")
    assert str(file).replace("\0", "") in refused.err.replace("\0", "")
    assert words in refused.err
    assert not (program.data_dir / "sophos.db").exists(), "before anything is stored"


async def test_a_pipe_is_refused_and_never_waited_for(program: Program, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused = await program("ask", "--attach", str(tmp_path / "pipe"), "Look")
    assert (refused.code, "it is no regular file" in refused.err) == (2, True)


async def test_more_than_a_message_takes_is_refused(program: Program, tmp_path: Path) -> None:
    attach = []
    for number in range(11):
        (tmp_path / f"{number}.txt").write_text(str(number))
        attach += ["--attach", str(tmp_path / f"{number}.txt")]
    refused = await program("ask", *attach, "Look")
    assert (refused.code, "10 attachments at most" in refused.err) == (2, True)


async def test_a_file_that_calls_itself_regular_and_has_nothing_to_give_is_not_waited_for(
    tmp_path: Path,
) -> None:
    silent = tmp_path / "silent"
    os.mkfifo(silent)  # to whoever reads it, it is like /proc/kmsg
    writer = os.open(silent, os.O_RDWR)
    try:
        with pytest.raises(BlockingIOError):
            await asyncio.wait_for(asyncio.to_thread(read_at_most, silent, 10), PATIENCE_SECONDS)
        os.write(writer, b"words")
        assert read_at_most(silent, 3) == b"wor"
    finally:
        os.close(writer)


async def test_of_two_files_with_one_content_the_second_is_said_to_be_the_first(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "first.txt").write_text("milk")
    (tmp_path / "second.txt").write_text("milk")
    async with OllamaServer() as server:
        program.use(server)
        files = [f"--attach={tmp_path / name}" for name in ("first.txt", "second.txt")]
        asked = await program("ask", *files, "Look")
    assert asked.code == 0
    assert f"notice: {tmp_path / 'second.txt'} has the same content as first.txt" in asked.err


async def test_a_file_whose_name_is_no_text_goes_along_under_a_safe_one(
    program: Program, tmp_path: Path
) -> None:
    file = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    await asyncio.to_thread(Path(os.fsdecode(file)).write_text, "milk")
    async with OllamaServer() as server:
        program.use(server)
        asked = await program("ask", "--json", "--attach", os.fsdecode(file), "Look")
    assert asked.code == 0
    told = next(event["message"] for event in asked.events if event["type"] == "message")
    assert [attached["name"] for attached in told["attachments"]] == ["caf\ufffd.txt"]
    missing = await program("ask", "--attach", os.fsdecode(file + b"x"), "Look")
    assert (missing.code, "caf\ufffd.txtx cannot be read" in missing.err) == (2, True)


async def test_input_that_is_no_text_is_said_to_be_replaced(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        broken = await program("ask", "-", stdin=b"caf\xe9\n")
        assert server.chats[-1].body["messages"][-1]["content"] == "caf\ufffd"
        wide = await program("ask", "-", stdin="caf\u00e9\r\n".encode("utf-16"))
        assert server.chats[-1].body["messages"][-1]["content"] == "caf\u00e9"
    assert "notice: standard input is not UTF-8 text" in broken.err
    assert "standard input" not in wide.err
