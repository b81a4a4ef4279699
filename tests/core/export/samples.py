"""Conversations with fixed ids and times; `python -m tests.core.export.samples` writes the golden files anew.

Whoever writes them anew reads what changed before it is committed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult, ImageContent, TextContent

from sophos_desktop.core.domain.conversation import (
    Conversation,
    ConversationStatus,
    Message,
    MessageState,
    Role,
    ToolCall,
    ToolStatus,
)
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.export.markdown import Transcript, markdown_document
from sophos_desktop.core.mcp_host.results import to_tool_result

GOLDEN = Path(__file__).parent / "golden"
MODEL = "smol:latest"


def a_time(second: int) -> str:
    return f"2026-10-01T10:00:{second:02}.250Z"


def a_conversation(title: str, **more: Any) -> Conversation:
    return Conversation(
        id="01a00000-0000-7000-8000-000000000001",
        title=title,
        status=ConversationStatus.ACTIVE,
        pinned=False,
        model=MODEL,
        message_count=0,
        created_at=a_time(0),
        updated_at=a_time(59),
        **more,
    )


def a_run(number: int, status: RunStatus, error: tuple[str, str] | None = None) -> RunRecord:
    code, message = error or (None, None)
    return RunRecord(
        id=f"run-{number}",
        conversation_id="01a00000-0000-7000-8000-000000000001",
        kind=RunKind.MESSAGE,
        status=status,
        error_code=code,
        error_message=message,
        engine="ollama",
        model=MODEL,
        prompt_sha256=None,
        started_at=a_time(0),
        finished_at=None if status.is_active else a_time(5 * number + 9),
    )


def question(number: int, text: str, run: int = 1) -> Message:
    return Message(f"m{number}", Role.USER, text, at=a_time(number), run_id=f"run-{run}")


def answer(number: int, text: str, run: int = 1, **more: Any) -> Message:
    return Message(
        f"m{number}", Role.ASSISTANT, text, at=a_time(number), model=MODEL, run_id=f"run-{run}", **more
    )


def result(
    number: int,
    call: str,
    text: str,
    status: ToolStatus = ToolStatus.OK,
    args: Mapping[str, Any] | None = None,
    run: int = 1,
) -> Message:
    return Message(
        f"m{number}",
        Role.TOOL,
        text,
        tool_call_id=call,
        tool_status=status,
        at=a_time(number),
        run_id=f"run-{run}",
        sent_args=args,
    )


def an_attempt(
    call: str, tool: str, args: Mapping[str, Any], attempt: int = 1, finished_at: str | None = None
) -> ToolAttempt:
    return ToolAttempt(
        tool_call_id=call,
        attempt=attempt,
        run_id="run-1",
        server="files",
        tool=tool,
        args=args,
        state="started" if finished_at is None else "finished",
        started_at="2026-10-01T10:00:03.000Z",
        finished_at=finished_at,
        is_error=False,
        result=None,
    )


CODE_IN_CODE = """Put it into your README:

````markdown
# Usage

```python
print("```")
```
````

and `` `tick` `` stays as it is."""

TABLE = """| order | sum |
|:------|----:|
| 4711  | 12.50 |
| `a|b` | *none* |"""

RIGHT_TO_LEFT = """## التقرير

مرحبًا، هذا **تقرير** قصير: `total = 12`.

1. أولًا
2. שלום עולם"""


def texts() -> Transcript:
    """What people and models write, and how runs end."""
    messages = [
        question(1, "How do I show code?\n\n    an indented line\n# not a title of ours"),
        answer(
            2,
            CODE_IN_CODE,
            thinking="They want *nested* fences.\n\n```python\nwhat = 'stays open'",
        ),
        question(3, "كيف حالك؟ \u202eمقلوب\u202c"),
        answer(4, RIGHT_TO_LEFT),
        question(5, "A table"),
        answer(6, TABLE),
        question(11, "A long story", run=2),
        answer(12, "Once upon a time:\n\n```text\nthe fence was", 2, state=MessageState.INCOMPLETE),
        question(21, "Are you there?", run=3),
        question(31, "Another one", run=4),
        answer(32, "It was a <details><summary>dark", 4, state=MessageState.STOPPED),
        question(41, "And now?", run=6),
        answer(42, "", 6),
    ]
    runs = [
        a_run(1, RunStatus.COMPLETED),
        a_run(
            2, RunStatus.FAILED, ("STREAM_INCOMPLETE", "The answer is incomplete: it ended\nearly. Resume")
        ),
        a_run(
            3,
            RunStatus.FAILED,
            ("ENGINE_UNREACHABLE", "Nobody answers at http://127.0.0.1:11434. Start it with `ollama serve`"),
        ),
        a_run(4, RunStatus.CANCELLED),
        a_run(5, RunStatus.INTERRUPTED),
        a_run(6, RunStatus.CANCELLED),
        a_run(7, RunStatus.RUNNING),
    ]
    conversation = a_conversation("How do I show *code*? #", metadata={"tags": ["help", "`odd`"]})
    return Transcript(conversation, messages, runs, [])


def tools() -> Transcript:
    """Calls and what becomes of them."""
    image = to_tool_result(
        CallToolResult(
            content=[
                TextContent(type="text", text="The picture:"),
                ImageContent(type="image", data="AAAA" * 4000, mimeType="image/png"),
            ]
        )
    )
    read = {"path": "notes.md", "names": ["è", "```"]}
    calls = (
        ToolCall("m2:0", "files", "read", read),
        ToolCall("m2:1", "files", "write", {"path": "/etc/passwd"}),
        ToolCall("m2:2", "files", "draw", {}),
        ToolCall("m2:3", "files", "remove", {"path": "old"}),
        ToolCall("m2:4", "", "made up", {}),
        ToolCall("m2:5", "files", "send", {"to": "all"}),
        ToolCall("m2:6", "files", "lost", {}),
    )
    messages = [
        question(1, "Look at my notes"),
        answer(2, "I look.", thinking="Which file?", tool_calls=calls),
        result(3, "m2:0", "# Notes\n\n````python\nx = 1\n````\n", args=read),
        result(4, "m2:1", "No right to write", ToolStatus.ERROR, {"path": "/tmp/passwd"}),
        result(5, "m2:2", image.text, args={}),
        result(6, "m2:3", "The user chose not to repeat it.", ToolStatus.SKIPPED, {"path": "old"}),
        result(7, "m2:4", "There is no tool called made up.", ToolStatus.ERROR, {}),
        result(8, "m2:5", "The user said no.", ToolStatus.DENIED, {"to": "all"}),
        result(9, "m2:6", "Whether it took effect is unknown.", ToolStatus.INTERRUPTED, {}),
        result(10, "x:0", "An answer to nobody", args={"why": None}),
        answer(11, "", tool_calls=(ToolCall("m11:0", "files", "list", {"deep": True}),)),
        question(12, "Once more", run=2),
        answer(13, "Wait.", 2, tool_calls=(ToolCall("m13:0", "files", "list", {"deep": False}),)),
    ]
    attempts = [
        an_attempt("m2:0", "read", read, finished_at="2026-10-01T10:00:03.120Z"),
        an_attempt("m2:1", "write", {"path": "/tmp/passwd"}, finished_at="2026-10-01T10:01:15.000Z"),
        an_attempt("m2:2", "draw", {}),
        an_attempt("m2:2", "draw", {}, attempt=2, finished_at="2026-10-01T10:00:04.500Z"),
        an_attempt("m2:3", "remove", {"path": "old"}),
        an_attempt("m2:6", "lost", {}),
    ]
    runs = [a_run(1, RunStatus.COMPLETED), a_run(2, RunStatus.WAITING)]
    return Transcript(a_conversation("Tools"), messages, runs, attempts)


def odd() -> Transcript:
    """Texts that no editor would let through, and a run without a message."""
    messages = [
        question(1, "One\r\nTwo\rThree\x00\x1b[31mred\x7f\x9b31m \ud83d half"),
        answer(2, "<!-- a comment\n\nthat stays open", thinking="<textarea>"),
        question(3, "\n\n<script>\nalert(1)\n\n# gone?"),
        answer(4, "~~~~\n```\n~~~\n"),
        answer(5, "- a list\n\n  ```\n  in the list"),
        answer(6, "> a quote\n> ```\n> in the quote"),
        answer(7, "List<String> and a <br> and <div>open"),
        answer(8, "Line\u2028separator\u2029and\u0085next"),
    ]
    runs = [a_run(9, RunStatus.FAILED, ("AGENT_FAILURE", "It *failed*: <b>[x](y)</b> &amp; __a_b__"))]
    return Transcript(a_conversation("  ## Two\nlines  `x` <y> ##"), messages, runs, [])


SAMPLES = {"texts": texts, "tools": tools, "odd": odd}


def document(transcript: Transcript) -> bytes:
    """What a file of it holds."""
    return "".join(markdown_document(transcript)).encode("utf-8")


def main(names: Sequence[str]) -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name in names:
        (GOLDEN / f"{name}.md").write_bytes(document(SAMPLES[name]()))


if __name__ == "__main__":
    main(tuple(SAMPLES))
