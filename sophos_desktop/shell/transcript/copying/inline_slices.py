"""Cuts inline Markdown: the source of a part, with the marks that the cut parted closed or opened again.

Invariant: what is not at an edge is the source as it is, unless it needs something that is not copied (the
definition of a link). No Qt.
"""

import re
from collections.abc import Sequence

from sophos_desktop.shell.transcript.copying.inline_source import Mark, Shown, ShownKind

# A backslash before a bracket begins a formula.
_ESCAPES = {character: f"\\{character}" for character in "\\`*_#+-.:|<>~$&="} | {
    "[": "&#91;",
    "]": "&#93;",
    "(": "&#40;",
    ")": "&#41;",
}
_BACKTICKS = re.compile(r"`+")
_BARE_TARGET = re.compile(r"[^\s<>()\\]+")
_BLANKS = (ShownKind.BLANK, ShownKind.LINE_BREAK)
_BLANK_NAMES = frozenset(kind.value for kind in _BLANKS)

Saying = tuple[str, str, frozenset[tuple[str, str]]]
"""A thing that is shown: its kind, its text, the marks it stands in."""


def inline_slice(content: str, shown: Sequence[Shown], first: int, last: int, *, escaped: bool) -> str:
    """The source of `shown[first]` to `shown[last]`, without blanks at its ends. `escaped`: so that
    nothing can be taken for a mark that is none."""
    while first <= last and _is_bare_blank(shown[first]):
        first += 1
    while last >= first and _is_bare_blank(shown[last]):
        last -= 1
    if first > last:
        return ""
    return _Cut(content, shown, first, last).text(escaped=escaped)


def code_span(code: str) -> str:
    """One line of code between marks that do not occur in it."""
    marks = "`" * (max((len(run) for run in _BACKTICKS.findall(code)), default=0) + 1)
    is_between_blanks = code[:1] == code[-1:] == " " and bool(code.strip(" "))
    space = " " if code.startswith("`") or code.endswith("`") or is_between_blanks else ""
    return f"{marks}{space}{code}{space}{marks}"


def escaped_text(text: str) -> str:
    """Markdown that shows `text` as it is."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def said(shown: Sequence[Shown]) -> list[Saying]:
    """What a reader sees; blanks in a row are one."""
    saying: list[Saying] = []
    for thing in shown:
        if thing.kind is ShownKind.BLANK:
            if saying and saying[-1][0] not in _BLANK_NAMES:
                saying.append((thing.kind.value, " ", frozenset()))
        elif thing.kind is ShownKind.LINE_BREAK:
            if saying and saying[-1][0] == ShownKind.BLANK.value:
                saying.pop()
            saying.append((thing.kind.value, "", frozenset()))
        else:
            marks = frozenset((mark.kind, mark.target) for mark in thing.marks)
            saying.append((thing.kind.value, thing.text, marks))
    return trimmed_saying(saying)


def trimmed_saying(saying: list[Saying]) -> list[Saying]:
    """Without blanks at its ends."""
    while saying and saying[-1][0] in _BLANK_NAMES:
        saying = saying[:-1]
    while saying and saying[0][0] in _BLANK_NAMES:
        saying = saying[1:]
    return saying


def _is_bare_blank(thing: Shown) -> bool:
    return thing.kind in _BLANKS and thing.code is None


class _Cut:
    """One cut; neither end is a blank outside of code."""

    def __init__(self, content: str, shown: Sequence[Shown], first: int, last: int) -> None:
        self._content = content
        self._shown = shown
        self._first = first
        self._last = last
        self._edits: list[tuple[int, int, str]] = []

    def text(self, *, escaped: bool) -> str:
        head, tail = self._shown[self._first], self._shown[self._last]
        start, end = head.start, tail.end
        opened, closed = list(head.marks), list(reversed(tail.marks))
        for code in dict.fromkeys((head.code, tail.code)):
            if code is None or not self._is_parted(code):
                continue
            if code in opened:
                opened.remove(code)
            else:
                start = min(start, code.opens[0])
            if code in closed:
                closed.remove(code)
            self._remake_code(code)
        if escaped:
            self._escape()
        for mark in self._links():
            self._rewrite_link(mark, start, end)
        body = _edited(self._content, start, end, self._edits)
        opening = "".join(self._opening(mark) for mark in opened)
        return f"{opening}{body}{''.join(self._closing(mark) for mark in closed)}"

    def _is_parted(self, mark: Mark) -> bool:
        before = self._shown[self._first - 1].marks if self._first else ()
        after = self._shown[self._last + 1].marks if self._last + 1 < len(self._shown) else ()
        return mark in before or mark in after

    def _remake_code(self, code: Mark) -> None:
        inside = [thing for thing in self._shown[self._first : self._last + 1] if thing.code == code]
        begins = code.opens[0] if inside[0] is not self._shown[self._first] else inside[0].start
        ends = code.closes[1] if inside[-1] is not self._shown[self._last] else inside[-1].end
        made = code_span("".join(thing.text for thing in inside))
        self._edits.append((begins, ends, made))

    def _escape(self) -> None:
        for thing in self._shown[self._first : self._last + 1]:
            is_plain = thing.kind is ShownKind.TEXT and thing.code is None and thing.end - thing.start == 1
            if is_plain and thing.text in _ESCAPES:
                self._edits.append((thing.start, thing.end, _ESCAPES[thing.text]))

    def _links(self) -> list[Mark]:
        """Links that cannot stay as they are written."""
        seen = dict.fromkeys(
            mark for thing in self._shown[self._first : self._last + 1] for mark in thing.marks
        )
        return [mark for mark in seen if mark.kind == "link" and self._is_rewritten(mark)]

    def _is_rewritten(self, link: Mark) -> bool:
        is_bare = self._content[link.opens[0] : link.opens[1]] == "<"
        return not link.is_whole and (not is_bare or self._is_parted(link))

    def _rewrite_link(self, link: Mark, start: int, end: int) -> None:
        if start <= link.opens[0]:
            self._edits.append((*link.opens, self._opening(link)))
        if link.closes[1] <= end:
            self._edits.append((*link.closes, self._closing(link)))

    def _opening(self, mark: Mark) -> str:
        if mark.kind == "link" and self._is_rewritten(mark):
            return "["
        return self._content[mark.opens[0] : mark.opens[1]]

    def _closing(self, mark: Mark) -> str:
        if mark.kind != "link" or not self._is_rewritten(mark):
            return self._content[mark.closes[0] : mark.closes[1]]
        is_bare = _BARE_TARGET.fullmatch(mark.target) is not None
        target = mark.target if is_bare else f"<{mark.target}>"
        title = mark.title.replace("\\", "\\\\").replace('"', '\\"')
        return f']({target} "{title}")' if title else f"]({target})"


def _edited(content: str, start: int, end: int, edits: Sequence[tuple[int, int, str]]) -> str:
    parts = []
    at = start
    for begins, ends, text in sorted(edits):
        if begins >= at:
            parts += [content[at:begins], text]
            at = ends
    return "".join([*parts, content[at:end]])
