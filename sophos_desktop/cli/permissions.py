"""What was decided about tools for good: mcp permissions, allow, deny, ask, forget; and what that comes to.

Invariant: a decision is about a tool that its server offers, or it is said that nobody could look; what is
taken back holds from the next call on, in every Sophos that runs.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, moment, one_line, table
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.policy import FETCH, Permission, Policy, ServerRule, Verdict, judge
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.domain.trust import Trust

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core

_WORDS = {Policy.ALLOW: "always allowed", Policy.ASK: "asked about each time", Policy.DENY: "forbidden"}


async def permissions(call: Invocation) -> int:
    """What was decided for good, by server, tool and host. Starts no server."""
    async with call.core() as core:
        decided = await core.decisions.permissions()
    if call.as_json:
        await call.print_json([permission.to_json() for permission in decided])
        return 0
    if not decided:
        await call.console.note("nothing was decided for good")
    rows = [
        (
            one_line(permission.server),
            one_line(permission.tool) or "all tools",
            permission.scope,
            permission.decision.value,
            moment(permission.decided_at),
        )
        for permission in decided
    ]
    heading = ("SERVER", "TOOL", "HOST", "DECISION", "DECIDED")
    await call.print_lines(table(heading, rows, Style(call.console.coloured)))
    return 0


async def decide(call: Invocation) -> int:
    """Allow, deny or ask about a tool, or all tools of a server, from the next call on."""
    chosen = call.arguments
    policy = Policy(chosen.action)
    only_server = None if chosen.tool is None else chosen.name
    async with call.core(only_server=only_server, restarts=False) as core:
        core.trust.known(chosen.name)
        if chosen.host is not None and not (chosen.name == FETCH and _is_built_in(core, chosen.name)):
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"The tools of “{chosen.name}” are not told apart by host",
                f"--host is for the built-in {FETCH} server",
            )
        if chosen.tool is not None:
            await _refuse_unknown_tool(call, core, policy)
        permission = await core.decisions.set_permission(
            chosen.name, chosen.tool, policy, scope=chosen.host or ""
        )
    await call.print_lines([_sentence(permission)])
    return 0


async def forget(call: Invocation) -> int:
    """Take back what was decided for good. Raises SophosError NOT_FOUND if nothing was."""
    chosen = call.arguments
    async with call.core() as core:
        count = await core.decisions.forget(chosen.name, chosen.tool, chosen.host)
    about = f"{chosen.name}.{chosen.tool}" if chosen.tool is not None else chosen.name
    about += f" for {chosen.host}" if chosen.host is not None else ""
    if not count:
        raise SophosError(
            ErrorCode.NOT_FOUND, f"Nothing was decided for good about {about}", "See `mcp permissions`"
        )
    await call.print_lines([f"took back {count} {'decision' if count == 1 else 'decisions'} about {about}"])
    return 0


async def verdicts(core: "Core") -> Mapping[tuple[str, str], Verdict]:
    """What happens to a call of each tool that is offered, by server and tool; hosts and what a turn holds
    are left out of account."""
    decided = await core.decisions.permissions()
    entries = (await asyncio.to_thread(core.mcp.load)).servers
    rules = {
        entry.name: ServerRule(Policy(entry.approval) if entry.approval else None, entry.built_in)
        for entry in entries
    }
    setting = core.settings.current.tools.approval
    return {
        (spec.server, spec.tool): judge(
            spec,
            {},
            rules.get(spec.server, ServerRule()),
            [permission for permission in decided if permission.server == spec.server],
            general=None if setting == "auto" else Policy(setting),
            heard_servers=(),
        )
        for status in core.servers.statuses()
        for spec in status.tools
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """The contract's fields of a tool."""
    return {"policy": verdict.policy.value, "policy_reason": verdict.reason}


def verdict_words(verdict: Verdict) -> str:
    """What happens to a tool's calls, and why where there is a reason."""
    reason = verdict.reason.rstrip(".")
    return f"{verdict.policy.value} ({reason[0].lower()}{reason[1:]})" if reason else verdict.policy.value


def _is_built_in(core: "Core", name: str) -> bool:
    return core.trust.of(name) is Trust.BUILT_IN


async def _refuse_unknown_tool(call: Invocation, core: "Core", policy: Policy) -> None:
    """A misspelt tool must not look as if it were forbidden; what is allowed must be known.

    Raises SophosError NOT_FOUND, TOOL_SERVER_DOWN."""
    chosen = call.arguments
    status = await core.direct_calls.settled(chosen.name)
    names = [spec.tool for spec in status.tools]
    if chosen.tool in names:
        return
    if status.state is ServerState.READY:
        offered = one_line(", ".join(names), 400) or "none"
        raise SophosError(
            ErrorCode.NOT_FOUND, f"“{chosen.name}” offers no tool “{chosen.tool}”", f"It offers: {offered}"
        )
    if policy is Policy.ALLOW:
        raise SophosError(
            ErrorCode.TOOL_SERVER_DOWN,
            f"The tool server “{chosen.name}” is {status.state.value}. {status.reason}".rstrip(". "),
            "A tool is allowed as it is defined now, and only its server knows that",
        )
    await call.console.note(
        f"{chosen.name} is {status.state.value}, so nobody can tell whether it has a tool {chosen.tool}"
    )


def _sentence(permission: Permission) -> str:
    server = one_line(permission.server)
    tool = f"{server}.{one_line(permission.tool)}" if permission.tool else f"every tool of {server}"
    # Ports and pages cannot be told apart: who named one sees that more was decided.
    where = f" for {permission.scope}, whatever the port and the page" if permission.scope else ""
    return f"{tool} is {_WORDS[permission.decision]}{where}"
