"""The conversations that are in the pictures: what was said, which tools were called, how long it took.

Invariant: every time is fixed, so that the same picture comes out each day.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sophos_desktop.core.domain.conversation import (
    AttachmentRef,
    Message,
    MessageState,
    Role,
    ToolCall,
    ToolStatus,
)
from sophos_desktop.core.domain.events import (
    Event,
    MessageStored,
    ModelCallFinished,
    Notice,
    RunEvent,
    RunStarted,
    SittingEnded,
    StepEvent,
    ToolCallFinished,
    ToolCallStarted,
    Usage,
)
from sophos_desktop.core.domain.model_choices import ContextUse
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.foundation.clock import to_text
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import record, server, user

NOW = datetime(2026, 11, 30, 10, 45, tzinfo=UTC)
MODEL = "qwen3:8b"
TOTALS = "Monthly order totals"
DECIMALS = "Why the totals differ"
STOPPED = "Yearly file"
FAILED = "Step limit"
_EARLIER = (
    ("Release checklist 2.4", timedelta(days=4)),
    ("Unit tests for the invoice parser", timedelta(days=9)),
    ("Names for the backup job", timedelta(days=10)),
    ("Regex for ISO dates", timedelta(days=6)),
    ("Plum cake, halved", timedelta(days=4)),
    ("SQL window functions by example", timedelta(days=3)),
    ("Reply to the landlord", timedelta(days=1, hours=-7)),
    ("Why does the build cache miss", timedelta(days=1)),
    ("Shorter subject lines", timedelta(hours=2)),
    ("Compare two JSON schemas", timedelta(hours=1)),
)

_SEARCH = ToolCall("m1:0", "memory", "search_nodes", {"query": "orders.csv"})
_OPEN = ToolCall("m1:1", "memory", "open_nodes", {"names": ["orders.csv"]})
_ORDERS = AttachmentRef("0" * 64, "orders.csv", "text/csv", 18_000)
_NODES = (
    '{"entities": [{"name": "orders.csv", "observations": '
    '["delimiter ;", "decimal comma", "encoding cp1252"]}]}'
)
_ANSWER = """## Totals per month

The file uses semicolons, a decimal comma and Windows-1252, so the defaults of `csv` misread it. \
Two choices make it safe:

- `DictReader` files the stray last field under `None`.
- `Decimal` keeps the cents exact where `float` drifts.

```python
with open("orders.csv", encoding="cp1252", newline="") as file:
    for row in csv.DictReader(file, delimiter=";"):
        net = row["net"].replace(".", "").replace(",", ".")
        totals[row["date"][:7]] += Decimal(net)  # "2026-10"
```

| Field | In the file | After parsing |
|---|---|---|
| `date` | 2026-10-03 | 2026-10 |
| `net` | 1.234,50 | 1234.50 |
"""
_EVERYTHING = """# Heading one

## Heading two

### Heading three

A binary `float` cannot hold 0.1 exactly, and 412 small errors add up. Prices such as $24000 and $40000 \
stay text. See [the decimal module](https://docs.example.org/decimal) for the rules of rounding[^1].

1. Parse each amount once.
   - Drop the thousands dot.
   - Turn the comma into a dot.
2. Add with `Decimal`.

- [x] Read the file with `cp1252`
- [ ] Compare with the invoice

> The exact sum is a property of the type, not of the format.

```diff
- total = sum(float(row["net"]) for row in rows)
+ total = sum(Decimal(row["net"]) for row in rows)
```

| Month | Orders | Net, float | Net, Decimal |
|---|---:|---:|---:|
| 2026-09 | 412 | 48,210.4999997 | 48,210.50 |
| 2026-10 | 398 | 51,774.0500002 | 51,774.05 |

$$s = \\sum_{i=1}^{n} x_i$$

النص العربي يبدأ من اليمين

---

![chart](https://img.example.org/chart.png)

[^1]: Half to even, unless the context says otherwise.
"""


def core_of_pictures() -> FakeCore:
    """A core with a list as it looks after some weeks."""
    core = FakeCore()
    core.servers.set(
        server("memory", ServerState.READY, 9),
        server("files", ServerState.READY, 4),
        server("fetch", ServerState.READY, 1),
    )
    for title, ago in _EARLIER:
        _at(core, title, NOW - ago, user("…"))
    _tell_failed(core)
    _tell_stopped(core)
    _tell_decimals(core)
    _tell_totals(core)
    core.models.uses = dict.fromkeys(core.conversations.known, ContextUse(2_914, 186, 16_384))
    return core


def conversation_called(core: FakeCore, title: str) -> str:
    """Its id."""
    return next(one.id for one in core.conversations.known.values() if one.title == title)


def _at(core: FakeCore, title: str, when: datetime, *messages: Message, **more: Any) -> str:
    core.clock.moment = when - timedelta(minutes=1)  # it goes on by a minute at each look
    return core.conversations.add(title, *messages, **more)


def _tell_totals(core: FakeCore) -> None:
    began = NOW - timedelta(minutes=3)
    at = to_text(began)
    run = replace(
        record("", "r1", RunStatus.COMPLETED),
        started_at=at,
        finished_at=to_text(began + timedelta(seconds=8.4)),
    )
    ok = ToolStatus.OK
    _at(
        core,
        TOTALS,
        began,
        Message("u1", Role.USER, "Total orders.csv per month. Same layout as last time.", at=at, run_id="r1"),
        Message("m1", Role.ASSISTANT, "", "Its layout is in memory.", (_SEARCH, _OPEN), at=at, run_id="r1"),
        Message("t1", Role.TOOL, '["orders.csv"]', tool_call_id=_SEARCH.id, tool_status=ok, run_id="r1"),
        Message("t2", Role.TOOL, _NODES, tool_call_id=_OPEN.id, tool_status=ok, run_id="r1"),
        Message("m2", Role.ASSISTANT, _ANSWER, at=at, model=MODEL, run_id="r1"),
        last_run=run,
    )
    asked = Message("m1", Role.ASSISTANT, "", "Its layout is in memory.", (_SEARCH, _OPEN))
    question = Message("u1", Role.USER, "Total orders.csv per month. Same layout as last time.")
    steps: tuple[tuple[float, Event], ...] = (
        (0, RunStarted("c", "message", "ollama", MODEL)),
        (0, MessageStored(question)),
        (0, StepEvent(1, "agent", "started")),
        (3.9, ModelCallFinished(1, "m1", 0, 900, 2600, 400, 1000, 80)),
        (3.9, StepEvent(1, "agent", "finished", 3900, "1f0b3c63-f1c2-6aa0-8001-2f63a1c0b7d4")),
        (3.9, MessageStored(asked)),
        (3.9, StepEvent(2, "tools", "started")),
        (3.9, ToolCallStarted(_SEARCH.id, "memory", "search_nodes", _SEARCH.args, 1)),
        (3.909, ToolCallFinished(_SEARCH.id, "ok", '["orders.csv"]', 9, recorded=False)),
        (3.909, ToolCallStarted(_OPEN.id, "memory", "open_nodes", _OPEN.args, 1)),
        (3.918, ToolCallFinished(_OPEN.id, "ok", _NODES, 9, recorded=False)),
        (3.918, StepEvent(2, "tools", "finished", 18, "1f0b3c64-8d1a-6c1e-8002-9be04d5f1a22")),
        (3.92, StepEvent(3, "agent", "started")),
        (8.4, ModelCallFinished(3, "m2", 0, 200, 0, 4300, 1914, 332)),
        (8.4, StepEvent(3, "agent", "finished", 4500, "1f0b3c64-b70f-61f4-8003-5d1c9a3e8f60")),
        (8.4, SittingEnded("completed", None, None, False, Usage(2914, 412, 2, 2))),
    )
    core.conversations.traces["r1"] = _told("r1", began, steps)
    core.trust.given["memory"] = Trust.BUILT_IN
    _add_runs_before(core, conversation_called(core, TOTALS), began)


def _add_runs_before(core: FakeCore, conversation_id: str, began: datetime) -> None:
    """Two more runs in the trace, a minute apart; what they did is read when they are opened."""
    for run_id, minutes, took in (("r1a", 2, 2.7), ("r1b", 1, 6.1)):
        start = began - timedelta(minutes=minutes)
        run = replace(
            record(conversation_id, run_id, RunStatus.COMPLETED),
            started_at=to_text(start),
            finished_at=to_text(start + timedelta(seconds=took)),
        )
        core.runs.records.setdefault(conversation_id, {})[run_id] = run
        steps: tuple[tuple[float, Event], ...] = (
            (0, RunStarted("c", "message", "ollama", MODEL)),
            (0, StepEvent(1, "agent", "started")),
            (took, StepEvent(1, "agent", "finished", round(took * 1000))),
        )
        core.conversations.traces[run_id] = _told(run_id, start, steps)


def _tell_decimals(core: FakeCore) -> None:
    began = NOW - timedelta(minutes=20)
    at, ended = to_text(began), to_text(began + timedelta(seconds=12.7))
    call = ToolCall("d1:0", "memory", "add_observations", {"query": "orders.csv"})
    run = replace(record("", "r4", RunStatus.COMPLETED), started_at=at, finished_at=ended)
    question = (
        "Why do the totals differ by a few cents? "
        "The invoice says 1.234,50 but the script prints 1234.499999."
    )
    thought = "float cannot hold 0.1 exactly, so the sum drifts. Decimal does not."
    _at(
        core,
        DECIMALS,
        began,
        Message("d0", Role.USER, question, at=at, run_id="r4", attachments=(_ORDERS,)),
        Message("d1", Role.ASSISTANT, "", thought, (call,), at=at, run_id="r4"),
        Message("d2", Role.TOOL, "Noted.", tool_call_id=call.id, tool_status=ToolStatus.OK, run_id="r4"),
        Message("d3", Role.ASSISTANT, _EVERYTHING, at=at, model=MODEL, run_id="r4"),
        last_run=run,
    )
    steps: tuple[tuple[float, Event], ...] = (
        (0, RunStarted("c", "message", "ollama", MODEL)),
        (0, StepEvent(1, "agent", "started")),
        (4.1, ModelCallFinished(1, "d1", 0, 300, 4100, 200, 900, 60)),
        (4.1, StepEvent(1, "agent", "finished", 4100)),
        (4.1, MessageStored(Message("d1", Role.ASSISTANT, "", thought, (call,)))),
        (4.2, StepEvent(2, "tools", "started")),
        (4.2, ToolCallStarted(call.id, "memory", "add_observations", call.args, 1)),
        (4.208, ToolCallFinished(call.id, "ok", "Noted.", 8, recorded=False)),
        (4.21, StepEvent(2, "tools", "finished", 10)),
        (4.21, StepEvent(3, "agent", "started")),
        (12.7, ModelCallFinished(3, "d3", 0, 200, 0, 8290, 1200, 388)),
        (12.7, StepEvent(3, "agent", "finished", 8490)),
        (12.7, SittingEnded("completed", None, None, False, Usage(2100, 448, 2, 1))),
    )
    core.conversations.traces["r4"] = _told("r4", began, steps)


def _tell_stopped(core: FakeCore) -> None:
    began = NOW - timedelta(minutes=25)
    at = to_text(began)
    left_out = "Two older messages were left out of the prompt: they did not fit its 16k."
    _at(
        core,
        STOPPED,
        began,
        Message("u9", Role.USER, "And the same for the yearly file?", at=at, run_id="r2"),
        Message(
            "m9",
            Role.ASSISTANT,
            "The yearly file has the same layout, so the same code reads it. Only the",
            state=MessageState.STOPPED,
            model=MODEL,
            run_id="r2",
            at=at,
        ),
        last_run=record("", "r2", RunStatus.CANCELLED, unfinished=True),
    )
    steps: tuple[tuple[float, Event], ...] = (
        (0, RunStarted("c", "message", "ollama", MODEL)),
        (0.1, Notice("CONTEXT_TRIMMED", left_out)),
        (0.5, ModelCallFinished(1, "m9", 0, 1, 0, 400, 100, 21)),
    )
    core.conversations.traces["r2"] = _told("r2", began, steps)


def _tell_failed(core: FakeCore) -> None:
    call = ToolCall("m7:0", "files", "read_file", {"path": "orders/2026.csv"})
    message = "The step limit was reached. 25 steps ran. Continue gives the run 25 more."
    _at(
        core,
        FAILED,
        NOW - timedelta(minutes=40),
        Message("u7", Role.USER, "Go through all files and list their columns", run_id="r3"),
        Message("m7", Role.ASSISTANT, "I begin with the first one.", tool_calls=(call,), run_id="r3"),
        Message(
            "t7",
            Role.TOOL,
            "Permission denied: orders/2026.csv",
            tool_call_id=call.id,
            tool_status=ToolStatus.ERROR,
            run_id="r3",
        ),
        last_run=record("", "r3", RunStatus.FAILED, "RECURSION_LIMIT", message, unfinished=True),
    )


def _told(run_id: str, began: datetime, steps: tuple[tuple[float, Event], ...]) -> list[dict[str, Any]]:
    return [
        RunEvent(run_id, seq, to_text(began + timedelta(seconds=seconds)), event).to_json()
        for seq, (seconds, event) in enumerate(steps, start=1)
    ]
