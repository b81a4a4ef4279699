"""Takes parts of blocks as whole lines of the source, cut only where the first and the last part are cut.

Invariant: the lines between are the source as it is. Whether the result still says the same is the caller's
to find out. No Qt.
"""

from collections.abc import Sequence

from sophos_desktop.shell.transcript.copying.source_leaves import LeafKind
from sophos_desktop.shell.transcript.copying.source_writer import Part
from sophos_desktop.shell.transcript.markdown.line_kinds import read_fence


def raw_slice(lines: Sequence[str], parts: Sequence[Part], start: int, end: int) -> str | None:
    """The lines from that of the first part to that of the last, or to before `end` if nothing of it is cut;
    from `start` on if nothing of the first is cut. None if the parts do not stand in lines of their own."""
    first, last = parts[0], parts[-1]
    if first.is_head_cut and not first.leaf.is_inline:
        return None
    if LeafKind.CELL in (first.leaf.kind, last.leaf.kind) and (first.is_head_cut or last.leaf.row == 0):
        return None
    if first is last and first.is_head_cut and last.is_tail_cut:
        return None
    head = _head(lines, first) if first.is_head_cut else list(lines[start : first.leaf.first_line])
    begins = first.leaf.end_line if first.is_head_cut else first.leaf.first_line
    if head is None:
        return None
    if not last.is_tail_cut:
        text = "\n".join(_dedented([*head, *lines[begins:end]]))
        return text if end >= len(lines) else f"{text}\n"
    tail = _tail(lines, last)
    if tail is None:
        return None
    return "\n".join(_dedented([*head, *lines[begins : last.leaf.first_line], *tail])) + "\n"


def _dedented(lines: list[str]) -> list[str]:
    """Without the blanks that the first line begins with."""
    width = len(lines[0]) - len(lines[0].lstrip(" ")) if lines else 0
    return [line[min(width, len(line) - len(line.lstrip(" "))) :] for line in lines] if width else lines


def _head(lines: Sequence[str], part: Part) -> list[str] | None:
    """The lines of a leaf whose beginning is cut off, behind the marks before its first line."""
    leaf = part.leaf
    content = leaf.content.split("\n")
    cut = part.inline().split("\n")
    skipped = len(content) - len(cut)
    if skipped < 0 or leaf.first_line + len(content) > leaf.end_line:
        return None
    prefix = _prefix(lines[leaf.first_line], content[0])
    if prefix is None:
        return None
    made = [f"{prefix}{cut[0]}"]
    for number, text in enumerate(cut[1:], skipped + 1):
        inner = _prefix(lines[leaf.first_line + number], content[number])
        if inner is None:
            return None
        made.append(f"{inner}{text.lstrip()}")
    # What follows the content in its last line: blanks before a seam, the hashes that end a heading.
    last = lines[leaf.first_line + len(content) - 1]
    made[-1] += last[last.rfind(content[-1].strip()) + len(content[-1].strip()) :]
    return [*made, *lines[leaf.first_line + len(content) : leaf.end_line]]


def _tail(lines: Sequence[str], part: Part) -> list[str] | None:
    """The lines of a leaf whose end is cut off."""
    leaf = part.leaf
    if leaf.kind is LeafKind.CELL:
        return list(lines[leaf.first_line : leaf.end_line])
    if leaf.kind is LeafKind.CODE:
        return _code_tail(lines, part)
    if not leaf.is_inline:
        return None
    content, made = leaf.content.split("\n"), []
    for number, text in enumerate(part.inline().split("\n")):
        prefix = _prefix(lines[leaf.first_line + number], content[number])
        if prefix is None:
            return None
        made.append(f"{prefix}{text.lstrip()}")
    if leaf.kind is LeafKind.HEADING and not leaf.markup.startswith("#"):
        made.append(lines[leaf.end_line - 1])
    return made


def _code_tail(lines: Sequence[str], part: Part) -> list[str] | None:
    leaf = part.leaf
    code = part.code.split("\n")
    content = leaf.content.split("\n")[: len(code)]
    begins = leaf.first_line + (1 if leaf.markup else 0)
    closing = lines[min(leaf.end_line, len(lines)) - 1]
    if leaf.markup and (read_fence(closing.lstrip(" \t>")) is None or leaf.end_line - begins < len(code)):
        return None
    line = lines[begins + len(code) - 1]
    if not line.endswith(content[-1]):
        return None
    made = [*lines[leaf.first_line : begins + len(code) - 1]]
    made.append(f"{line[: len(line) - len(content[-1])]}{code[-1]}")
    return [*made, closing] if leaf.markup else made


def _prefix(line: str, content: str) -> str | None:
    """What stands in a line of the source before its content."""
    at = line.rfind(content.strip())
    return line[:at] if at >= 0 else None
