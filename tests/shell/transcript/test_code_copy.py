"""Copy of a block of code: all of it, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.copying.code_copy import whole_code
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from tests.shell.transcript.answers import Answer
from tests.shell.transcript.viewing import answer

PROSE = "some words that fill the line so that it becomes long enough to be cut somewhere "
SHELLS = {
    "alone": ("", "", "\n\nafter\n"),
    "in a list": ("- item\n\n", "  ", f"\n  and {PROSE}\n- next {PROSE * 30}\n- last\n"),
    "in an ordered list": ("9. item\n10. item\n\n", "    ", "\n11. next\n"),
    "in a nested list": ("- item\n  - inner\n\n", "    ", "\n  - inner\n- next\n"),
    "in a quote": ("> words\n>\n", "> ", f"\n>\n> after {PROSE * 30}\n>\n> more\n"),
}
LINES = st.lists(
    st.sampled_from(
        ["", "x = 1", "    deep", "\tall:", "trailing  ", "- no item", "> no quote", "# no", "y" * 700]
    ),
    min_size=1,
    max_size=260,
)


def copied(source: str) -> list[str]:
    """What "Copy" of each box gives."""
    built, model = Answer(source), TranscriptModel()
    model.reset([answer("a", source)])
    codes = []
    for part, (segment, document) in enumerate(zip(built.built, built.documents, strict=True)):
        for box in segment.code_boxes:
            if box.is_first:
                is_last = box.last_block == document.blockCount() - 1
                codes.append(whole_code(model, 0, part, box.source, is_last=is_last))
    return codes


def shelled(shell: str, lines: list[str]) -> str:
    before, prefix, after = SHELLS[shell]
    return (
        before
        + "\n".join(f"{prefix}{line}".rstrip(" ") if not line else prefix + line for line in lines)
        + after
    )


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=15)
@given(lines=LINES)
def test_fenced_code_is_copied_exactly(shell: str, lines: list[str]) -> None:
    source = shelled(shell, ["```sh", *lines, "```"])
    assert copied(source) == ["\n".join(lines)]


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=15)
@given(lines=LINES)
def test_indented_code_is_copied_exactly(shell: str, lines: list[str]) -> None:
    if shell != "alone":
        # A long one in a list or a quote is cut into blocks of their own, each with its own button.
        lines = [line for line in lines[:20] if len(line) < 100]
    lines = ["first", *lines, "last"]
    source = shelled(shell, ["", *(f"    {line}" if line else "" for line in lines), ""])
    # A tab goes on to the next stop: what it is worth there is not for us to say.
    if not any("\t" in line for line in lines):
        assert copied(source) == ["\n".join(lines)]


def test_each_step_of_a_long_list_copies_its_own_command() -> None:
    steps = [
        f"{n}. **Step {n}**: {PROSE}\n\n   ```sh\n   command --number {n}\n   ```\n\n" for n in range(1, 31)
    ]
    assert copied("".join(steps) + "Done.\n") == [f"command --number {n}" for n in range(1, 31)]


def test_a_line_that_is_cut_stays_one_line() -> None:
    line = "word " * 4_000 + "end"
    assert copied(f"```\nfirst\n{line}\nlast\n```\nafter") == [f"first\n{line}\nlast"]


def test_code_that_nothing_closes_is_copied_as_far_as_it_came() -> None:
    lines = [f"line {number}" for number in range(200)]
    assert copied("- a\n  ```\n" + "".join(f"  {line}\n" for line in lines)) == ["\n".join(lines)]
