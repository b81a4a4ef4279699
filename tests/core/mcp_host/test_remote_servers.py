"""Supervision of tool servers at a URL: the same states and reasons as of child processes."""

import asyncio
from dataclasses import replace

import pytest

from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ToolNote, ToolSpec
from sophos_desktop.core.mcp_host.backoff import RestartPolicy
from sophos_desktop.core.mcp_host.config import ServerConfig
from tests.core.mcp_host.harness import LIMITS, ready, running_host, status_of, tool, until_state
from tests.support.mcp_servers.http_scripted import Received, Reply, scripted_http


def _remote(url: str, **headers: str) -> ServerConfig:
    return ServerConfig("remote", url=url, headers=headers)


async def test_a_server_at_a_url_is_kept_like_a_child_and_has_no_process() -> None:
    async with scripted_http() as server, running_host(_remote(server.url)) as host:
        await ready(host, "remote")
        status = status_of(host, "remote")
        assert (status.transport, status.pid, status.reason) == ("http", None, "Ready.")
        result = await host.call(tool(host, "remote", "echo"), {"text": "hello"})
        assert result.text == "hello"
        await host.close()
        assert status_of(host, "remote").state is ServerState.STOPPED
        assert server.kinds()[-1] == "DELETE"


async def test_a_lost_session_loses_the_call_and_the_next_one_has_a_new_session() -> None:
    async def forget(_request: Received, reply: Reply) -> None:
        await reply.whole(404)

    limits = replace(LIMITS, restart=RestartPolicy(first_pause_seconds=60))
    async with (
        scripted_http(tools_call=forget) as server,
        running_host(_remote(server.url), limits=limits) as host,
    ):
        await ready(host, "remote")
        spec = tool(host, "remote", "echo")
        with pytest.raises(ToolCallLost):
            await host.call(spec, {"text": "lost"})
        server.answers.clear()
        server.session_id = "session-2"
        result = await host.call(spec, {"text": "found"})
        assert result.text == "found"
        calls = server.all_of("tools/call")
        assert [call.headers["mcp-session-id"] for call in calls] == ["session-1", "session-2"]


async def test_a_server_that_wants_a_token_is_not_asked_again_until_somebody_does() -> None:
    async def refuse(_request: Received, reply: Reply) -> None:
        await reply.whole(401)

    async with scripted_http(initialize=refuse) as server, running_host(_remote(server.url)) as host:
        status = await until_state(host, "remote", ServerState.FAILED)
        assert "It wants a token (HTTP 401)" in status.reason
        assert 'Put a token into "headers"' in status.reason
        assert status.reason.endswith(". The next call tries again.")
        assert host.tools() == []
        assert "HTTP 401" in (await host.restart("remote")).reason
        assert server.kinds() == ["initialize"] * 2
        server.answers.clear()
        assert (await host.restart("remote")).state is ServerState.READY
        assert [spec.tool for spec in host.tools()] == ["echo"]


async def test_a_server_that_is_not_there_is_given_up_and_comes_with_a_call() -> None:
    async with scripted_http() as gone:
        url = gone.url
    async with running_host(_remote(url)) as host:
        status = await until_state(host, "remote", ServerState.FAILED)
        assert "Nobody answers at 127.0.0.1" in status.reason
        spec = _spec()
        with pytest.raises(ToolServerDown, match="Nobody answers"):
            await host.call(spec, {})


def _spec() -> ToolSpec:
    return ToolSpec("remote__echo", "remote", "echo", "", {})


async def test_a_call_without_an_answer_is_lost_and_its_reason_said() -> None:
    async def cut(_request: Received, reply: Reply) -> None:
        reply.cut()

    async with scripted_http(tools_call=cut) as server, running_host(_remote(server.url)) as host:
        await ready(host, "remote")
        spec = tool(host, "remote", "echo")
        with pytest.raises(ToolCallLost, match=r"gave no answer\. The connection to it broke"):
            await host.call(spec, {})
        assert server.kinds().count("tools/call") == 1


async def test_progress_and_log_lines_in_an_event_stream_reach_the_call() -> None:
    async def speak(request: Received, reply: Reply) -> None:
        token = request.message["params"]["_meta"]["progressToken"]
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
        await reply.begin_events()
        for method, params in (
            ("progress", progress),
            ("message", {"level": "info", "data": "working"}),
        ):
            await reply.event({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params})
        await reply.event({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
        await reply.event(request.text("done"))
        await reply.end_events()

    notes: list[ToolNote] = []
    async with scripted_http(tools_call=speak) as server, running_host(_remote(server.url)) as host:
        await ready(host, "remote")
        result = await host.call(tool(host, "remote", "echo"), {}, notes.append)
        assert result.text == "done"
        assert notes[:2] == [
            ToolNote("progress", "half", progress=1.0, total=2.0),
            ToolNote("log", "working", level="info"),
        ]
        assert [note.kind for note in notes[2:]] == ["declined"]
        replied = await server.until("reply")
        assert replied.message["error"]["code"] == -32601


async def test_a_slow_remote_call_is_ended_by_its_time_and_the_server_is_told() -> None:
    reached = asyncio.Event()

    async def hang(_request: Received, reply: Reply) -> None:
        reached.set()
        await reply.until_gone()

    async with scripted_http(tools_call=hang) as server:
        config = replace(_remote(server.url), timeout_seconds=2)
        async with running_host(config) as host:
            await ready(host, "remote")
            with pytest.raises(ToolCallLost, match="within 2 seconds"):
                await host.call(tool(host, "remote", "echo"), {})
            assert reached.is_set()
            told = await server.until("notifications/cancelled")
            (call,) = server.all_of("tools/call")
            assert told.message["params"]["requestId"] == call.message["id"]
            assert status_of(host, "remote").state is ServerState.READY
