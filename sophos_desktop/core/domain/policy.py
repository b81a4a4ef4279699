"""Which tool calls run by themselves, which are asked about, which are refused.

Invariant: pure; what nobody decided is asked. The hints of a server that is neither built in nor trusted
by the user decide nothing. An "always allow" holds for one definition: another fingerprint is asked anew.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sophos_desktop.core.domain.hosts import has_too_long_host, host_in, words_on_host
from sophos_desktop.core.domain.specs import ToolSpec

MEMORY, FETCH = "memory", "fetch"

_MEMORY_WRITES = frozenset({"create_entities", "create_relations", "add_observations"})
_MEMORY_DELETES = frozenset({"delete_entities", "delete_observations", "delete_relations"})


_NOT_AS_ALLOWED = (
    "Its definition, or what its server is started with, is not what it was when you always allowed it."
)


_TOO_LONG = "The name of its host is longer than that of any host can be."


class Policy(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Permission:
    """What the user decided about a tool for good. `tool` empty: all tools of the server; `scope` empty:
    everywhere, else a host; `fingerprint`: the definition that was in force."""

    server: str
    tool: str
    scope: str
    fingerprint: str
    decision: Policy
    decided_at: str = ""

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "server": self.server,
            "tool": self.tool or None,
            "scope": self.scope or None,
            "decision": self.decision.value,
            "decided_at": self.decided_at,
        }


@dataclass(frozen=True, slots=True)
class ServerRule:
    """What is known of a server beforehand. `approval`: its entry's word in mcp.json; `built_in`: it comes
    from the shipped configuration."""

    approval: Policy | None = None
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to one call, and the sentence that says why. `scope`: what "always" would hold for;
    `since`: when the user decided it, empty if that is not what it comes from."""

    policy: Policy
    reason: str = ""
    scope: str = ""
    since: str = ""


def judge(
    spec: ToolSpec,
    args: Mapping[str, Any],
    rule: ServerRule,
    permissions: Collection[Permission],
    *,
    general: Policy | None,
    heard_servers: Collection[str],
) -> Verdict:
    """What happens to a call.

    The user's own decisions win, the narrower first; then the entry in mcp.json; then the general setting
    (`general`, None: the default of each tool). `permissions`: those of this server. `heard_servers`: the
    servers whose results the current turn holds."""
    scope = scope_of(spec, args, rule)
    verdict = _judged(spec, scope, rule, permissions, general, heard_servers)
    if not is_scoped(spec.server, rule):
        return verdict
    if has_too_long_host(_address(args)):
        return Verdict(Policy.DENY, _TOO_LONG)
    if verdict.policy is not Policy.ASK:
        return verdict
    reason = f"{verdict.reason} {words_on_host(_address(args))}".strip()
    return replace(verdict, reason=reason)


def _judged(
    spec: ToolSpec,
    scope: str,
    rule: ServerRule,
    permissions: Collection[Permission],
    general: Policy | None,
    heard_servers: Collection[str],
) -> Verdict:
    decided = _decided(spec, scope, rule, permissions)
    if decided is not None:
        if decided.decision is not Policy.ALLOW or decided.fingerprint == spec.fingerprint:
            return Verdict(decided.decision, _words_of(decided), scope, decided.decided_at)
        return Verdict(Policy.ASK, _NOT_AS_ALLOWED, scope)
    if rule.approval is not None:
        words = {
            Policy.ALLOW: "mcp.json allows this server's tools.",
            Policy.ASK: "mcp.json asks before each call of this server.",
            Policy.DENY: "mcp.json forbids this server's tools.",
        }
        return Verdict(rule.approval, words[rule.approval], scope)
    if general is not None:
        return Verdict(general, "The setting tools.approval says so.", scope)
    policy, reason = _default(spec, rule, heard_servers)
    return Verdict(policy, reason, scope)


def scope_of(spec: ToolSpec, args: Mapping[str, Any], rule: ServerRule) -> str:
    """What an "always" for this call would hold for: the host of a fetch, else everything (empty).

    Programs read odd addresses differently (a backslash, a percent sign in the host, no slashes): one that is
    not plain has no host here, so that nothing that was allowed for a host ever holds for it."""
    if not is_scoped(spec.server, rule):
        return ""
    return host_in(_address(args))


def _address(args: Mapping[str, Any]) -> str:
    address = args.get("url")
    return address if isinstance(address, str) else ""


def is_scoped(server: str, rule: ServerRule) -> bool:
    """True if nothing is allowed for good without a scope: for fetch, host by host."""
    return rule.built_in and server == FETCH


def _decided(
    spec: ToolSpec, scope: str, rule: ServerRule, permissions: Collection[Permission]
) -> Permission | None:
    for tool, where in ((spec.tool, scope), (spec.tool, ""), ("", scope), ("", "")):
        for permission in permissions:
            if (permission.tool, permission.scope) != (tool, where):
                continue
            if permission.decision is Policy.ALLOW and not where and is_scoped(spec.server, rule):
                continue
            return permission
    return None


def _words_of(permission: Permission) -> str:
    where = f" for {permission.scope}" if permission.scope else ""
    return {
        Policy.ALLOW: f"You always allow this tool{where}.",
        Policy.ASK: f"You want to be asked about this tool{where}.",
        Policy.DENY: f"You forbid this tool{where}.",
    }[permission.decision]


def _default(spec: ToolSpec, rule: ServerRule, heard_servers: Collection[str]) -> tuple[Policy, str]:
    if rule.built_in and spec.server == MEMORY:
        if spec.tool in _MEMORY_DELETES:
            return Policy.ASK, "It deletes from memory."
        if spec.tool in _MEMORY_WRITES and FETCH in heard_servers:
            return Policy.ASK, "This turn holds text from the web, which may want something remembered."
        return Policy.ALLOW, ""
    if rule.built_in and spec.server == FETCH:
        return Policy.ASK, "It reads a page on the web."
    if not spec.trusted:
        return Policy.ASK, "You have not said that you trust this server."
    if spec.annotations.read_only:
        return Policy.ALLOW, ""
    return Policy.ASK, "It may change something."
