"""What the words of a command line are read as: texts, pairs, numbers, hosts, JSON objects.

Invariant: pure; a word that cannot be read is an ArgumentTypeError, in words for a person.
"""

import argparse
import json
import os
import re
from typing import Any

from sophos_desktop.core.domain.hosts import host_named

_HOST_IN_ADDRESS = re.compile(r"((?:https?://)?(?:[^/?#@]*@)?)([^/?#@:]+)(.*)", re.IGNORECASE | re.DOTALL)


def text(word: str) -> str:
    """Bytes of the command line that are no text in the user's locale arrive as lone surrogates: most
    likely they are UTF-8."""
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        try:
            return os.fsencode(word).decode("utf-8", "replace")
        except UnicodeEncodeError:  # they never were bytes
            return word.encode("utf-8", "replace").decode("utf-8")
    return word


def is_changed_as_text(word: str) -> bool:
    """True if `text` gives something else than the bytes that were typed."""
    return text(word).count("\ufffd") > word.count("\ufffd")


def pair(word: str) -> tuple[str, str]:
    """`NAME=VALUE`."""
    name, equals, value = text(word).partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{word!r} is not of the form NAME=VALUE")
    return name.strip(), value


def positive(word: str) -> int:
    """A whole number above 0."""
    if not word.isascii() or not word.isdigit() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number above 0")
    return int(word)


def json_object(word: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        value = json.loads(text(word))
    except (ValueError, RecursionError):
        raise argparse.ArgumentTypeError(f"{word!r} is not JSON") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{word!r} is not a JSON object")
    return value


def host(word: str) -> str:
    """One host, by itself or in an address, as "always" remembers it: lower case, without port and last dot,
    names in other letters as the network writes them (`xn--…`), addresses of IPv6 without brackets."""
    named = host_named(_in_network_letters(text(word)))
    if not named:
        raise argparse.ArgumentTypeError(
            f"{word!r} is not the name of one host, such as example.org, 127.0.0.1 or ::1"
        )
    return named


def stored_host(word: str) -> str:
    """A host to take back: as `host`, and what older versions stored as it was typed."""
    try:
        return host(word)
    except argparse.ArgumentTypeError:
        return text(word).lower()


def _in_network_letters(word: str) -> str:
    if word.isascii():
        return word
    import idna  # as httpx does, which the fetch server goes through; the standard library's is an older rule

    parts = _HOST_IN_ADDRESS.fullmatch(word)
    if parts is None:
        return word
    try:
        name = idna.encode(parts[2].lower()).decode("ascii")
    except idna.IDNAError:
        return word  # then it is the name of no host
    return parts[1] + name + parts[3]
