"""Every command against the contract's shapes, in text and JSON."""

import json
from typing import Any

from tests.contract import contract
from tests.contract.in_process import Finished, Program
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer

THINKER = FakeModel("smol:latest", capabilities=("completion", "tools", "thinking"))


def calls_into(program: Program) -> tuple[dict[str, Any], ...]:
    file = str(program.data_dir / "lines.txt")
    return tuple(
        {"name": "lines__append_line", "arguments": {"file": file, "text": text}} for text in ("one", "two")
    )


def script_a_tool_turn(server: OllamaServer, program: Program) -> None:
    server.script(
        Reply(pieces=("I append. ",), thinking=("Two", " lines."), calls=calls_into(program)),
        Reply(pieces=("Do", "ne.")),
    )


def check_events(events: list[dict[str, Any]], *, stored: bool = False) -> None:
    for event in events:
        expected = {"v", "run_id", "seq", "at", "type"} | contract.fields(f"`{event['type']} ")
        assert expected <= set(event), event
        assert event["v"] == 1
        assert event["at"].endswith("Z")
    assert [event["type"] for event in events][:: len(events) - 1] == ["run_started", "end"]
    numbers = [event["seq"] for event in events]
    assert numbers == (sorted(set(numbers)) if stored else list(range(1, len(numbers) + 1)))
    assert {event["run_id"] for event in events} == {events[0]["run_id"]}


def check_texts(events: list[dict[str, Any]]) -> None:
    """Deltas add up to their message."""
    stored = [event["message"] for event in events if event["type"] == "message"]
    for message in stored:
        assert contract.fields("message `") <= set(message)
        deltas = [e["text"] for e in events if e["type"] == "text" and e["message_id"] == message["id"]]
        assert message["role"] != "assistant" or "".join(deltas) == message["text"]
    assert [message["role"] for message in stored] == ["user", "assistant", "tool", "tool", "assistant"]


async def test_ask_and_everything_that_reads_it_again(program: Program) -> None:
    async with OllamaServer((THINKER,)) as server:
        program.use(server)
        script_a_tool_turn(server, program)
        asked = await program("ask", "--json", "append\ntwo lines")
    assert asked.code == 0, asked.err
    events = asked.events
    check_events(events)
    check_texts(events)
    run_id, conversation_id = events[0]["run_id"], events[0]["conversation_id"]
    assert events[-1]["usage"]["tool_calls"] == 2

    listed = (await program("list", "--json")).json
    assert contract.fields("conversation `") <= set(listed[0])
    assert listed[0]["title"] == "append"
    assert listed[0]["last_run"] == {
        "id": run_id,
        "kind": "message",
        "status": "completed",
        "error_code": None,
        "error_message": None,
        "finished_at": listed[0]["last_run"]["finished_at"],
    }
    shown = (await program("show", "--json", conversation_id[-6:])).json
    assert [message["text"] for message in shown["messages"]] == [
        "append\ntwo lines",
        "I append. ",
        "appended one",
        "appended two",
        "Done.",
    ]
    assert shown["messages"][1]["thinking"] == "Two lines."
    assert shown["message_count"] == 5
    recorded = (await program("runs", "--json", conversation_id)).json
    assert contract.fields("run `") == set(recorded[0])
    for argv in (("trace", run_id[-8:]), ("follow", conversation_id)):
        again = await program(*argv, "--json")
        traced = again.json if argv[0] == "trace" else again.events
        check_events(traced, stored=True)
        told = [{name: value for name, value in event.items() if name != "text_bytes"} for event in traced]
        assert told == [event for event in events if event["type"] not in ("text", "thinking")]


async def test_the_folder_is_the_users_alone_and_the_log_keeps_no_words(program: Program) -> None:
    folder = program.data_dir.parent / "made" / "by the program"
    async with OllamaServer() as server:
        program.use(server)
        asked = await program("--data-dir", str(folder), "ask", "a private question")
    assert (asked.code, asked.out) == (0, "Hello!\n")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.iterdir()} >= {"sophos.db", "config", "logs", "owners", "backups"}
    log = (folder / "logs" / "sophos.log").read_text(encoding="utf-8")
    assert "command ask" in log
    assert "private" not in log
    assert "Hello" not in log


async def test_what_is_read_as_text(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script_a_tool_turn(server, program)
        asked = await program("ask", "-", stdin="append two lines\n")
    assert (asked.code, asked.out) == (0, "I append. \n\nDone.\n")
    conversation_id = asked.err.splitlines()[0].removeprefix("conversation ")
    listed = await program("list")
    heading, row = listed.out.splitlines()
    assert heading.split() == ["ID", "UPDATED", "STATUS", "LAST", "RUN", "MESSAGES", "TITLE"]
    assert row.split()[0] == conversation_id[-4:]
    assert "completed" in row
    shown = await program("show", row.split()[0])
    assert shown.out.startswith(f"append two lines\nconversation {conversation_id}\n\nYou ")
    assert "→ lines.append_line" in shown.out
    runs = await program("runs", row.split()[0])
    run_part = runs.out.splitlines()[1].split()[0]
    traced = await program("trace", run_part)
    assert [line for line in traced.out.splitlines() if line.startswith("  step")] != []
    assert "    result ok  appended one" in traced.out
    followed = await program("follow", row.split()[0])
    assert followed.code == 0
    assert followed.out.endswith("Done.\nend completed\n")
    assert "\x1b" not in listed.out + shown.out + runs.out + traced.out


async def test_exports_give_the_document_or_the_names_of_the_files(program: Program) -> None:
    async with OllamaServer((THINKER,)) as server:
        program.use(server)
        script_a_tool_turn(server, program)
        asked = (await program("ask", "--json", "append\ntwo lines")).events
    conversation_id, run_id = asked[0]["conversation_id"], asked[0]["run_id"]
    shown = (await program("show", "--json", conversation_id)).json
    printed = await program("export", conversation_id)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("# append\n\n- Conversation: ")
    assert [message["text"] in printed.out for message in shown["messages"]] == [True] * 5
    lines = await program("export", conversation_id, "--format", "jsonl")
    checkpoints = lines.events
    fields = contract.fields("checkpoint (a line of `export --format jsonl`, oldest first) `")
    assert all(set(checkpoint) == fields for checkpoint in checkpoints)
    assert all(checkpoint["created_at"].endswith("Z") for checkpoint in checkpoints)
    assert {checkpoint["run_id"] for checkpoint in checkpoints} == {run_id}
    last = {name: shown["messages"][-1][name] for name in ("id", "role", "text")}
    assert (checkpoints[-1]["message_count"], checkpoints[-1]["last_message"]) == (5, last)
    told = [e["checkpoint_id"] for e in asked if e["type"] == "step" and e["phase"] == "finished"]
    assert told == [checkpoint["checkpoint_id"] for checkpoint in checkpoints[1:]]
    target = program.data_dir / "out.md"
    written = await program("export", conversation_id, "-o", str(target))
    assert (written.code, written.out, written.err) == (0, f"{target}\n", "")
    assert target.read_text(encoding="utf-8") == printed.out


async def test_exports_of_none_and_of_many_say_what_they_need(program: Program) -> None:
    nothing = await program("export", "--all", "-o", str(program.data_dir / "out"))
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no conversations\n")
    for argv in (["export"], ["export", "--all"], ["export", "abcd", "efgh"]):
        refused = await program(*argv)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("error BAD_REQUEST: ")
    assert (await program("export", "ffffffff")).code == 6


async def test_the_installation_as_text_and_json(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        servers = await program("mcp", "--json")
        models = await program("models", "--json")
        doctor = await program("doctor", "--json")
        texts = [await program(command) for command in ("mcp", "models", "doctor", "approvals")]
    assert contract.fields("what happens to their calls | array `") <= set(servers.json[0])
    by_name = {server["name"]: server for server in servers.json}
    assert by_name["fetch"]["state"] == "stopped"
    assert [tool["name"] for tool in by_name["lines"]["tools"]][:1] == ["append_line"]
    assert set(by_name["lines"]["tools"][0]) == contract.fields("bool, tools: [")
    assert by_name["lines"]["tools"][0]["policy"] == "allow"
    assert {"engine", "name", "size_bytes", "context_length", "capabilities", "loaded"} == set(models.json[0])
    assert doctor.json["ok"] is True, doctor.out
    promised = contract.TEXT.split("`doctor` checks: `")[1].split("`")[0].split()
    checks = doctor.json["checks"]
    assert [check["id"] for check in checks] == [name for name in promised if name != "search_index"]
    assert all(set(check) == {"id", "ok", "text", "remedy"} for check in checks)
    assert [text.code for text in texts] == [0, 0, 0, 0]
    assert "append_line" in texts[0].out
    assert "smol:latest" in texts[1].out
    assert texts[2].out.startswith("ok ")
    assert (texts[3].out, texts[3].err) == ("", "no questions are open\n")


async def test_settings_are_shown_and_changed(program: Program) -> None:
    everything = await program("config", "--json")
    assert everything.json["engine.kind"] == {"value": "ollama", "source": "SOPHOS_ENGINE__KIND"}
    assert everything.json["answer.step_limit"] == {"value": 25, "source": "default"}
    changed = await program("config", "answer.step_limit", "7")
    assert (changed.code, changed.out) == (0, "7\n")
    overridden = await program("config", "engine.kind", "starter")
    assert "SOPHOS_ENGINE__KIND counts more" in overridden.err
    one = await program("config", "answer.step_limit", "--json")
    file = str(program.data_dir / "config" / "settings.toml")
    assert one.json == {"answer.step_limit": {"value": 7, "source": file}}
    assert (await program("config", "answer.step_limit", "")).out == "25\n"
    for argv in (("config", "engine.kid"), ("config", "answer.step_limit", "few")):
        refused = await program(*argv, "--json")
        assert refused.code == 2
        assert refused.json["error"]["code"] == "BAD_REQUEST"
        assert refused.err.startswith("error BAD_REQUEST: ")
    assert not (program.data_dir / "sophos.db").exists(), "settings need no database"


async def test_deleting_asks_first(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        asked = await program("ask", "hello")
    part = asked.err.splitlines()[0][-6:]
    refused = await program("delete", part)
    assert refused.code == 2
    assert "--yes" in refused.err
    deleted = await program("delete", part, "--yes")
    assert deleted.code == 0
    assert deleted.out.endswith("“hello” (2 messages)\n")
    assert (await program("show", part)).code == 6
    assert (await program("list", "--json")).json == []
    assert (await program("list")).err == "no conversations\n"


async def test_lists_are_filtered(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        for text in ("about apples", "about 100% pears", "about 1000 plums"):
            await program("ask", text)

    async def titles(*options: str) -> list[str]:
        listed: Finished = await program("list", "--json", *options)
        return [entry["title"] for entry in listed.json]

    assert await titles() == ["about 1000 plums", "about 100% pears", "about apples"]
    assert await titles("--query", "100%") == ["about 100% pears"]
    assert await titles("--query", "APPLES") == ["about apples"]
    assert await titles("--limit", "1") == ["about 1000 plums"]
    assert await titles("--status", "archived", "--status", "suspended") == []
    assert await titles("--tag", "a", "--tag", "b") == []
    parts = [line.split()[0] for line in (await program("list")).out.splitlines()[1:]]
    shown = [json.loads((await program("show", part, "--json")).out)["title"] for part in parts]
    assert shown == await titles()
