"""Says in words what happens to the tools of a server that nobody decided about.

Invariant: pure; the rules are those of `core.domain.policy.judge`, in their order: the entry in mcp.json,
the general setting, then what kind of server it is.
"""

from sophos_desktop.core.domain.policy import FETCH, MEMORY

_ENTRY = {
    "allow": "every call is made (mcp.json)",
    "ask": "every call is asked about (mcp.json)",
    "deny": "no call is made (mcp.json)",
}
_SETTING = {
    "allow": "every call is made (setting tools.approval)",
    "ask": "every call is asked about (setting tools.approval)",
    "deny": "no call is made (setting tools.approval)",
}


def default_words(
    server: str, approval: str | None, general: str, *, is_built_in: bool, is_trusted: bool
) -> str:
    """`approval`: the word in mcp.json; `general`: the setting; `is_trusted`: its own hints count."""
    if approval in _ENTRY:
        return _ENTRY[approval]
    if general in _SETTING:
        return _SETTING[general]
    if is_built_in and server == MEMORY:
        return "reads and remembers; asks before it deletes, and before it remembers in a turn with web text"
    if is_built_in and server == FETCH:
        return "asks about each web address"
    if is_built_in or is_trusted:
        return "tools that only read run; the others ask"
    return "asks about each call"
