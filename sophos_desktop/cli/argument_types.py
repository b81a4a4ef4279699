"""What the words of a command line are read as: texts, pairs, numbers, hosts, JSON objects.

Invariant: pure; a word that cannot be read is an ArgumentTypeError, in words for a person.
"""

import argparse
import json
import os
from typing import Any
from urllib.parse import urlsplit


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
    """The host of an address, or a host by itself, as "always" remembers it: lower case, without a port."""
    try:
        name = urlsplit(word if "//" in word else f"//{word}").hostname
    except ValueError:
        name = None
    if not name or "*" in name or any(sign.isspace() for sign in name):
        raise argparse.ArgumentTypeError(f"{word!r} is not the name of one host")
    return name.lower()
