"""Conversations and answers of every shape that the transcript is measured with."""

from collections.abc import Callable

from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptMessage

_USUAL = ("mix", "code", "paragraph", "blocks", "table")
# One paragraph in which every few letters have a format of their own.
_DENSE = ("inline code", "formulas", "references")
SHAPES = (*_USUAL, *_DENSE)
_WORDS = "The quick brown fox jumps over the lazy dog while nobody looks at what it does there. "
_LETTERS = "abcdefgh"


def answer(shape: str, size: int) -> str:
    """Markdown of exactly `size` characters (or its first line, if that is more) whose last block is open."""
    cell = _WORDS[:100]
    shapes: dict[str, tuple[str, Callable[[int], str]]] = {
        "code": ("```python\n", lambda n: f"    total_{n} = sum(row[{n}] for row in rows)  # adds up\n"),
        "paragraph": ("", lambda n: _WORDS),
        "blocks": ("", lambda n: f"Block {n}: {_WORDS[:70]}\n\n"),
        "table": ("| a | b | c |\n|---|---|---|\n", lambda n: f"| {n} {cell} | {cell} | {cell} |\n"),
        "mix": ("", _mixed),
        "inline code": ("", lambda n: f"`{_LETTERS[n % 8]}` {_LETTERS[n % 7]} "),
        "formulas": ("", lambda n: f"${_LETTERS[n % 8]}$ "),
        "references": ("[b]: https://b.example\n\n", lambda n: "[a][b] "),
    }
    head, line = shapes[shape]
    pieces, length, number = [head], len(head), 0
    while length < size:
        pieces.append(line(number))
        length += len(pieces[-1])
        number += 1
    return "".join(pieces)[: max(size, len(head))]


def _mixed(number: int) -> str:
    return (
        f"## Part {number}\n\n{_WORDS * 2}See `value_{number}` and **this**.\n\n"
        f"- first\n- second, {_WORDS}\n- third\n\n"
        f"```python\ndef part_{number}(rows):\n    return sum(row.net for row in rows)\n```\n\n"
        f"| a | b |\n|---|---|\n| {number} | two |\n| three | four |\n\n"
    )


def conversation(count: int) -> list[TranscriptMessage]:
    """`count` messages, 4 MB for 10,000: short, long, code, tables, lists."""
    messages = []
    for number in range(count // 2):
        question = TranscriptMessage(f"u{number}", MessageKind.USER, f"Question {number}? {_WORDS}")
        shape = _USUAL[number % len(_USUAL)]
        text = f"Answer {number}.\n\n" + answer(shape, 300 + 150 * (number % 7))
        if shape == "code":
            text += "\n```\n"
        messages += [question, TranscriptMessage(f"a{number}", MessageKind.ANSWER, text)]
    return messages
