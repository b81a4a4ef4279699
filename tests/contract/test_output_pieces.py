"""An answer's pieces are written together, in order, and a reader that is slow or gone is noticed."""

import io
import os

import pytest

from sophos_desktop.cli.console import UNWRITTEN_CHARACTERS, Console


class Counting(io.StringIO):
    """A stream that counts how often it is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)


async def test_many_pieces_are_few_writes() -> None:
    out = Counting()
    console = Console(None, out, None, {})
    pieces = [f"{number} " for number in range(200_000)]
    for piece in pieces:
        await console.out_piece(piece)
    await console.flush()
    console.close()
    assert out.getvalue() == "".join(pieces)
    assert out.writes <= len("".join(pieces)) // UNWRITTEN_CHARACTERS + 1


async def test_what_is_written_later_comes_later() -> None:
    both = Counting()
    console = Console(None, both, both, {})
    await console.out_piece("a")
    await console.note("b")
    await console.out_piece("c")
    await console.out("d")
    await console.out_piece("e")
    console.out_now("f")
    await console.out_piece("g")
    console.close()
    assert both.getvalue() == "ab\ncdefg"


async def test_pieces_arrive_without_anything_after_them() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as reader, os.fdopen(writing, "w") as out:
        console = Console(None, out, None, {})
        await console.out_piece("soon")
        await console.flush()
        assert os.read(reader.fileno(), 100) == b"soon"
        console.close()


async def test_a_reader_that_has_left_is_told_by_the_piece_or_by_what_follows() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out:
        console = Console(None, out, None, {})
        await console.out_piece("to nobody")
        with pytest.raises(BrokenPipeError):
            await console.flush()
        assert console.reader_has_left
        with pytest.raises(BrokenPipeError):
            await console.out_piece("to nobody either")
        await console.note("costs nothing")
        console.close()
