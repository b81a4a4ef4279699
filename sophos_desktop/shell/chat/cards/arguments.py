"""Reads a call's arguments as a person edits them, and takes an address apart.

Invariant: pure, no Qt; what a person reads is what is sent. Nothing is read in two ways: a key that stands
twice, `NaN`, or anything but an object is refused. What is not seen, or turns the direction of what stands
beside it, is shown as an escape.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sophos_desktop.shell.transcript.text.drawable_text import escaped

_LINE = 160
_ZERO_WIDTH_SPACE = "\u200b"
_LONG = r"[!-~]{25,}"  # of other scripts a letter may need its neighbour


class ArgumentsUnreadable(ValueError):
    """The text is no JSON object; the message says where and why, without a full stop."""


def pretty_arguments(args: Mapping[str, Any]) -> str:
    """Arguments as they stand in the field."""
    return escaped(json.dumps(dict(args), ensure_ascii=False, indent=2, default=str))


def short_arguments(args: Mapping[str, Any]) -> str:
    """Arguments to be read only: on one line if that is not long."""
    line = escaped(json.dumps(dict(args), ensure_ascii=False, default=str))
    return line if len(line) <= _LINE else pretty_arguments(args)


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments in a text. Raises ArgumentsUnreadable."""
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ArgumentsUnreadable(f"Line {error.lineno}, column {error.colno}: {_words(error.msg)}") from None
    except RecursionError:
        raise ArgumentsUnreadable("The arguments are nested too deeply") from None
    if not isinstance(found, dict):
        raise ArgumentsUnreadable("The arguments are an object: { … }")
    return found


def _words(message: str) -> str:
    """The parser's words, as the end of a sentence."""
    text = message.split(":", maxsplit=1)[0].replace("Expecting", "expected").replace(" delimiter", "")
    return text[:1].lower() + text[1:]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ArgumentsUnreadable(f"“{escaped(twice)}” stands there twice")
    return found


def _refuse_constant(word: str) -> None:
    raise ArgumentsUnreadable(f"{word} is not a value of JSON")


@dataclass(frozen=True, slots=True)
class Address:
    """A web address in three parts that add up to it; `host` is where it really goes."""

    before: str
    host: str
    after: str

    @property
    def whole(self) -> str:
        """The address as it is drawn."""
        return f"{self.before}{self.host}{self.after}"


def address_of(args: Mapping[str, Any]) -> Address | None:
    """The address in `url`, with escapes for what is not seen in it; None without one."""
    text = args.get("url")
    if not isinstance(text, str):
        return None
    host = host_of(args)
    mark = text.find("://")
    authority = mark + 3 if mark >= 0 else 0
    end = min((at for at in (text.find(sign, authority) for sign in "/?#\\") if at >= 0), default=len(text))
    # What stands before the last @ is a name, however much it looks like a host.
    start = text.rfind("@", authority, end) + 1 or authority
    at = text.lower().find(host, start, end) if host else -1
    if at < 0:
        return Address(_on_one_line(text), "", "")
    parts = (text[:at], text[at : at + len(host)], text[at + len(host) :])
    return Address(*(_on_one_line(part) for part in parts))


def broken(address: str) -> str:
    """A part of an address with the places where a label may break it: before what begins another part of
    it, behind a slash, and anywhere in what is long without one. Not for what is copied."""
    parts = re.sub(r"(?<=.)(?=[?&#])|(?<=/)(?=[^/])", _ZERO_WIDTH_SPACE, address)
    return re.sub(_LONG, lambda found: _ZERO_WIDTH_SPACE.join(found[0]), parts)


def _on_one_line(text: str) -> str:
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def host_of(args: Mapping[str, Any]) -> str:
    """The host in `url`, lower case; empty if there is none."""
    text = args.get("url")
    if not isinstance(text, str):
        return ""
    try:
        return (urlsplit(text).hostname or "").lower()
    except ValueError:
        return ""
