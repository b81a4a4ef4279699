"""Recognises a whole command line that was written where a program's name belongs, as in `"npx -y package"`.

Invariant: pure but for `is_program`; a path with spaces in it that leads somewhere is never taken for one.
"""

import json
import shlex
from collections.abc import Callable

_SHOWN_CHARACTERS = 300


def right_form(command: str, is_program: Callable[[str], bool]) -> str | None:
    """What to write instead, as part of a sentence; None for what is no command line. For a command that was
    looked for and not found. `is_program` is asked about a path."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation mark is open
        words = command.split()
    if len(words) < 2 or (("/" in words[0] or "\\" in words[0]) and not is_program(words[0])):
        return None
    program, *arguments = (json.dumps(word, ensure_ascii=False) for word in words)
    form = f'write "command": {program} and put {", ".join(arguments)} first into "args"'
    return form if len(form) <= _SHOWN_CHARACTERS else 'write its first word there and the others into "args"'
