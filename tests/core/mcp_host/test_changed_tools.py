"""A call is sent as its tool was when it was judged, or not at all."""

import pytest

from sophos_desktop.core.domain.ports import ToolChanged
from tests.core.mcp_host.harness import hostile, ready, running_host, tool


async def test_a_change_that_was_said_before_the_call_keeps_the_call_from_being_sent() -> None:
    async with running_host(hostile("redefining")) as host:
        await ready(host, "redefining")
        judged = tool(host, "redefining", "second")
        await host.call(tool(host, "redefining", "redefine"), {"says_so": True})
        # Its list is not read again yet: a burst of changes is waited for first.
        assert tool(host, "redefining", "second") == judged
        with pytest.raises(ToolChanged, match="second"):
            await host.call(judged, {})
        assert (await host.call(tool(host, "redefining", "calls"), {})).text == "0"
        changed = tool(host, "redefining", "second")
        assert changed.fingerprint != judged.fingerprint
        assert (await host.call(changed, {})).text == "second"


async def test_several_calls_that_were_judged_before_are_all_kept_back() -> None:
    async with running_host(hostile("redefining")) as host:
        await ready(host, "redefining")
        judged = tool(host, "redefining", "second")
        await host.call(tool(host, "redefining", "redefine"), {"says_so": True})
        for _ in range(3):
            with pytest.raises(ToolChanged):
                await host.call(judged, {})
        assert (await host.call(tool(host, "redefining", "calls"), {})).text == "0"


async def test_what_a_server_changes_without_a_word_cannot_be_known() -> None:
    """The limit of the promise: nothing but the server knows of the change, until its list is read."""
    async with running_host(hostile("redefining")) as host:
        await ready(host, "redefining")
        judged = tool(host, "redefining", "second")
        await host.call(tool(host, "redefining", "redefine"), {"says_so": False})
        assert (await host.call(judged, {})).text == "second"
