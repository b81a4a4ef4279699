"""Which tool calls run by themselves, which are asked about, which are refused."""

from typing import Any

import pytest

from sophos_desktop.core.domain.policy import Permission, Policy, ServerRule, Verdict, judge
from sophos_desktop.core.domain.specs import ToolAnnotations, ToolSpec

BUILT_IN = ServerRule(built_in=True)
STRANGER = ServerRule()
NOW = "now"


def spec(server: str, tool: str, *, trusted: bool = False, read_only: bool | None = None) -> ToolSpec:
    hints = ToolAnnotations(read_only=read_only, idempotent=True, destructive=False)
    return ToolSpec(f"{server}__{tool}", server, tool, "", {}, hints, trusted=trusted, fingerprint=NOW)


def verdict(
    tool: ToolSpec,
    rule: ServerRule,
    *permissions: Permission,
    args: dict[str, Any] | None = None,
    general: Policy | None = None,
    heard: tuple[str, ...] = (),
) -> Verdict:
    return judge(tool, args or {}, rule, permissions, general=general, heard_servers=heard)


def always(tool: ToolSpec, decision: Policy, *, scope: str = "", fingerprint: str = NOW) -> Permission:
    return Permission(tool.server, tool.tool, scope, fingerprint, decision)


@pytest.mark.parametrize("tool", ["read_graph", "search_nodes", "open_nodes", "create_entities"])
def test_built_in_memory_reads_and_writes_by_itself(tool: str) -> None:
    assert verdict(spec("memory", tool, trusted=True), BUILT_IN).policy is Policy.ALLOW


@pytest.mark.parametrize("tool", ["delete_entities", "delete_observations", "delete_relations"])
def test_built_in_memory_asks_before_it_deletes(tool: str) -> None:
    assert verdict(spec("memory", tool, trusted=True), BUILT_IN).policy is Policy.ASK


@pytest.mark.parametrize("tool", ["create_entities", "create_relations", "add_observations"])
def test_memory_asks_before_a_write_in_a_turn_that_holds_fetched_text(tool: str) -> None:
    asked = verdict(spec("memory", tool, trusted=True), BUILT_IN, heard=("fetch",))
    assert asked.policy is Policy.ASK
    assert "web" in asked.reason
    assert verdict(spec("memory", tool, trusted=True), BUILT_IN, heard=("notes",)).policy is Policy.ALLOW


def test_reading_memory_stays_allowed_after_a_fetch() -> None:
    read = spec("memory", "read_graph", trusted=True)
    assert verdict(read, BUILT_IN, heard=("fetch",)).policy is Policy.ALLOW


def test_a_server_that_only_calls_itself_memory_is_asked_about() -> None:
    assert verdict(spec("memory", "create_entities"), STRANGER).policy is Policy.ASK


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org:8443/a?b#c", "example.org"),
        ("http://user:pass@a.example/", "a.example"),
        ("https://good.example./x", "good.example"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("not a url", ""),
        ("http://[broken", ""),
        ("http://evil.example\\@good.example/", ""),
        ("http://a@evil.example@good.example/", ""),
        ("http://b%6F.example/", ""),
        ("http:/\\evil.example@good.example/", ""),
        ("http:evil.example", ""),
        ("http:///evil.example/x", ""),
        ("http://good.example\t.evil.example/", ""),
        ("http://good.example /x", ""),
        ("http://bücher.example/", ""),
        ("ftp://good.example/", ""),
    ],
)
def test_fetch_asks_and_always_would_be_for_the_host(url: str, host: str) -> None:
    asked = verdict(spec("fetch", "fetch", trusted=True), BUILT_IN, args={"url": url})
    assert (asked.policy, asked.scope) == (Policy.ASK, host)


def test_always_for_one_host_allows_no_other() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    allowed = always(fetch, Policy.ALLOW, scope="a.example")
    assert verdict(fetch, BUILT_IN, allowed, args={"url": "https://a.example/x"}).policy is Policy.ALLOW
    assert verdict(fetch, BUILT_IN, allowed, args={"url": "https://b.example/x"}).policy is Policy.ASK
    assert verdict(fetch, BUILT_IN, allowed, args={"url": "https://sub.a.example/x"}).policy is Policy.ASK


@pytest.mark.parametrize("url", ["http:evil.example", "http://evil.example\\@a.example/"])
def test_no_always_holds_for_an_address_that_programs_read_differently(url: str) -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    everywhere = always(fetch, Policy.ALLOW)
    here = always(fetch, Policy.ALLOW, scope="a.example")
    assert verdict(fetch, BUILT_IN, everywhere, here, args={"url": url}).policy is Policy.ASK
    denied = always(fetch, Policy.DENY)
    assert verdict(fetch, BUILT_IN, denied, here, args={"url": url}).policy is Policy.DENY


def test_a_denial_of_a_host_holds_for_every_tool_of_the_server() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    denied = Permission("fetch", "", "a.example", "", Policy.DENY)
    assert verdict(fetch, BUILT_IN, denied, args={"url": "https://a.example./"}).policy is Policy.DENY
    assert verdict(fetch, BUILT_IN, denied, args={"url": "https://b.example/"}).policy is Policy.ASK


def test_hints_count_for_a_trusted_server_only() -> None:
    assert verdict(spec("notes", "read", trusted=True, read_only=True), STRANGER).policy is Policy.ALLOW
    assert verdict(spec("notes", "write", trusted=True, read_only=False), STRANGER).policy is Policy.ASK
    assert verdict(spec("notes", "silent", trusted=True), STRANGER).policy is Policy.ASK
    assert verdict(spec("notes", "read", read_only=True), STRANGER).policy is Policy.ASK


def test_always_allow_ends_when_the_definition_changes_and_always_deny_does_not() -> None:
    tool = spec("notes", "read")
    assert verdict(tool, STRANGER, always(tool, Policy.ALLOW)).policy is Policy.ALLOW
    changed = verdict(tool, STRANGER, always(tool, Policy.ALLOW, fingerprint="then"))
    assert changed.policy is Policy.ASK
    assert "or what its server is started with, is not what it was" in changed.reason
    assert verdict(tool, STRANGER, always(tool, Policy.DENY, fingerprint="then")).policy is Policy.DENY


def test_the_narrower_decision_wins() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    everywhere = always(fetch, Policy.DENY)
    here = always(fetch, Policy.ALLOW, scope="a.example")
    whole_server = Permission("fetch", "", "", "", Policy.DENY)
    args = {"url": "https://a.example/"}
    assert verdict(fetch, BUILT_IN, everywhere, here, whole_server, args=args).policy is Policy.ALLOW
    assert verdict(fetch, BUILT_IN, whole_server, args=args).policy is Policy.DENY


@pytest.mark.parametrize("policy", list(Policy))
def test_decisions_win_over_the_entry_and_the_entry_over_the_setting(policy: Policy) -> None:
    tool = spec("notes", "write")
    entry = ServerRule(approval=policy)
    assert verdict(tool, entry, general=Policy.ALLOW).policy is policy
    assert verdict(tool, STRANGER, general=policy).policy is policy
    assert verdict(tool, entry, always(tool, Policy.DENY)).policy is Policy.DENY


def test_a_host_that_no_name_can_be_is_refused_whatever_was_allowed() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    for host in ("a" * 64 + ".example", ".".join(["a" * 50] * 6), "ü" * 60 + ".example"):
        refused = verdict(fetch, BUILT_IN, args={"url": f"https://{host}/x"}, general=Policy.ALLOW)
        assert (refused.policy, refused.scope) == (Policy.DENY, "")
        assert "longer than that of any host" in refused.reason
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert verdict(fetch, BUILT_IN, args={"url": f"https://{longest}/"}).scope == longest


def test_always_holds_for_an_address_of_ipv6_however_it_is_written() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    allowed = always(fetch, Policy.ALLOW, scope="2001:db8::1")
    for written in ("[2001:db8::1]", "[2001:DB8:0:0::1]:8080", "[2001:0db8::0001]"):
        judged = verdict(fetch, BUILT_IN, allowed, args={"url": f"https://{written}/x"})
        assert (judged.policy, judged.scope) == (Policy.ALLOW, "2001:db8::1")
    assert verdict(fetch, BUILT_IN, allowed, args={"url": "https://[2001:db8::2]/"}).policy is Policy.ASK


def test_a_question_about_a_host_in_other_letters_has_both_forms() -> None:
    fetch = spec("fetch", "fetch", trusted=True)
    asked = verdict(fetch, BUILT_IN, args={"url": "https://xn--bcher-kva.example/x"})
    assert asked.reason == (
        "It reads a page on the web. “bücher.example” is “xn--bcher-kva.example” to the network."
    )
    assert (
        verdict(fetch, BUILT_IN, args={"url": "https://a.example/x"}).reason == "It reads a page on the web."
    )
    assert verdict(
        spec("notes", "read"), STRANGER, args={"url": "https://xn--bcher-kva.example/"}
    ).reason == ("You have not said that you trust this server.")
