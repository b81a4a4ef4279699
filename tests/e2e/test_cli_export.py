"""`export` as the real program: to a pipe, into a file, into a folder, and when that does not work."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from sophos_desktop.core.domain.exports import ExportFormat
from tests.e2e.cli_program import Program, read_until
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

pytestmark = pytest.mark.long
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


async def conversation_ids(program: Program, *texts: str) -> list[str]:
    return [(await program("ask", "--json", text)).events[0]["conversation_id"] for text in texts]


async def test_a_document_goes_to_stdout_or_into_a_file_with_the_same_bytes(
    program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "exports #1 100%"
    folder.mkdir()
    async with OllamaServer() as server:
        program.use(server)
        server.script(
            Reply(pieces=("مرحبا 🦉\n\n```python\nopen",), calls=(program.append("one"),)), "Geschafft."
        )
        (conversation_id,) = await conversation_ids(program, "Grüße")
    for kind, name in zip(ExportFormat, ("md", "jsonl"), strict=True):
        printed = await program("export", conversation_id, "--format", name, environ=ASCII)
        assert (printed.code, printed.err) == (0, "")
        named = await program("export", conversation_id[-6:], "--format", name, "-o", f"{folder}")
        target = folder / kind.file_name(conversation_id)
        assert (named.code, named.out, named.err) == (0, f"{target}\n", "")
        assert target.read_bytes() == printed.out.encode()
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    document = (folder / f"{conversation_id}.md").read_text(encoding="utf-8")
    assert document.startswith("# Grüße\n\n- Conversation: `")
    assert "\n\nمرحبا 🦉\n\n```python\nopen\n```\n\n### Tool call · `lines.append_line` · ok · " in document
    assert document.endswith("\n\nGeschafft.\n")
    lines = (folder / f"{conversation_id}.checkpoints.jsonl").read_text().splitlines()
    assert [json.loads(line)["next"] for line in lines] == [
        ["__start__"],
        ["agent"],
        ["tools"],
        ["agent"],
        [],
    ]
    new = f"{folder / 'new' / 'deeper'}{os.sep}"
    assert (await program("export", conversation_id, "-o", new)).out == f"{new}{conversation_id}.md\n"


async def test_all_conversations_go_into_a_folder(program: Program, tmp_path: Path) -> None:
    async with OllamaServer() as server:
        program.use(server)
        ids = await conversation_ids(program, "One", "Two")
    written = await program("export", "--all", "-o", str(tmp_path / "all"))
    assert (written.code, written.err) == (0, "")
    expected = {str(tmp_path / "all" / f"{conversation_id}.md") for conversation_id in ids}
    assert set(written.out.splitlines()) == expected
    both = await program("export", *ids, "--format", "jsonl", "-o", str(tmp_path / "both"))
    assert [Path(line).name for line in both.out.splitlines()] == [f"{i}.checkpoints.jsonl" for i in ids]


async def test_what_cannot_be_written_is_told_with_the_systems_reason(
    program: Program, tmp_path: Path
) -> None:
    async with OllamaServer() as server:
        program.use(server)
        (conversation_id,) = await conversation_ids(program, "One")
    missing = tmp_path / "nowhere" / "x.md"
    refused = await program("export", conversation_id, "-o", str(missing))
    assert (refused.code, refused.out) == (7, "")
    assert f"error EXPORT_FAILED: {missing} cannot be written: No such file or directory. " in refused.err
    full = os.open("/dev/full", os.O_WRONLY)
    async with program.started("export", conversation_id, stdout=full) as printing:
        os.close(full)
        ended = await printing.end()
    assert ended.code == 7
    assert "error EXPORT_FAILED: The output cannot be written: No space left on device" in ended.err


async def test_a_reader_that_leaves_or_does_not_read_ends_the_export(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("word " * 100_000,)))
        (conversation_id,) = await conversation_ids(program, "tell me")
    read_end, write_end = os.pipe()
    async with program.started("export", conversation_id, stdout=write_end) as leaving:
        os.close(write_end)
        await read_until(read_end, "word")
        os.close(read_end)
        left = await leaving.end()
    assert (left.code, left.err) == (0, "")
    read_end, write_end = os.pipe()
    async with program.started("export", conversation_id, stdout=write_end) as stuck:
        os.close(write_end)
        await read_until(read_end, "word")
        stuck.process.send_signal(signal.SIGINT)
        stopped = await stuck.end()
    os.close(read_end)
    assert stopped.code == 130
