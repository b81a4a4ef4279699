"""Gives the Markdown of a part of a block of code, which may be cut into segments of its own.

Invariant: code that is copied from its first line on is the source; else the selected lines stand between
fences of the same kind and language, whatever they were indented by.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sophos_desktop.shell.transcript.copying.source_slices import code_part
from sophos_desktop.shell.transcript.markdown.segments import LINE_END, Segment
from sophos_desktop.shell.transcript.text.drawable_text import drawable

_LINE_ENDS = ("\n", "\r")


@dataclass(frozen=True, slots=True)
class CodeCut:
    """A part of a segment of code, from `start` to before `end` (None: to its end) in its document.
    `is_begun`: the code before it was copied, `is_raw` as its source is; `goes_on`: more of it will be;
    `is_alone`: nothing else is copied."""

    segment: Segment
    start: int
    end: int | None
    is_begun: bool
    is_raw: bool
    goes_on: bool
    is_alone: bool


def code_slice(cut: CodeCut) -> Iterator[str]:
    """The Markdown; pieces of one block of code follow each other without anything between."""
    segment, fence = cut.segment, cut.segment.fence
    if cut.is_raw and cut.end is None:
        yield segment.text
        if fence is not None and segment.goes_on and not cut.goes_on and not segment.has_end:
            yield "" if segment.text.endswith(_LINE_ENDS) else "\n"
            yield f"{_prefix(segment)}{_fence(segment)}\n"
        return
    code = _between(segment.code, cut.start, cut.end)
    if cut.is_alone:
        markup = fence.mark * fence.length if fence else ""
        yield code_part(code, segment.code, markup, fence.info if fence else "")
        return
    if cut.is_raw:
        yield _raw_until(segment, code)
    elif fence is None:
        yield "\n".join(f"    {line}" if line else "" for line in code.split("\n"))
    else:
        yield code if cut.is_begun else f"{_fence(segment)}{fence.info}\n{code}"
    is_line_whole = cut.end is None and segment.text.endswith(_LINE_ENDS)
    if cut.goes_on:
        yield "\n" if is_line_whole else ""
        return
    yield f"\n{_prefix(segment) if cut.is_raw else ''}{_fence(segment)}\n\n" if fence else "\n\n"


def _between(code: str, start: int, end: int | None) -> str:
    """A part of code by UTF-16 units."""
    units = drawable(code).encode("utf-16-le", "surrogatepass")
    return units[start * 2 : None if end is None else end * 2].decode("utf-16-le", "replace")


def _raw_until(segment: Segment, code: str) -> str:
    """The lines of the source that begin with `code`."""
    lines = LINE_END.split(segment.text)
    is_opening = segment.fence is not None and not segment.continues
    wanted = code.split("\n")
    last = len(wanted) - 1 + (1 if is_opening else 0)
    whole = segment.code.split("\n")[len(wanted) - 1]
    line = lines[last] if last < len(lines) else ""
    indent = line[: len(line) - len(whole)] if line.endswith(whole) else ""
    return "\n".join([*lines[:last], f"{indent}{wanted[-1]}"])


def _fence(segment: Segment) -> str:
    return segment.fence.mark * segment.fence.length if segment.fence else ""


def _prefix(segment: Segment) -> str:
    return "> " * segment.quote + " " * segment.strip
