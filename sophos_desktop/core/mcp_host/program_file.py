"""Finds a program in folders, and says why one that was found cannot be started.

Invariant: nothing here starts anything or raises for what it finds; the search is a pure function of what it
is given, so that Windows' rules are tested everywhere.
"""

import errno
import ntpath
import os
import posixpath
import sys
from collections.abc import Callable, Sequence

_DEFAULT_EXTENSIONS = (".com", ".exe", ".bat", ".cmd")
_FIRST_LINE_BYTES = 256

_PRODUCTS = {
    "Node.js": ("node", "npm", "npx"),
    "uv": ("uv", "uvx"),
    "Python": ("python", "python3", "pip", "pip3"),
    "Docker": ("docker", "docker-compose"),
    "Podman": ("podman",),
    "Bun": ("bun", "bunx"),
    "Deno": ("deno",),
    "pipx": ("pipx",),
    "Java": ("java",),
    ".NET": ("dotnet", "dnx"),
    "Go": ("go",),
    "Ruby": ("ruby", "bundle"),
}
_COMES_WITH = {command: product for product, commands in _PRODUCTS.items() for command in commands}


def find_program(
    command: str,
    folders: Sequence[str],
    *,
    platform: str,
    extensions: Sequence[str] = (),
    is_program: Callable[[str], bool],
) -> str | None:
    """The path of a command: as it is written if it has a folder in it, else in the first of `folders`.

    `platform` as `sys.platform`; `extensions`: those of PATHEXT, for Windows alone. There a name without one
    of them is no program, so that `npx` is `npx.cmd` and never the shell script that lies beside it.
    """
    path = ntpath if platform == "win32" else posixpath
    names = [command]
    if platform == "win32":
        lowered = command.lower()
        known = any(lowered.endswith(extension.lower()) for extension in extensions)
        names = [command] * known + [command + extension for extension in extensions]
    places = [""] if has_folder(command, platform=platform) else folders
    candidates = (path.join(place, name) for place in places for name in names)
    return next((candidate for candidate in candidates if is_program(candidate)), None)


def has_folder(command: str, *, platform: str) -> bool:
    """True if a command says where it is."""
    separators = "/\\:" if platform == "win32" else "/"
    return any(separator in command for separator in separators)


def extensions_of(pathext: str | None) -> tuple[str, ...]:
    """What PATHEXT lists, in its order."""
    listed = tuple(extension.strip().lower() for extension in (pathext or "").split(";"))
    return tuple(extension for extension in listed if extension.startswith(".")) or _DEFAULT_EXTENSIONS


def is_batch_file(path: str) -> bool:
    """True if Windows starts it through its command interpreter."""
    return path.lower().endswith((".cmd", ".bat"))


def what_to_install(command: str) -> str:
    """A hint for a command that is not there."""
    name = posixpath.basename(command)
    if (product := _COMES_WITH.get(name)) is None:
        return "check how it is written, install it, or give its full path"
    what = product if product.lower() == name else f"{product}, which it belongs to"
    return f"install {what}, or give its full path"


def is_program_file(path: str) -> bool:
    """True for a file that this user may execute; on Windows for any file."""
    is_file = os.path.isfile(path)  # noqa: PTH113 - pathlib raises for names that are too long
    return is_file and (sys.platform == "win32" or os.access(path, os.X_OK))


def why_no_program(path: str) -> str | None:
    """Why what lies at a path can be no program; None if it may be one."""
    if os.path.isdir(path):  # noqa: PTH112 - as above
        return "it is a folder, not a program"
    if not os.path.exists(path):  # noqa: PTH110 - as above
        return "it is a link to something that does not exist"
    if not os.access(path, os.X_OK):
        return "it is not a program that you may execute; chmod +x makes it one, if it is meant to be"
    return None


def missing_interpreter(path: str, find: Callable[[str], str | None]) -> str | None:
    """The command that a script has `env` look for, and that `find` does not find; else None."""
    words = _first_line(path).split()
    if not words or posixpath.basename(words[0]) != "env":
        return None
    named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
    return named if named is not None and find(named) is None else None


def why_not_started(path: str, error: OSError) -> str:
    """What the system's refusal to start a program that is there means."""
    words = error.strerror or str(error)
    interpreter = next(iter(_first_line(path).split(" ")), "")
    if error.errno == errno.ENOENT and interpreter.endswith("\r"):
        return "its first line ends as on Windows; save it with the line ends of this system"
    if error.errno == errno.ENOENT and interpreter:
        return (
            f"its first line asks for {interpreter}, which does not exist; install that, or correct the line"
        )
    if error.errno == errno.ENOENT:
        return f"{words}: what would load it is not on this system; get the program made for this one"
    if error.errno == errno.ENOEXEC:
        return f"{words}: it is made for another kind of machine, or is a script without a #! line"
    if error.errno == errno.EACCES and interpreter and not os.access(interpreter, os.X_OK):
        return f"its first line asks for {interpreter}, which is not a program that you may execute"
    if error.errno == errno.EACCES:
        return f"{words}: check the rights of the file, and whether its disk may hold programs"
    return words


def _first_line(path: str) -> str:
    """What follows `#!`, with a carriage return where there is one; empty if it is no script."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib raises for other names
            head = file.read(_FIRST_LINE_BYTES)
    except (OSError, ValueError):
        return ""
    if not head.startswith(b"#!"):
        return ""
    return head[2:].split(b"\n")[0].decode("utf-8", "replace").lstrip(" \t")
