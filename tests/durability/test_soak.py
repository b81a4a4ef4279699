"""A short soak of the tool host, and that its judge sees what it is to see; `make soak` is the long one."""

import os
import random
from pathlib import Path

import pytest

from tests.durability.soak import AT_A_TIME, soak
from tests.durability.soak_report import Outcome, Report, Sample
from tests.durability.soak_servers import Planned, Request, SecondLines

CALLS = 120


async def test_under_kills_cancellations_and_time_outs_every_call_has_one_outcome_that_the_disk_bears_out(
    tmp_path: Path,
) -> None:
    seed = os.environ.get("SOPHOS_TEST_SEED") or str(random.SystemRandom().randrange(10**6))
    report = await soak(CALLS, seed, tmp_path)
    print(report.block())
    assert report.problems == []


@pytest.mark.parametrize(
    ("outcomes", "on_disk", "problem"),
    [
        ([Outcome.RESULT], ["call 0"], None),
        ([Outcome.LOST], [], None),
        ([Outcome.CANCELLED], ["call 0"], None),
        ([Outcome.RESULT], [], "s: call 0 has a result and is not on the disk"),
        ([Outcome.DOWN], ["call 0"], "s: call 0 is on the disk, and was told not to be sent"),
        ([Outcome.LOST], ["call 0", "call 0"], "s: call 0 is on the disk 2 times"),
        ([Outcome.RESULT], ["call 0", "call 9"], "s: 'call 9' is on the disk and was never asked for"),
        ([], [], "call 0 of s: no outcome"),
        ([Outcome.RESULT, Outcome.LOST], ["call 0"], "call 0 of s: result, call lost"),
        ([Outcome.HUNG], [], "call 0 of s: hung"),
    ],
)
def test_what_a_caller_was_told_is_held_against_the_disk(
    outcomes: list[Outcome], on_disk: list[str], problem: str | None, tmp_path: Path
) -> None:
    report = _judged(tmp_path, outcomes, on_disk, killed=True)
    assert report.problems == ([] if problem is None else [problem])


def test_a_server_that_nobody_killed_may_not_be_down(tmp_path: Path) -> None:
    report = _judged(tmp_path, [Outcome.DOWN], [], killed=False)
    assert report.problems == ["s: was down for call 0, and nobody killed it"]


def test_growth_is_seen_where_the_last_tenth_lies_above_the_second() -> None:
    report = _report(calls=2000)
    report.samples = [Sample(100_000_000 + n * 100_000, 20 + n // 20) for n in range(200)]
    report.judge([], [])
    assert report.problems[:2] == ["the memory grew by 16.0 MB", "the descriptors grew from 21 to 29"]
    assert report.problems[2:] == ["only 0 of 2000 calls had a result"]


def _judged(folder: Path, outcomes: list[Outcome], on_disk: list[str], *, killed: bool) -> Report:
    server = SecondLines(folder, "s")
    server.killed = killed
    Path(server.file).write_text("".join(f"{line}\n" for line in on_disk))
    report = _report(calls=0)
    for outcome in outcomes:
        report.record(0, outcome)
    report.judge([server], [Planned(0, server, Request("append_line", {}, "call 0"), None)])
    return report


def _report(calls: int) -> Report:
    report = Report(calls, "1", AT_A_TIME)
    report.kills["s"] = 1
    return report
