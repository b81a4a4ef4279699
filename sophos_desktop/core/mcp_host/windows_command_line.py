"""Writes the line that starts a batch file on Windows.

Invariant: no argument, whatever is in it, becomes a command, a variable or two arguments. Windows runs batch
files through `cmd.exe`, which reads the line by rules of its own before the program splits it again.
"""

from collections.abc import Sequence

# `cmd` replaces %NAME% even within quotes, and knows no escape for it on a command line. An empty piece of
# the variable `cd`, which is always there, keeps the sign from beginning a name.
_PERCENT = "%%cd:~,%"
_NOT_POSSIBLE = "\0\r\n"


def batch_line(path: str, arguments: Sequence[str]) -> str:
    """What stands between the outer quotes of `cmd.exe /c "…"`.

    Raises ValueError for an argument with a line break or a NUL: there is no way to hand that on.
    """
    if '"' in path:
        raise ValueError("a path cannot have a quotation mark")
    return " ".join(_quoted(part) for part in (path, *arguments))


def _quoted(text: str) -> str:
    if any(character in text for character in _NOT_POSSIBLE):
        raise ValueError("an argument with a line break cannot be handed to a .cmd or .bat file")
    written = []
    backslashes = 0
    for character in text:
        if character == "\\":
            backslashes += 1
        else:
            if character == '"':
                # Backslashes before a quotation mark count double for the program; two marks are one for
                # it, while `cmd` sees quotes end and begin again at the same place.
                written.append("\\" * backslashes + '"')
            backslashes = 0
        written.append(_PERCENT if character == "%" else character)
    return '"' + "".join(written) + "\\" * backslashes + '"'
