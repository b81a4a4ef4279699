"""Follows the quotes, items and footnotes that are open at a line.

Invariant: the chain depends on the lines that were followed alone; a line that may go on with the paragraph
of a container though it has not its marks closes nothing. No Qt.
"""

from dataclasses import replace

from sophos_desktop.shell.transcript.markdown.line_kinds import Line, LineKind, read_line
from sophos_desktop.shell.transcript.markdown.segments import (
    TAB_COLUMNS,
    Container,
    bare_line,
    columns_of,
    without_columns,
)

_DEEPEST = 12  # containers that a cut piece is drawn in
_FOOTNOTE_WIDTH = 4
_QUOTE = Container(">")


class ContainerChain:
    """Of one top-level list, quote or footnote."""

    def __init__(self) -> None:
        """Empty."""
        self.open: tuple[Container, ...] = ()
        self.has_changed = False
        """Whether the last line began or closed a container."""
        self._is_after_blank = False
        self.holds_code = False
        """Whether the last line that was not blank is one of indented code."""

    def clear(self) -> None:
        """Another block begins."""
        self.open = ()
        self.holds_code = False

    def follow(self, text: str, *, is_text: bool, is_code: bool) -> str:
        """Take in a line; gives what stands in the innermost container. `is_text`: a paragraph may go on,
        `is_code`: fenced code is open, in which no container begins."""
        rest, depth = self._within(text)
        self._is_after_blank = depth == len(self.open) and not rest.strip(" \t")
        if self._is_after_blank and self.holds_code:
            self.has_changed = False
            return rest
        self.holds_code = False
        before, kept = self.open, self.open[:depth]
        self.has_changed = depth < len(before)
        if is_code and not self.has_changed:
            return rest
        missing = before[depth:]
        opened: list[Container] = []
        while rest.strip(" \t") and len(kept) + len(opened) < _DEEPEST:
            line = read_line(rest)
            made = self._begun(rest, line, missing if not opened else (), is_first=not (kept or opened))
            is_next = bool(missing) and not opened and self._is_next(depth, line)
            may_interrupt = line.interrupts or opened or is_next
            if made is None or (is_text and not may_interrupt):
                break
            opened.append(made)
            rest = _behind_mark(rest, made)
        if not opened and missing and is_text and _is_lazy(rest):
            self.has_changed = False
            return rest
        self.has_changed = self.has_changed or bool(opened)
        self.open = (*kept, *opened)
        self.holds_code = columns_of(rest) >= TAB_COLUMNS and not (is_text and not self.has_changed)
        return rest

    def goes_on_with_code(self, rest: str) -> bool:
        """Whether `rest`, what stands in the containers of the next line, is more of indented code."""
        return self.holds_code and columns_of(rest) >= TAB_COLUMNS and bool(rest.strip(" \t"))

    def is_among_blanks(self, rest: str, *, is_after_blank: bool) -> bool:
        """Whether `rest` is a blank line in or behind indented code, or more of it behind one."""
        if not rest.strip(" \t"):
            return self.holds_code
        return (is_after_blank or self._is_after_blank) and self.goes_on_with_code(rest)

    def at(self, text: str) -> tuple[str, tuple[Container, ...], bool]:
        """Of the line that comes next: what stands in its containers, those of the open ones that it stands
        in or goes on with as the next item, and whether these are all, with no new item among them."""
        rest, depth = self._within(text)
        if depth == len(self.open):
            return rest, self.open, True
        line = read_line(rest) if rest.strip(" \t") else None
        is_sibling = line is not None and line.kind is LineKind.ITEM and self._is_next(depth, line)
        return rest, self.open[: depth + is_sibling], False

    def _is_next(self, depth: int, line: Line) -> bool:
        each = self.open[depth]
        return not each.is_quote and each.mark[-1] == line.marker

    def _within(self, text: str) -> tuple[str, int]:
        """The line without the marks of the containers that it stands in, and how many these are."""
        rest = text
        for depth, each in enumerate(self.open):
            if each.is_quote:
                if columns_of(rest) > 3 or not rest.lstrip(" \t").startswith(">"):
                    return rest, depth
            elif columns_of(rest) < each.width and rest.strip(" \t"):
                return rest, depth
            rest = bare_line(rest, (each,))
        return rest, len(self.open)

    @staticmethod
    def _begun(rest: str, line: Line, missing: tuple[Container, ...], *, is_first: bool) -> Container | None:
        bare = rest.lstrip(" \t")
        if line.kind is LineKind.QUOTE:
            return _QUOTE
        if line.kind is LineKind.FOOTNOTE and is_first:
            return Container(bare.partition(":")[0] + ":", _FOOTNOTE_WIDTH)
        if line.kind is not LineKind.ITEM:
            return None
        mark = bare[: bare.index(line.marker) + 1]
        number = int(mark[:-1]) if mark[:-1] else 0
        made = Container(mark, line.content_indent, number)
        if missing and missing[0].mark[-1] == line.marker:
            return replace(made, number=missing[0].number + 1)
        return made


def _behind_mark(rest: str, container: Container) -> str:
    if container.is_quote:
        return bare_line(rest, (container,))
    bare = rest.lstrip(" \t")
    if container.mark.startswith("["):
        return bare[len(container.mark) :].lstrip(" \t")
    used = columns_of(rest) + len(container.mark)
    return without_columns(bare[len(container.mark) :], container.width - used)


def _is_lazy(rest: str) -> bool:
    return bool(rest.strip(" \t")) and not read_line(rest).interrupts
