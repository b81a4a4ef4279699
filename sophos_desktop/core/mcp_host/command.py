"""Finds the program of a tool server: on the child's own PATH, then on that of the user's login shell.

Invariant: the login shell is only asked for a command that is not found without it; "not found" and "found
but cannot be started" are different sentences, each with what to do.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sophos_desktop.core.domain.ports import ChildRecords
from sophos_desktop.core.mcp_host.command_lines import right_form
from sophos_desktop.core.mcp_host.environment import TOKEN_VARIABLE, ChildEnvironment, child_environment
from sophos_desktop.core.mcp_host.program_file import (
    extensions_of,
    find_program,
    has_folder,
    is_program_file,
    missing_interpreter,
    what_to_install,
    why_no_program,
)

__all__ = ["TOKEN_VARIABLE", "ChildNotStarted", "Program", "child_environment", "locate"]


class ChildNotStarted(Exception):
    """The program cannot be started. The message is a sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found, and the whole environment to start it in, but for the child's token."""

    path: str
    environment: Mapping[str, str]


async def locate(
    command: str, environment: Mapping[str, str], working_directory: str | None, records: ChildRecords
) -> Program:
    """Find a command, looked for on the child's own PATH.

    If it is not there, and the environment knows the user's login shell, that one's PATH is used, and the
    child gets it too. Raises ChildNotStarted with the sentence to show; SophosError if the login shell
    cannot be put on record.
    """
    problem = await asyncio.to_thread(_problem_of_folder, working_directory)
    if problem is not None:
        raise ChildNotStarted(problem)
    found = await asyncio.to_thread(_look, command, environment, working_directory)
    if isinstance(found, Program):
        return found
    if found.final:
        raise ChildNotStarted(found.sentence())
    if not isinstance(environment, ChildEnvironment) or (login := environment.login) is None:
        raise ChildNotStarted(found.sentence())
    answer = await login.ask(records, fresh=False)
    again = await asyncio.to_thread(
        _look, command, environment.with_login(answer.variables), working_directory
    )
    if not isinstance(again, Program):
        answer = await login.ask(records, fresh=True)
        merged = environment.with_login(answer.variables)
        again = await asyncio.to_thread(_look, command, merged, working_directory)
    if isinstance(again, Program):
        return again
    if answer.problem:
        raise ChildNotStarted(found.sentence(f", and your login shell could not be asked: {answer.problem}"))
    listed = len(_folders(answer.variables.get("PATH", ""), None))
    raise ChildNotStarted(again.sentence(f", nor in the {listed} of your login shell", found.folders))


@dataclass(frozen=True, slots=True)
class _NotFound:
    """What was looked for and not found. `final`: another PATH would not help."""

    command: str
    folders: int
    reason: str = ""
    needed_by: str = ""
    final: bool = False

    def sentence(self, elsewhere: str = "", folders: int | None = None) -> str:
        """The whole of it. `folders`: how many of PATH to speak of."""
        if self.reason:
            return self.reason
        count = self.folders if folders is None else folders
        where = f"the {count} folders of PATH" if count != 1 else "the one folder of PATH"
        hint = what_to_install(self.command)
        if self.needed_by:
            return (
                f"the command {self.needed_by} was found but cannot be started: it needs {self.command}, "
                f"which was not found in {where}{elsewhere}; {hint}"
            )
        return f"the command {self.command} was not found in {where}{elsewhere}; {hint}"


def _look(command: str, environment: Mapping[str, str], working_directory: str | None) -> Program | _NotFound:
    folders = _folders(environment.get("PATH", os.defpath), working_directory)
    base = working_directory or os.getcwd()  # noqa: PTH109

    def find(name: str, *, only_programs: bool = True) -> str | None:
        is_program = is_program_file if only_programs else os.path.lexists
        extensions = extensions_of(environment.get("PATHEXT"))
        return find_program(
            name, folders, platform=sys.platform, extensions=extensions, is_program=is_program
        )

    named = os.path.join(base, command) if has_folder(command, platform=sys.platform) else command  # noqa: PTH118
    path = find(named)
    if path is None:
        return _not_found(command, named, len(folders), find(named, only_programs=False))
    if sys.platform != "win32" and (needed := missing_interpreter(path, find)) is not None:
        return _NotFound(needed, len(folders), needed_by=path)
    return Program(path, environment)


def _not_found(command: str, named: str, folders: int, unusable: str | None) -> _NotFound:
    says_where = has_folder(command, platform=sys.platform)
    if unusable is not None:
        why = why_no_program(unusable) or "it is not a program"
        text = f"the command {unusable} was found but cannot be started: {why}"
        return _NotFound(command, folders, reason=text, final=says_where)
    if (form := right_form(command, is_program_file)) is not None:
        text = f"the command {command} holds its arguments too; {form} in mcp.json"
        return _NotFound(command, folders, reason=text, final=says_where)
    if says_where:
        text = f"the command {named} does not exist; correct it in mcp.json"
        return _NotFound(command, folders, reason=text, final=True)
    return _NotFound(command, folders)


def _folders(search_path: str, working_directory: str | None) -> Sequence[str]:
    """The folders of a search path, in its order; those that are no full path count from the child's."""
    base = working_directory or os.getcwd()  # noqa: PTH109
    return [os.path.join(base, folder) for folder in search_path.split(os.pathsep) if folder]  # noqa: PTH118


def _problem_of_folder(working_directory: str | None) -> str | None:
    if working_directory is None:
        return None
    if not os.path.isdir(working_directory):  # noqa: PTH112 - pathlib raises for names that are too long
        return f"its working folder {working_directory} does not exist; make it, or correct cwd in mcp.json"
    if not os.access(working_directory, os.X_OK):
        return f"its working folder {working_directory} cannot be entered; give your user the right to"
    return None
