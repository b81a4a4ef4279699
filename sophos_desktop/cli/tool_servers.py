"""The commands that look after tool servers: the list, their logs, restarts, calls, and mcp.json.

Invariant: `call`, `add` and a `restart` that nobody else can do start the one server that they are about;
a change of mcp.json is written before anything is started, and stands whatever becomes of that start.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli import permissions
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, moment, one_line, visible
from sophos_desktop.core.domain.attaching import text_in
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.policy import Verdict
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolNote, ToolResult
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.foundation.small_file import refuse_special
from sophos_desktop.foundation.tasks import TaskOwner

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core

SERVERS_SECONDS = 30.0
TOOL_FAILED = 3

_SHOWN_LINES = 10


async def mcp(call: Invocation) -> int:
    """The action that was asked for; without one, the list."""
    actions: Mapping[str | None, Callable[[Invocation], Awaitable[int]]] = {
        None: _list,
        "logs": _logs,
        "restart": _restart,
        "call": _call,
        "add": _add,
        "remove": _remove,
        "trust": _trust,
        "permissions": permissions.permissions,
        "allow": permissions.decide,
        "deny": permissions.decide,
        "ask": permissions.decide,
        "forget": permissions.forget,
    }
    return await actions[call.arguments.action](call)


async def _list(call: Invocation) -> int:
    """The tool servers, once none is starting any more."""
    async with call.core(tool_servers=True, restarts=False) as core:
        await core.tool_host.settle(SERVERS_SECONDS)
        await core.definitions.settled()
        statuses = core.servers.statuses()
        trusts = {status.name: core.trust.of(status.name) for status in statuses}
        verdicts = await permissions.verdicts(core)
        notices = [*core.tool_host.notices, *core.trust.notices, *core.definitions.changes()]
    await _note_all(call, notices)
    if call.as_json:
        await call.print_json(
            [
                {
                    **status.to_json(),
                    "trust": trusts[status.name].value,
                    "trusted": trusts[status.name].counts,
                    "tools": [
                        {
                            **tool.to_json(),
                            **permissions.verdict_json(verdicts[status.name, tool.tool]),
                        }
                        for tool in status.tools
                    ],
                }
                for status in statuses
            ]
        )
        return 0
    if not statuses:
        await call.console.note("no tool servers are configured")
    await call.print_lines(_server_lines(statuses, trusts, verdicts, Style(call.console.coloured)))
    return 0


def _server_lines(
    statuses: Sequence[ServerStatus],
    trusts: Mapping[str, Trust],
    verdicts: Mapping[tuple[str, str], Verdict],
    style: Style,
) -> list[str]:
    lines = []
    for status in statuses:
        state = status.state.value
        shown = {ServerState.READY: style.good, ServerState.FAILED: style.bad}.get(status.state, str)(state)
        about = f"  {one_line(status.reason, 200)}" if status.reason else ""
        heading = f"{style.strong(visible(one_line(status.name)))}  {status.transport}  {shown}"
        lines.append(f"{heading} since {moment(status.since)}  {trusts[status.name].words}{about}")
        for tool in status.tools:
            happens = permissions.verdict_words(verdicts[status.name, tool.tool])
            lines.append(f"  {tool.tool}  {style.faint(happens)}  {one_line(tool.description)}".rstrip())
        for what, names in (("resources", status.resources), ("prompts", status.prompts)):
            if names:
                lines.append(style.faint(f"  {what}: {one_line(', '.join(names), 200)}"))
        if status.state is ServerState.FAILED:
            lines += [style.faint(f"  | {one_line(line, 200)}") for line in status.stderr_tail]
    return lines


async def _logs(call: Invocation) -> int:
    """What a server wrote, in every process of ours that keeps it; else in one that is started for it."""
    name = call.arguments.name
    async with call.core() as core:
        await _refuse_unknown(call, core, name)
        logs = [log.to_json() for log in await core.server_logs.of_others(name)]
    if not logs:
        async with call.core(only_server=name, restarts=False) as core:
            status = await core.direct_calls.settled(name)
        logs = [_as_log(status)]
    if call.as_json:
        await call.print_json({"name": name, "processes": logs})
        return 0
    for log in logs:
        where = f"in process {log['process']}" if log["process"] else "started here"
        since = moment(log["since"])
        await call.console.note(f"{name} {where}: {log['state']} since {since}. {log['reason']}")
        await call.print_lines(log["lines"])
    return 0


async def _restart(call: Invocation) -> int:
    """Start a server anew wherever it runs; where it runs nowhere, see whether it starts."""
    name = call.arguments.name
    async with call.core() as core:
        await _refuse_unknown(call, core, name)
        restarted = [log.to_json() for log in await core.server_requests.ask_others(name)]
    if not restarted:
        async with call.core(only_server=name, restarts=False) as core:
            status = await core.direct_calls.settled(name)
        restarted = [_as_log(status)]
    if call.as_json:
        await call.print_json({"name": name, "processes": restarted})
    for log in [] if call.as_json else restarted:
        where = f"in process {log['process']}" if log["process"] else "started here and ended again"
        await call.print_lines([f"{name} {where}: {log['state']}. {log['reason']}"])
        if log["state"] == ServerState.FAILED.value:
            await call.print_lines([f"  | {one_line(line, 200)}" for line in log["lines"][-_SHOWN_LINES:]])
    is_well = all(log["state"] == ServerState.READY.value for log in restarted)
    return 0 if is_well else TOOL_FAILED


def _as_log(status: ServerStatus) -> dict[str, Any]:
    return {
        "process": None,
        "state": status.state.value,
        "reason": status.reason,
        "since": status.since,
        "lines": list(status.stderr_tail),
    }


async def _call(call: Invocation) -> int:
    """Call a tool and print what it gave; 3 if the tool says that it failed."""
    chosen = call.arguments
    args = _arguments(await call.console.read_all() if chosen.args == "-" else chosen.args)
    async with call.core(only_server=chosen.name, restarts=False) as core:
        await _refuse_unknown(call, core, chosen.name)
        tasks = TaskOwner(lambda error: None)  # a note that cannot be written is no reason to stop the call
        try:
            result = await core.direct_calls.call(
                chosen.name,
                chosen.tool,
                args,
                lambda note: _tell(call, tasks, note),
            )
        finally:
            await tasks.close()
    whole = _whole(result)
    if call.as_json:
        await call.print_json(whole)
    else:
        await call.print_lines([_text(result, whole)])
    return TOOL_FAILED if result.is_error else 0


def _tell(call: Invocation, tasks: TaskOwner, note: ToolNote) -> None:
    if not call.as_json:
        tasks.spawn(call.console.note(f"{note.kind}: {one_line(note.text, 200)}"), "tell a note")


def _arguments(text: str) -> dict[str, Any]:
    remedy = 'Write an object such as {"name": "value"}'
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        title = "The arguments are not JSON"
        raise SophosError(ErrorCode.BAD_REQUEST, title, remedy, details=str(error)) from None
    if not isinstance(value, dict):
        raise SophosError(ErrorCode.BAD_REQUEST, "The arguments are no JSON object", remedy)
    return value


def _whole(result: ToolResult) -> dict[str, Any]:
    """The result as the protocol gave it."""
    if result.whole is not None:
        whole: dict[str, Any] = json.loads(result.whole)
        return whole
    shown: dict[str, Any] = {"content": [dict(part) for part in result.content], "isError": result.is_error}
    if result.structured is not None:
        shown["structuredContent"] = dict(result.structured)
    if result.meta is not None:
        shown["_meta"] = dict(result.meta)
    return shown


def _text(result: ToolResult, whole: Mapping[str, Any]) -> str:
    """What a person reads: texts whole, where the result for the model holds their head alone."""
    parts = whole.get("content") or []
    texts = [part["text"] for part in parts if part.get("type") == "text"]
    return "\n".join(texts) if texts and len(texts) == len(parts) else result.text


async def _add(call: Invocation) -> int:
    """Write servers into mcp.json, then start each once and say how it stands."""
    chosen = call.arguments
    pasted = None if chosen.paste is None else await _pasted(call, chosen.paste)
    async with call.core() as core:
        path = core.mcp.path
        if pasted is not None:
            added = await asyncio.to_thread(
                core.mcp.add_pasted, pasted, replace=chosen.replace, name=chosen.name
            )
            names, notes = tuple(added.servers), added.notes
        else:
            names, notes = (chosen.name,), ()
            entries = {chosen.name: _entry(chosen)}
            await asyncio.to_thread(core.mcp.add, entries, replace=chosen.replace)
    await call.print_lines([f"wrote {', '.join(names)} to {path}"])
    for note in notes:
        await call.console.note(f"notice: {note}")
    if not chosen.no_check:
        for name in names:
            await _check(call, name)
    return 0


async def _pasted(call: Invocation, source: str) -> str:
    if source == "-":
        pasted = await call.console.read_all()
        if call.console.input_had_no_text:
            raise SophosError(ErrorCode.BAD_REQUEST, "What was pasted is not UTF-8 text", "Paste it as text")
        return pasted
    why = "it is neither UTF-8 nor UTF-16 text"
    try:
        await asyncio.to_thread(refuse_special, Path(source))
        text = text_in(await asyncio.to_thread(Path(source).read_bytes))
        if text is not None:
            return text
        raise OSError(0, why)
    except OSError as error:
        why = error.strerror or why
        raise SophosError(ErrorCode.BAD_REQUEST, f"{source} cannot be read: {why}", "Name another") from None


def _entry(chosen: Any) -> dict[str, Any]:
    if chosen.url is not None:
        headers = {"headers": dict(chosen.header)} if chosen.header else {}
        return {"url": chosen.url, **headers}
    command, *args = chosen.server_command
    entry: dict[str, Any] = {"command": _command(command, chosen.cwd), "args": args}
    if chosen.env:
        entry["env"] = dict(chosen.env)
    if chosen.cwd is not None:
        entry["cwd"] = str(Path(chosen.cwd).expanduser().absolute())
    return entry


def _command(command: str, folder: str | None) -> str:
    """A path as the user's shell would find it, whole, since Sophos runs elsewhere; a name as it is."""
    is_path = "/" in command or "\\" in command
    if not is_path or command.startswith(("~", "${")):
        return command
    return str((Path(folder or ".").expanduser() / command).absolute())


async def _check(call: Invocation, name: str) -> None:
    async with call.core(only_server=name, restarts=False) as core:
        status = await core.direct_calls.settled(name)
    if status.state is ServerState.READY:
        tools = ", ".join(tool.tool for tool in status.tools)
        await call.print_lines(
            [f"{name}: ready, {len(status.tools)} tools" + (f": {one_line(tools, 400)}" if tools else "")]
        )
        return
    await call.print_lines([f"{name}: {status.state.value}. {status.reason}"])
    for line in status.stderr_tail[-_SHOWN_LINES:]:
        await call.console.note(f"  | {one_line(line, 200)}")


async def _remove(call: Invocation) -> int:
    """Take a server out of mcp.json; one that is shipped is switched off there."""
    name = call.arguments.name
    async with call.core() as core:
        removal = await asyncio.to_thread(core.mcp.remove, name)
        await core.trust.forget(name)
        path = core.mcp.path
    if removal.value == "removed":
        await call.print_lines([f"removed {name} from {path}"])
    else:
        await call.print_lines([f"{name} is shipped with Sophos, so it was switched off in {path}"])
    return 0


async def _trust(call: Invocation) -> int:
    """Let a server's hints count, or no longer."""
    name, takes_up = call.arguments.name, "takes this up at once"
    async with call.core() as core:
        await _refuse_unknown(call, core, name)
        if call.arguments.revoke:
            trust = await core.trust.revoke(name)
            if trust.counts:  # mcp.json says so, too
                await asyncio.to_thread(core.mcp.withdraw_trust, name)
                takes_up = "takes what changed in mcp.json up when it starts the next time"
            words = "is not trusted any more"
        else:
            trust = await core.trust.trust(name)
            words = {
                "built_in": "is built in, and trusted as it is",
                "file": "is trusted in mcp.json already",
            }.get(trust.value, "is trusted: what it says of its tools (read only, may be repeated) counts")
    await call.print_lines([f"{name} {words}"])
    await call.console.note(f"a Sophos that is running {takes_up}")
    return 0


async def _refuse_unknown(call: Invocation, core: "Core", name: str) -> None:
    try:
        core.trust.known(name)
    except SophosError:
        await _note_all(call, core.mcp.load().notices)  # perhaps it is in a file that cannot be read
        raise


async def _note_all(call: Invocation, notices: Sequence[Notice]) -> None:
    for notice in notices:
        await call.console.note(f"notice {notice.code}: {notice.text}")
