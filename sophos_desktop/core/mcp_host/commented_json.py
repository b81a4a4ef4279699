"""JSON with comments and trailing commas: read as JSON, changed member by member.

Invariant: a change touches the characters of its member alone: other members, their order, comments,
indentation and line ends stay as they are. Offsets count characters of the text as it was given.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_DEFAULT_UNIT = "  "

ObjectHook = Callable[[list[tuple[str, Any]]], Any]


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: where its key begins, and where its value begins and ends."""

    name: str
    start: int
    value_start: int
    end: int


def parse(text: str, object_hook: ObjectHook | None = None) -> Any:
    """The document. Raises json.JSONDecodeError with the place in `text`, ValueError, RecursionError."""
    return json.loads(_plain(text), object_pairs_hook=object_hook)


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with the value at `path` put in place of the old one, or added at the end of its object.

    All but the last name of `path` must be objects that are there. Raises as `parse`, KeyError."""
    *parents, name = path
    blanked = _without_comments(text)
    start = _find(blanked, parents)
    members = _members(blanked, start)
    line_end = "\r\n" if "\r\n" in text else "\n"
    unit, indentation = _indentation(text, blanked, start, members)
    own = [member for member in members if member.name == name]
    if own:
        old = own[-1]
        shown = _dumped(value, unit, _line_indentation(text, old.start), line_end, text)
        return text[: old.value_start] + shown + text[old.end :]
    shown = f"{json.dumps(name, ensure_ascii=False)}: {_dumped(value, unit, indentation, line_end, text)}"
    close = _closing(blanked, start, members)
    if not members:
        if "\n" not in text:
            return f"{text[:close]}{shown}{text[close:]}"
        inner = text[start + 1 : close].rstrip()
        ending = line_end + _line_indentation(text, start)
        return f"{text[: start + 1]}{inner}{line_end}{indentation}{shown}{ending}{text[close:]}"
    last = members[-1]
    has_comma = blanked[last.end : close].strip() == ","
    line = _line_start(text, close)
    if line <= last.end or text[line:close].strip():  # the object does not end on a line of its own
        ending = ", " if "\n" not in text[start:close] else f",{line_end}{indentation}"
        at = last.end + blanked[last.end : close].index(",") + 1 if has_comma else last.end
        added = ending[1:] + shown + "," if has_comma else ending + shown
        return text[:at] + added + text[at:]
    comma = "" if has_comma else ","
    added = f"{indentation}{shown}{',' if has_comma else ''}{line_end}"
    return f"{text[: last.end]}{comma}{text[last.end : line]}{added}{text[line:]}"


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`, wherever it stands in its object, as often as it does.

    Raises as `parse`, KeyError if there is none."""
    *parents, name = path
    is_there = False
    while True:
        blanked = _without_comments(text)
        start = _find(blanked, parents)
        members = _members(blanked, start)
        place = next((index for index, member in enumerate(members) if member.name == name), None)
        if place is None:
            if not is_there:
                raise KeyError(name)
            return text
        is_there = True
        text = _without(text, blanked, members, place, _closing(blanked, start, members))


def _without(text: str, blanked: str, members: Sequence[_Member], place: int, close: int) -> str:
    member = members[place]
    begin, end = member.start, member.end
    following = members[place + 1].start if place + 1 < len(members) else close
    comma = blanked[member.end : following].find(",")
    if comma >= 0:
        comma += member.end
        # What stands between the value and its comma can only be space and comments.
        text = text[:comma] + text[comma + 1 :]
        blanked = blanked[:comma] + blanked[comma + 1 :]
        end = comma if not text[member.end : comma].strip() else member.end
    before, line = text[_line_start(text, begin) : begin], _line_start(text, begin)
    after = re.match(r"[ \t]*(\r?\n)?", text[end:])
    assert after is not None
    if not before.strip() and after[1]:
        begin, end = line, end + after.end()
    elif not before.strip() or comma >= 0:
        end += len(after[0]) if not after[1] else 0
    kept = text[:begin] + text[end:]
    if comma < 0 and place > 0:
        previous = members[place - 1].end
        at = previous + blanked[previous:begin].index(",")
        gap = kept[at + 1 : begin]
        rest = gap if gap.strip() or "\n" in gap else ""
        kept = kept[:at] + rest + kept[begin:]
    return kept


def _plain(text: str) -> str:
    """The text as JSON, of the same length: comments and trailing commas are spaces."""
    return _TRAILING_COMMA.sub(_spaces_for_comma, _without_comments(text))


def _without_comments(text: str) -> str:
    return _TOKEN.sub(_spaces_for_comment, text)


def _spaces_for_comment(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else re.sub(r"[^\r\n]", " ", match[0])


def _spaces_for_comma(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else " "


def _find(blanked: str, path: Sequence[str]) -> int:
    """Where the object at `path` begins. Raises KeyError."""
    start = _skip(blanked, 0)
    for name in path:
        named = [member for member in _members(blanked, start) if member.name == name]
        if not named:
            raise KeyError(name)
        start = named[-1].value_start
    return start


def _members(blanked: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start`, in their order. Raises KeyError if it is none."""
    plain = _TRAILING_COMMA.sub(_spaces_for_comma, blanked)
    if plain[start : start + 1] != "{":
        raise KeyError("not an object")
    decoder = json.JSONDecoder()
    found = []
    position = _skip(plain, start + 1)
    while plain[position] != "}":
        name, end = decoder.raw_decode(plain, position)
        value_start = _skip(plain, _skip(plain, end) + 1)
        _, value_end = decoder.raw_decode(plain, value_start)
        found.append(_Member(name, position, value_start, value_end))
        position = _skip(plain, value_end)
        if plain[position] == ",":
            position = _skip(plain, position + 1)
    return found


def _closing(blanked: str, start: int, members: Sequence[_Member]) -> int:
    return blanked.index("}", members[-1].end if members else start)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _line_indentation(text: str, position: int) -> str:
    found = re.compile(r"[ \t]*").match(text, _line_start(text, position))
    assert found is not None
    return found[0]


def _indentation(text: str, blanked: str, start: int, members: Sequence[_Member]) -> tuple[str, str]:
    """One level of indentation, and the indentation of the members of the object at `start`."""
    outer = _line_indentation(text, start)
    for member in members:
        own = text[_line_start(text, member.start) : member.start]
        if not own.strip() and len(own) > len(outer):
            return own[len(outer) :], own
    first = re.search(r"\n([ \t]+)\S", blanked)
    unit = first[1] if first else _DEFAULT_UNIT
    return unit, outer + unit


def _dumped(value: object, unit: str, indentation: str, line_end: str, text: str) -> str:
    """A value as JSON in the document's style: on one line in a document of one line."""
    if "\n" not in text:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (line_end + indentation).join(lines)
