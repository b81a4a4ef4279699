"""The reference server that exercises most of the protocol."""

import asyncio
import base64
import gzip
import json
import os
from dataclasses import replace
from typing import Any

import pytest

from sophos_desktop.core.domain.ports import ToolCallLost
from sophos_desktop.core.domain.specs import ToolNote
from sophos_desktop.core.mcp_host.command import TOKEN_VARIABLE
from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.harness import PATIENCE_SECONDS, ready, running_host, status_of, tool
from tests.core.mcp_host.real.servers import called, good, npm_server

pytestmark = [pytest.mark.needs_node, pytest.mark.long]

NAME = "everything"
SMALL_FILE = "data:text/plain;base64," + base64.b64encode(b"a small file").decode()
# All tools that it offers to a client without sampling, elicitation and roots; and whether it refuses.
EVERY_TOOL: dict[str, tuple[dict[str, Any], bool]] = {
    "echo": ({"message": "hé 🦉"}, False),
    "get-annotated-message": ({"messageType": "error", "includeImage": True}, False),
    "get-env": ({}, False),
    "get-resource-links": ({"count": 3}, False),
    "get-resource-reference": ({"resourceType": "Blob", "resourceId": 1}, False),
    "get-structured-content": ({"location": "Chicago"}, False),
    "get-sum": ({"a": 2, "b": 0.5}, False),
    "get-tiny-image": ({}, False),
    "gzip-file-as-resource": ({"name": "a.gz", "data": SMALL_FILE, "outputType": "resourceLink"}, False),
    "toggle-simulated-logging": ({}, False),
    "toggle-subscriber-updates": ({}, False),
    "trigger-long-running-operation": ({"duration": 0.1, "steps": 2}, False),
    "simulate-research-query": ({"topic": "owls", "ambiguous": True}, True),  # only as a task
}


async def test_every_tool_that_it_offers_gives_one_result() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        # One of them is added after the handshake, when the server has seen what the client can do.
        await _until_offered(host, len(EVERY_TOOL))
        assert {spec.tool for spec in host.tools()} == set(EVERY_TOOL)
        results = await asyncio.gather(
            *(called(host, NAME, name, **arguments) for name, (arguments, _) in EVERY_TOOL.items())
        )
        refused = {name: result.is_error for name, result in zip(EVERY_TOOL, results, strict=True)}
        assert refused == {name: refuses for name, (_, refuses) in EVERY_TOOL.items()}
        assert all(result.text for result in results)


async def test_texts_and_numbers_come_back() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        assert (await good(host, NAME, "echo", message="hé 🦉\n\t\x7f")).text == "Echo: hé 🦉\n\t\x7f"
        assert "2.5" in (await good(host, NAME, "get-sum", a=2, b=0.5)).text
        wrong = await called(host, NAME, "get-sum", a="two", b=1)
        assert (wrong.is_error, "do not fit" in wrong.text) == (True, True)
        echoes = await asyncio.gather(*(good(host, NAME, "echo", message=str(n)) for n in range(50)))
        assert [echo.text for echo in echoes] == [f"Echo: {n}" for n in range(50)]


async def test_images_and_annotations_are_kept_as_they_came() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        image = await good(host, NAME, "get-tiny-image")
        (part,) = [part for part in image.content if part["type"] == "image"]
        assert base64.b64decode(part["data"]).startswith(b"\x89PNG")
        assert "[image, image/png, " in image.text
        assert part["data"] not in image.text
        message = await good(host, NAME, "get-annotated-message", messageType="error", includeImage=True)
        assert [part["type"] for part in message.content] == ["text", "image"]
        assert message.content[0]["annotations"]["priority"] == 1.0
        assert message.content[0]["annotations"]["audience"] == ["user", "assistant"]


async def test_resources_and_links_to_them_are_kept_and_named() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        links = await good(host, NAME, "get-resource-links", count=2)
        assert [part["type"] for part in links.content] == ["text", "resource_link", "resource_link"]
        assert links.content[2]["uri"] in links.text
        reference = await good(host, NAME, "get-resource-reference", resourceType="Text", resourceId=1)
        (resource,) = [part["resource"] for part in reference.content if part["type"] == "resource"]
        assert resource["text"] in reference.text
        zipped = await good(
            host, NAME, "gzip-file-as-resource", name="a.gz", data=SMALL_FILE, outputType="resource"
        )
        blob = zipped.content[0]["resource"]["blob"]
        assert gzip.decompress(base64.b64decode(blob)) == b"a small file"
        assert blob not in zipped.text


async def test_structured_content_reaches_the_model() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        weather = await good(host, NAME, "get-structured-content", location="Chicago")
        assert set(json.loads(weather.text)) == {"temperature", "conditions", "humidity"}
        assert weather.structured == json.loads(weather.text)


async def test_its_resources_prompts_and_instructions_are_listed() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        status = status_of(host, NAME)
        assert "demo://resource/static/document/features.md" in status.resources
        assert status.prompts == ("simple-prompt", "args-prompt", "completable-prompt", "resource-prompt")
        assert status.instructions.startswith("# Everything Server")


async def test_a_long_operation_tells_how_far_it_is() -> None:
    notes: list[ToolNote] = []
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        spec = tool(host, NAME, "trigger-long-running-operation")
        result = await host.call(spec, {"duration": 2, "steps": 4}, notes.append)
        assert "Duration: 2 seconds, Steps: 4" in result.text
        assert {note.kind for note in notes} == {"progress"}
        told = [note.progress or 0.0 for note in notes]
        assert told == sorted(told)
        assert told[-1] == 4
        assert {note.total for note in notes} == {4}


async def test_what_it_logs_is_told_to_the_call_under_way() -> None:
    notes: list[ToolNote] = []
    logged = asyncio.Event()

    def observe(note: ToolNote) -> None:
        notes.append(note)
        if note.kind == "log":
            logged.set()

    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        spec = tool(host, NAME, "trigger-long-running-operation")
        operation = asyncio.ensure_future(host.call(spec, {"duration": 600, "steps": 1}, observe))
        await good(host, NAME, "toggle-simulated-logging")  # it logs once at once, then every five seconds
        async with asyncio.timeout(PATIENCE_SECONDS):
            await logged.wait()
        operation.cancel()
        with pytest.raises(asyncio.CancelledError):
            await operation
        assert all(note.text for note in notes)


async def test_what_needs_a_model_a_person_or_folders_is_not_offered_since_we_do_not_offer_that() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        await _until_offered(host, len(EVERY_TOOL))
        asking = ("sampling", "elicitation", "roots")
        assert [spec.tool for spec in host.tools() if any(word in spec.tool for word in asking)] == []


async def test_it_sees_the_allowed_variables_and_its_own_alone() -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "SECRET_KEY": "of the app", "PYTHONPATH": "/x"}
    async with running_host(npm_server(NAME, env={"API_KEY": "its own"}), environ=environ) as host:
        await ready(host, NAME)
        seen = json.loads((await good(host, NAME, "get-env")).text)
        assert seen.pop(TOKEN_VARIABLE)
        assert seen == {"PATH": os.environ["PATH"], "HOME": "/nowhere", "API_KEY": "its own"}


async def test_a_long_operation_can_be_stopped_and_blocks_nobody_meanwhile() -> None:
    async with running_host(npm_server(NAME)) as host:
        await ready(host, NAME)
        pid = status_of(host, NAME).pid
        operation = asyncio.ensure_future(
            called(host, NAME, "trigger-long-running-operation", duration=600, steps=1)
        )
        assert (await good(host, NAME, "echo", message="meanwhile")).text == "Echo: meanwhile"
        operation.cancel()
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(asyncio.CancelledError):
                await operation
        assert (await good(host, NAME, "echo", message="after")).text == "Echo: after"
        assert status_of(host, NAME).pid == pid


async def test_an_operation_beyond_the_time_out_is_lost_and_the_server_stays() -> None:
    async with running_host(replace(npm_server(NAME), timeout_seconds=5.0)) as host:
        await ready(host, NAME)
        pid = status_of(host, NAME).pid
        with pytest.raises(ToolCallLost, match="did not answer within 5 seconds"):
            await called(host, NAME, "trigger-long-running-operation", duration=600, steps=1)
        assert (await good(host, NAME, "echo", message="after")).text == "Echo: after"
        assert status_of(host, NAME).pid == pid


async def _until_offered(host: ToolHost, count: int) -> None:
    changed = asyncio.Event()
    unsubscribe = host.subscribe(changed.set)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(host.tools()) < count:
                changed.clear()
                await changed.wait()
    finally:
        unsubscribe()
