"""What may be typed after `mcp`: its actions and their options.

Invariant: what follows `--` in `mcp add … --` is another program's command line and is passed on as it is.
"""

import argparse
from typing import Any

from sophos_desktop.cli.argument_types import host, is_changed_as_text, pair, stored_host, text
from sophos_desktop.core.domain.errors import ErrorCode, SophosError

_POLICIES = {
    "allow": "call a tool without asking, as long as its definition is the same",
    "deny": "never call a tool, or any tool of the server",
    "ask": "ask before each call of a tool, or of any tool of the server",
}


def add_tool_servers(command: Any, everywhere: argparse.ArgumentParser, program: str) -> None:
    """Add `mcp` with its actions; `command` makes a command's parser, `everywhere` holds what each takes."""
    mcp = command("mcp", "list the tool servers and their tools, or look after them")
    actions = mcp.add_subparsers(dest="action", metavar="ACTION", title="actions")

    def action(name: str, purpose: str, *, json_too: bool = False, named: bool = True) -> Any:
        made = actions.add_parser(
            name, help=purpose, description=purpose, parents=[everywhere], allow_abbrev=False
        )
        if named:
            made.add_argument("name", type=text, metavar="NAME", help="a tool server; see `mcp`")
        if json_too:  # without a default of its own it keeps what was said before the action
            made.add_argument(
                "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON for scripts"
            )
        return made

    action("logs", "print what a tool server wrote to stderr", json_too=True)
    action("restart", "start a tool server anew, in every Sophos that runs", json_too=True)
    call = action("call", "call a tool outside any run and print what it gives", json_too=True)
    call.add_argument("tool", type=text, metavar="TOOL", help="a tool of that server")
    call.add_argument(
        "args", nargs="?", default="{}", metavar="JSON", help="its arguments; - reads standard input"
    )
    add = action("add", "write a tool server into mcp.json", named=False)
    add.usage = (
        f"{program} mcp add NAME [--env K=V]… [--cwd DIR] [--replace] [--no-check] -- COMMAND [ARG]…\n"
        f"       {program} mcp add NAME --url URL [--header K=V]… [--replace] [--no-check]\n"
        f"       {program} mcp add [NAME] --paste FILE [--replace] [--no-check]"
    )
    add.add_argument("name", type=text, nargs="?", metavar="NAME", help="what to call it")
    add.add_argument(
        "--env", type=pair, action="append", metavar="K=V", help="a variable for it; may be repeated"
    )
    add.add_argument("--cwd", type=text, metavar="DIR", help="the folder it is started in")
    add.add_argument("--url", type=text, metavar="URL", help="its address, in place of a command")
    add.add_argument(
        "--header", type=pair, action="append", metavar="K=V", help="a header for it; may be repeated"
    )
    add.add_argument(
        "--paste",
        metavar="FILE",
        help="add the servers of another program's JSON or TOML; - reads standard input",
    )
    add.add_argument("--replace", action="store_true", help="also in place of a server of that name")
    add.add_argument("--no-check", action="store_true", help="do not start it to see whether it works")
    action("remove", "take a tool server out of mcp.json")
    trust = action("trust", "let a tool server's own hints count")
    trust.add_argument("--revoke", action="store_true", help="take that back")
    _add_permissions(action)


def _add_permissions(action: Any) -> None:
    action("permissions", "list what was decided about tools for good", json_too=True, named=False)
    for name, purpose in _POLICIES.items():
        decide = action(name, purpose)
        one_tool = name == "allow"  # whatever a server may offer later is allowed in mcp.json alone
        decide.add_argument(
            "tool", type=text, nargs=None if one_tool else "?", metavar="TOOL", help="a tool of that server"
        )
        decide.add_argument("--host", type=host, metavar="HOST", help="for this host alone (fetch)")
    forget = action("forget", "take back what was decided for good")
    forget.add_argument("tool", type=text, nargs="?", metavar="TOOL", help="for this tool alone")
    forget.add_argument("--host", type=stored_host, metavar="HOST", help="for this host alone")


def server_command_split_off(argv: list[str]) -> tuple[list[str], list[str] | None]:
    """What follows `--` in `mcp add … --` is another program's command line, and not for our parser."""
    end = argv.index("--") if "--" in argv else len(argv)
    words = [word for word in argv[:end] if not word.startswith("-")]
    action = next((words[place : place + 2] for place in (0, 1) if words[place : place + 1] == ["mcp"]), [])
    if action == ["mcp", "add"] and end < len(argv):
        return argv[:end], argv[end + 1 :]
    if action in (["mcp", "call"], ["mcp", "deny"], ["mcp", "ask"], ["mcp", "forget"]):
        return _options_first(argv, argv.index(action[1]) + 1), None
    return argv, None


def _options_first(argv: list[str], place: int) -> list[str]:
    """An option before the last argument, which may be missing, would make argparse take it for missing."""
    options: list[str] = []
    others: list[str] = []
    words = iter(argv[place:])
    for word in words:
        if word == "--json" or word.startswith("--host="):
            options.append(word)
        elif word == "--host":
            options += [word, *(value for value in [next(words, None)] if value is not None)]
        else:
            others.append(word)
    return [*argv[:place], *options, *others]


def check_server_action(parsed: argparse.Namespace, server_command: list[str] | None, program: str) -> None:
    """What belongs together is there, and nothing that would not count. Raises SophosError BAD_REQUEST."""
    if parsed.action in ("deny", "ask") and parsed.host is not None and parsed.tool is None:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            "--host goes with a tool",
            f"Name the tool, as in `{program} mcp {parsed.action} {parsed.name} TOOL --host {parsed.host}`",
        )
    if parsed.action == "add":
        _check_adding(parsed, server_command, program)


def _check_adding(parsed: argparse.Namespace, server_command: list[str] | None, program: str) -> None:
    """One of the three ways to say what a server is, whole."""
    if server_command is not None and any(is_changed_as_text(word) for word in server_command):
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            "The command after -- has bytes in it that are no text, which mcp.json cannot hold",
            "Give the file or folder another name",
        )
    parsed.server_command = None if server_command is None else [text(word) for word in server_command]
    ways = [parsed.server_command is not None, parsed.url is not None, parsed.paste is not None]
    problem = None
    if sum(ways) != 1:
        problem = "Give either a command after --, or --url, or --paste"
    elif parsed.server_command == []:
        problem = "There is no command after --"
    elif parsed.paste is not None and (parsed.env or parsed.cwd or parsed.header):
        problem = "What --paste reads has everything in it, but for the name"
    elif parsed.paste is None and not parsed.name:
        problem = "The server needs a name"
    elif parsed.url is not None and (parsed.env or parsed.cwd):
        problem = "--env and --cwd are for a command, not for --url"
    elif parsed.url is None and parsed.header:
        problem = "--header goes with --url"
    if problem is not None:
        raise SophosError(ErrorCode.BAD_REQUEST, problem, f"See `{program} mcp add --help`")
