"""Indented code in lists and quotes, which is cut into pieces when it is long."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.markdown.splitter import Splitter
from tests.shell.transcript.samples import segments_of
from tests.shell.transcript.test_code_copy import copied

CONTAINERS = {"item": ("- a\n\n", "  "), "number": ("10. a\n\n", "    "), "quote": ("> a\n>\n", "> ")}
LINES = st.lists(
    st.sampled_from(["", "x = 1", "    deep", "- no item", "> no quote", "```", "words " * 30]),
    min_size=1,
    max_size=300,
)


def source_of(container: str, lines: list[str]) -> str:
    first, mark = CONTAINERS[container]
    code = "".join(f"{mark}    {line}".rstrip() + "\n" for line in lines)
    return f"{first}{code}{mark.rstrip()}\n{mark}after\n\nout\n"


@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=25, deadline=None)
@given(lines=LINES)
def test_all_of_it_is_copied(container: str, lines: list[str]) -> None:
    wanted = "\n".join(line.rstrip() for line in lines).strip("\n")
    if wanted:
        assert copied(source_of(container, lines)) == [wanted]


@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=10, deadline=None)
@given(lines=LINES, step=st.integers(min_value=1, max_value=900))
def test_the_pieces_do_not_depend_on_how_it_arrived(container: str, lines: list[str], step: int) -> None:
    source = source_of(container, lines)
    splitter = Splitter()
    for at in range(0, len(source), step):
        splitter.feed(source[at : at + step])
    splitter.finish()
    assert list(splitter.segments) == list(segments_of(source))
