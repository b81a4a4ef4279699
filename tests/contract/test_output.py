"""The shapes of text output, without a program."""

import io
from collections.abc import Sequence
from typing import Any

import pytest

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.output import (
    Style,
    arguments,
    json_line,
    moment,
    one_line,
    short_ids,
    size,
    table,
)
from sophos_desktop.cli.views import trace_tree
from sophos_desktop.core.domain.durations import between, duration
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.runs.following import current_sitting

PLAIN, COLOURED = Style(coloured=False), Style(coloured=True)


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_shortest_ending_that_is_unique_names_an_id() -> None:
    ids = ["01a2-aaaa-1111", "01a2-bbbb-2222"]
    assert short_ids(ids, ids) == {ids[0]: "1111", ids[1]: "2222"}
    assert short_ids(ids[:1], [*ids, "01a2-cccc-1111"]) == {ids[0]: "a1111"}
    assert short_ids([], []) == {}


def test_an_ending_that_begins_another_id_is_not_unique() -> None:
    ids = ["0000-1111", "1111-2222"]
    assert short_ids(ids[:1], ids) == {ids[0]: "01111"}


def test_a_call_keeps_the_dashes_of_its_id() -> None:
    ids = ["ab-cd:0", "ab-cd:1"]
    assert short_ids(ids, ids, compact=False) == {ids[0]: "cd:0", ids[1]: "cd:1"}


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = table(("A", "B", "C"), [("xx", "日本", "1"), ("y", "z", "")], PLAIN)
    assert lines == ["A   B     C", "xx  日本  1", "y   z"]
    assert table(("A",), [], PLAIN) == []
    assert table(("A",), [("x",)], COLOURED)[0] == "\x1b[1mA\x1b[0m"


def test_values_are_put_into_words() -> None:
    assert [duration(value) for value in (None, 12, 1500, 125_000)] == ["", "12 ms", "1.5 s", "2 min 5 s"]
    sizes = [size(value) for value in (12, 1_500, 98_363_032, 2_000_000_000)]
    assert sizes == ["12 B", "1.5 kB", "98.4 MB", "2.0 GB"]
    assert moment("2026-11-30T14:07:33.286Z") == "2026-11-30T14:07:33Z"
    assert moment(None) == ""
    assert between("2026-11-30T14:07:33.286Z", "2026-11-30T14:07:34.000Z") == 714
    assert between("2026-11-30T14:07:33.286Z", None) is None
    assert one_line(" a\n  b\tc ") == "a b c"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"
    assert arguments({"text": "é"}) == '{"text": "é"}'


def test_json_survives_every_locale() -> None:
    assert json_line({"a": "é \ud800"}) == '{"a": "\\u00e9 \\ud800"}'


@pytest.mark.parametrize(
    ("running", "kinds", "from_index"),
    [
        (True, ["run_started", "step"], 0),
        (False, ["run_started", "step", "end"], 0),
        (False, ["run_started", "end", "run_started", "end"], 2),
        (True, ["run_started", "end", "run_started"], 2),
        (True, ["run_started", "end"], 2),
        (False, ["run_started", "end", "run_started", "step"], 2),
        (False, ["run_started", "end", "recovered", "end"], 2),
        (True, [], 0),
    ],
)
def test_who_follows_a_run_sees_its_current_sitting(
    running: bool, kinds: Sequence[str], from_index: int
) -> None:
    events = [{"type": kind} for kind in kinds]
    assert current_sitting(events, running=running) == events[from_index:]


def test_a_step_that_was_cut_off_shows_in_the_tree() -> None:
    record = RunRecord(
        id="run",
        conversation_id="conversation",
        kind=RunKind.MESSAGE,
        status=RunStatus.INTERRUPTED,
        error_code=None,
        error_message=None,
        engine=None,
        model=None,
        prompt_sha256=None,
        started_at="2026-11-30T14:07:33.286Z",
        finished_at=None,
    )
    started = {"type": "step", "step": 2, "node": "tools", "phase": "started", "duration_ms": None}
    call = {"tool_call_id": "c", "server": "s", "tool": "t", "args": {}, "attempt": 2}
    told: list[dict[str, Any]] = [
        {"type": "run_started", "kind": "message", "engine": None, "model": None},
        started,
        {"type": "tool_call", **call},
        started,
        {"type": "recovered", "what": "it was interrupted"},
        {"type": "end", "status": "interrupted", "error_code": None, "resumable": True},
    ]
    envelope = {"v": 1, "run_id": "run", "at": "2026-11-30T14:07:33.286Z"}
    events = [{**envelope, "seq": seq, **event} for seq, event in enumerate(told, start=1)]
    assert trace_tree(record, events, PLAIN) == [
        "run run  message  interrupted  2026-11-30T14:07:33Z",
        "  message begins with no engine yet",
        "  step 2 tools  not finished",
        "    call s.t {} (attempt 2, interrupted, 14:07:33–?)",
        "    recovered it was interrupted",
        "    end interrupted  (can be resumed)",
    ]


async def test_terminals_get_our_colours_and_no_other_control_characters() -> None:
    out, err = Terminal(), Terminal()
    console = Console(None, out, err, {})
    assert console.coloured
    await console.out("\x1b[1mtitle\x1b[0m \x1b]0;evil\x07 \x9b2J a\tb\r\nc")
    await console.note("\x1b[2Jcleared")
    console.close()
    mark = "\N{REPLACEMENT CHARACTER}"
    assert out.getvalue() == f"\x1b[1mtitle\x1b[0m {mark}]0;evil{mark} {mark}2J a\tb\nc"
    assert err.getvalue() == f"{mark}[2Jcleared\n"


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_refused(environ: dict[str, str]) -> None:
    assert not Console(None, Terminal(), None, environ).coloured


def test_an_empty_no_color_refuses_nothing() -> None:
    assert Console(None, Terminal(), None, {"NO_COLOR": ""}).coloured
    assert not Console(None, io.StringIO(), None, {}).coloured


async def test_streams_that_are_missing_cost_nothing() -> None:
    console = Console(None, None, None, {})
    await console.out("text")
    await console.note("note")
    console.out_now("text")
    console.note_now("note")
    assert not console.can_ask
    assert await console.ask("? ") is None
    with pytest.raises(SophosError) as refused:
        await console.read_all()
    assert refused.value.code is ErrorCode.BAD_REQUEST
