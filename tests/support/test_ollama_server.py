"""The scripted server held against what a real one sent, and as a process of its own."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer
from tests.support.wire_recordings import Recording, recording, recordings

MODELS = (
    FakeModel("smollm2:135m", ("completion",)),
    FakeModel("smol-tools:135m", ("completion", "tools")),
    FakeModel("smol-two:135m", ("completion", "tools")),
    FakeModel("smol-think:135m", ("completion", "thinking")),
)


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    """A server with the models of the recordings."""
    async with OllamaServer(MODELS) as running:
        running.loaded = ["smollm2:135m"]
        yield running


async def replay(server: OllamaServer, recorded: Recording) -> httpx.Response:
    """The scripted server's answer to a recorded request."""
    body = recorded.body
    content = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.request(recorded.method, server.url + recorded.path, content=content)


def reply_from(recorded: Recording) -> Reply:
    """A script that says what was said then."""
    if recorded.status != 200:
        return Reply(status=recorded.status, error=recorded.frames[0]["error"])
    frames = recorded.frames
    messages = [frame["message"] for frame in frames if "message" in frame]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    return Reply(
        pieces=tuple(message["content"] for message in messages if message["content"]),
        thinking=tuple(message["thinking"] for message in messages if message.get("thinking")),
        calls=tuple({"name": call["name"], "arguments": call["arguments"]} for call in calls),
        done_reason=frames[-1].get("done_reason", ""),
        ending="complete" if frames[-1].get("done") else "error_line" if "error" in frames[-1] else "cut",
        error=frames[-1].get("error", ""),
        output_tokens=frames[-1].get("eval_count"),
    )


def shape(value: Any) -> Any:
    """Keys in their order, and types; what a text or number is does not count."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items() if key not in ("arguments", "city")]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


def same_framing(answer: httpx.Response, recorded: Recording) -> None:
    """Status, headers and newline are those of the real server."""
    assert answer.status_code == recorded.status
    assert answer.headers["content-type"] == recorded.headers["content-type"]
    assert answer.text.endswith("\n") == recorded.ends_with_newline
    if recorded.status == 200:
        assert answer.headers.get("transfer-encoding") == recorded.headers.get("transfer-encoding")


@pytest.mark.parametrize("name", [*recordings("chat-"), *recordings("ctx-")])
async def test_a_chat_is_answered_in_the_frames_of_a_real_server(server: OllamaServer, name: str) -> None:
    recorded = recording(name)
    server.script(reply_from(recorded))
    if recorded.broken:
        with pytest.raises(httpx.RemoteProtocolError):
            await replay(server, recorded)
        return
    answer = await replay(server, recorded)
    same_framing(answer, recorded)
    frames = [json.loads(line) for line in answer.text.splitlines()]
    assert [shape(frame) for frame in frames] == [shape(frame) for frame in recorded.frames]
    if recorded.status != 200:
        assert frames == recorded.frames


@pytest.mark.parametrize("name", ["tags", "ps-loaded", "version", "show-smol-tools", "show-missing"])
async def test_other_answers_have_what_a_real_server_has(server: OllamaServer, name: str) -> None:
    recorded = recording(name)
    answer = await replay(server, recorded)
    assert answer.status_code == recorded.status
    assert answer.headers["content-type"] == recorded.headers["content-type"]
    (real,) = recorded.frames
    ours = answer.json()
    assert set(ours) <= set(real)
    for entry in ours.get("models", ()):
        assert set(entry) <= set(real["models"][0]) | {"modified_at", "capabilities"}
    if name == "show-missing":
        assert ours == real


@pytest.mark.parametrize("name", ["root", "unknown-path"])
async def test_plain_texts_are_those_of_a_real_server(server: OllamaServer, name: str) -> None:
    recorded = recording(name)
    answer = await replay(server, recorded)
    same_framing(answer, recorded)
    assert answer.text == recorded.lines[0]


async def test_turns_depend_on_the_request_alone(server: OllamaServer) -> None:
    server.play.turns = (Reply(pieces=("first",)), Reply(pieces=("second",)))
    server.play.by_text = {"other": (Reply(pieces=("else",)),)}
    user = {"role": "user", "content": "x"}
    spoken = {"role": "assistant", "content": "y"}
    result = {"role": "tool", "content": "z"}
    said = [
        await _ask(server.url, messages)
        for messages in (
            [user],
            [user, spoken, result, result],
            [user, spoken, result, spoken, result],
            [user, spoken, user],
            [user, spoken, {"role": "user", "content": "some other text"}],
        )
    ]
    assert said == ["first", "second", "second", "first", "else"]


async def test_as_a_process_it_plays_its_file_and_ends_with_its_stdin(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    file = tmp_path / "script.json"
    script = {
        "models": ["smol:latest", {"name": "plain:latest", "capabilities": ["completion"]}],
        "turns": [{"pieces": ["A", "B"], "hold_after": 1}, "C"],
    }
    file.write_text(json.dumps(script), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.ollama_server", str(file)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    url = f"http://127.0.0.1:{json.loads(await asyncio.wait_for(process.stdout.readline(), 20))['port']}"
    asking = asyncio.ensure_future(_ask(url, [{"role": "user", "content": "x"}]))
    async with httpx.AsyncClient(trust_env=False, base_url=url) as client:
        await client.post("/control/release")
        assert await asyncio.wait_for(asking, 10) == "AB"
        (chat,) = [item for item in (await client.get("/control/requests")).json() if item["body"]]
    assert chat["path"] == "/api/chat"
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 10) == 0


async def _ask(url: str, messages: list[dict[str, str]]) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        model = (await client.get(f"{url}/api/tags")).json()["models"][0]["name"]
        answer = await client.post(f"{url}/api/chat", json={"model": model, "messages": messages})
    return "".join(json.loads(line)["message"]["content"] for line in answer.text.splitlines())
