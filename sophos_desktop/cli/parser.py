"""What may be typed: the commands of the contract and their options.

Invariant: whatever does not fit is a SophosError BAD_REQUEST, in the same words as every other error.
"""

import argparse
from typing import Any, NoReturn

from sophos_desktop import __version__
from sophos_desktop.cli.argument_types import json_object, positive, text
from sophos_desktop.cli.server_parser import (
    add_tool_servers,
    check_server_action,
    server_command_split_off,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat

PROGRAM = "sophos-desktop"
APPROVALS = ("ask", "allow", "deny", "wait")
DECISIONS = ("allow", "deny", "run-again", "skip", "result")
STATUSES = ("active", "suspended", "archived")


class _Parser(argparse.ArgumentParser):
    """Raises in place of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        title = message[:1].upper() + message[1:]
        raise SophosError(ErrorCode.BAD_REQUEST, title, f"See `{self.prog} --help`")


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments, with the command's name as `command`. Raises SophosError BAD_REQUEST.

    `--help` and `--version` print and raise SystemExit(0)."""
    argv, server_command = server_command_split_off(argv)
    parsed = _build().parse_args(argv)
    parsed.command = parsed.command or "desktop"
    if parsed.command == "mcp":
        check_server_action(parsed, server_command, PROGRAM)
    if parsed.command == "decide":
        _check_decision(parsed)
    return parsed


def _build() -> argparse.ArgumentParser:
    everywhere = _Parser(add_help=False)
    everywhere.add_argument(
        "--data-dir",
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="keep everything in this folder (also: SOPHOS_DATA_DIR)",
    )
    parser = _Parser(
        prog=PROGRAM,
        description="Talk to an agent that runs on your own machine. Without a command the window opens.",
        parents=[everywhere],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def command(name: str, purpose: str, *, json_too: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=purpose, description=purpose, parents=[everywhere], allow_abbrev=False
        )
        if json_too:
            made.add_argument("--json", action="store_true", help="print JSON for scripts")
        return made

    desktop = command("desktop", "open the window (the default)", json_too=False)
    desktop.add_argument(
        "--demo", type=text, metavar="PROMPT", help="answer one prompt, print it and close again"
    )
    desktop.add_argument("--screenshot", metavar="FILE", help="save a picture of the demo's window")
    _add_running(command)
    _add_reading(command)
    _add_exporting(command)
    _add_caring(command)
    add_tool_servers(command, everywhere, PROGRAM)
    return parser


def _add_running(command: Any) -> None:
    ask = command("ask", "send a message and print the answer as it is written")
    ask.add_argument("text", type=text, metavar="TEXT", help="the message; - reads it from standard input")
    ask.add_argument("-c", dest="conversation", metavar="ID", help="go on in this conversation")
    ask.add_argument("-m", dest="model", metavar="MODEL", help="the model that answers")
    ask.add_argument("--engine", choices=("ollama", "starter"), help="what serves the model")
    ask.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="FILE",
        help="send a text file or an image along; may be repeated",
    )
    resume = command("resume", "go on with what a run left to do")
    follow = command("follow", "watch a run that another process executes")
    decide = command("decide", "answer a question that a run waits on, and go on")
    for parser in (resume, follow, decide):
        parser.add_argument("id", metavar="ID", help="a conversation")
    decide.add_argument("call", metavar="CALL", help="the tool call, or the end of its id; see `approvals`")
    decide.add_argument("decision", choices=DECISIONS, help="what is to become of it")
    decide.add_argument("--args", type=json_object, metavar="JSON", help="call it with these arguments")
    decide.add_argument(
        "--always", action="store_true", help="also for later calls of this tool (a fetch: of this host)"
    )
    decide.add_argument("--reason", type=text, metavar="TEXT", help="why; kept with the decision")
    decide.add_argument("--result", type=text, metavar="TEXT", help="what the call gave (for `result`)")
    decide.add_argument("--no-run", action="store_true", help="record the decision and leave it at that")
    for parser in (ask, resume, decide):
        parser.add_argument(
            "--approve",
            choices=APPROVALS,
            help="how questions are answered: ask on the terminal (the default on one), allow or deny all "
            "approvals, or leave the run waiting (the default elsewhere)",
        )


def _add_reading(command: Any) -> None:
    listing = command("list", "list conversations, newest first")
    listing.add_argument(
        "--status", action="append", choices=STATUSES, default=[], help="only these; may be repeated"
    )
    listing.add_argument(
        "--tag", action="append", type=text, default=[], metavar="T", help="only with all of these tags"
    )
    listing.add_argument("--query", type=text, default="", metavar="TEXT", help="only with this in the title")
    listing.add_argument("--limit", type=positive, metavar="N", help="at most so many")
    for name, purpose in (
        ("show", "print a conversation"),
        ("runs", "list the runs of a conversation, oldest first"),
    ):
        command(name, purpose).add_argument("id", metavar="ID", help="a conversation")
    trace = command("trace", "print what a run did, step by step")
    trace.add_argument("id", metavar="RUN_ID", help="a run; see `runs`")
    command("approvals", "list the questions that runs wait on")
    attachment = command("attachment", "give what is kept beside a conversation")
    attachment.add_argument("sha256", type=text, metavar="SHA", help="its digest, or a part of it")
    attachment.add_argument(
        "-o", "--output", default="", metavar="FILE", help="write to this file or folder; else it is printed"
    )
    attachment.add_argument("--force", action="store_true", help="replace a file that is there")


def _add_exporting(command: Any) -> None:
    export = command("export", "write a conversation as a document", json_too=False)
    export.add_argument("ids", nargs="*", metavar="ID", help="a conversation; several need a folder")
    export.add_argument("--all", action="store_true", help="all conversations; needs a folder")
    export.add_argument(
        "--format",
        choices=[kind.value for kind in ExportFormat],
        default=ExportFormat.MARKDOWN.value,
        help="md: what was said (the default); jsonl: one checkpoint a line",
    )
    export.add_argument(
        "-o", "--output", metavar="FILE", help="write to this file or folder; else the document is printed"
    )


def _add_caring(command: Any) -> None:
    config = command("config", "print the settings and where each comes from, or change one")
    config.add_argument("key", nargs="?", metavar="KEY", help="one setting, such as engine.model")
    config.add_argument(
        "value",
        nargs="?",
        type=text,
        metavar="VALUE",
        help="its new value; an empty one takes it out of your file",
    )
    command("doctor", "check the installation")
    command("models", "list the models that can answer")
    delete = command("delete", "delete a conversation and all that belongs to it", json_too=False)
    delete.add_argument("id", metavar="ID", help="a conversation")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    delete.add_argument(
        "--facts",
        choices=("keep", "remove"),
        default="keep",
        help="what becomes of the facts that it added to the memory (keep)",
    )


def _check_decision(parsed: argparse.Namespace) -> None:
    """Options that the decision has no use for are refused, so that nobody believes they count."""
    useful = {"args": ("allow", "run-again"), "always": ("allow", "deny"), "result": ("result",)}
    for option, decisions in useful.items():
        if getattr(parsed, option) not in (None, False) and parsed.decision not in decisions:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"--{option} goes with {' and '.join(decisions)}, not with {parsed.decision}",
                f"See `{PROGRAM} decide --help`",
            )
