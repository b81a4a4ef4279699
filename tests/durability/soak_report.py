"""What happened in a soak, and whether it may have: each broken rule is a sentence.

Invariant: judges by what the callers were told and by what is on the disk, never by the host's own word.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tests.durability.soak_servers import Planned, SoakServer

FLAT_FROM_CALLS = 1000
"""Growth is judged from so many calls on: before, caches are still filling and a tenth is a few samples."""
MEMORY_TOLERANCE_BYTES = 8_000_000
DESCRIPTORS_TOLERANCE = 6
"""What a server in the middle of its restart, or a few more calls over HTTP, hold more or less."""
RESULTS_SHARE = 0.6
"""At least so many calls must have a result, or the soak has only seen servers that were down."""


class Outcome(Enum):
    """What a call may come to. `HUNG` may not be."""

    RESULT = "result"
    ERROR = "error result"
    DOWN = "server down"
    LOST = "call lost"
    CANCELLED = "cancelled by us"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class Sample:
    """This process at one moment."""

    memory_bytes: int
    descriptors: int


@dataclass(slots=True)
class Report:
    """One soak, while it runs and afterwards."""

    calls: int
    seed: str
    at_a_time: int
    seconds: float = 0.0
    outcomes: dict[int, list[Outcome]] = field(default_factory=dict)
    recorded: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    kills_missed: int = 0
    samples: list[Sample] = field(default_factory=list)
    starts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    """What was said of calls without a result."""
    gone: dict[str, int] = field(default_factory=dict)
    """What went away and was not killed, and after how many calls it did so for the first time."""

    def record(self, number: int, outcome: Outcome) -> None:
        """A call has come to something."""
        self.outcomes.setdefault(number, []).append(outcome)
        self.recorded += 1

    @property
    def counts(self) -> Counter[Outcome]:
        """How often each outcome came."""
        return Counter(outcome for outcomes in self.outcomes.values() for outcome in outcomes)

    def judge(self, servers: Sequence[SoakServer], planned: Sequence[Planned]) -> None:
        """Fill `problems` and `written`; the host is closed."""
        self.problems += self._not_once(planned)
        for server in servers:
            self._judge_marks(server, [call for call in planned if call.server is server])
        self.problems += [f"after {calls} calls {what}" for what, calls in self.gone.items()]
        self.problems += self._grown()
        self.problems += [f"left behind: {what}" for what in self.left]
        self.problems += [f"said in the log: {line}" for line in self.said]
        if not self.kills.total():
            self.problems.append("no server was killed")
        if self.counts[Outcome.RESULT] < RESULTS_SHARE * self.calls:
            self.problems.append(f"only {self.counts[Outcome.RESULT]} of {self.calls} calls had a result")

    def _not_once(self, planned: Sequence[Planned]) -> list[str]:
        problems = []
        for call in planned:
            outcomes = self.outcomes.get(call.number, [])
            if len(outcomes) != 1 or outcomes[0] is Outcome.HUNG:
                told = ", ".join(outcome.value for outcome in outcomes) or "no outcome"
                problems.append(f"call {call.number} of {call.server.name}: {told}")
        return problems

    def _judge_marks(self, server: SoakServer, planned: Sequence[Planned]) -> None:
        """Hold what the callers were told against the disk."""
        found = server.marks()
        wanted = {call.request.mark: self.outcomes.get(call.number, []) for call in planned}
        wanted.pop(None, None)
        for mark, outcomes in wanted.items():
            if Outcome.RESULT in outcomes and not found[str(mark)]:
                self.problems.append(f"{server.name}: {mark} has a result and is not on the disk")
            if Outcome.DOWN in outcomes and not server.killed:
                self.problems.append(f"{server.name}: was down for {mark}, and nobody killed it")
            if Outcome.DOWN in outcomes and found[str(mark)]:
                self.problems.append(f"{server.name}: {mark} is on the disk, and was told not to be sent")
        for mark, times in found.items():
            if times > 1:
                self.problems.append(f"{server.name}: {mark} is on the disk {times} times")
            if mark not in wanted:
                self.problems.append(f"{server.name}: {mark!r} is on the disk and was never asked for")
        sure = sum(Outcome.RESULT in outcomes for outcomes in wanted.values())
        self.written.append(f"{server.name} {len(found)} ({sure} with a result, {len(wanted)} asked for)")

    def medians(self) -> tuple[Sample, Sample]:
        """The medians of the second and of the last tenth of the samples."""
        tenth = max(1, len(self.samples) // 10)
        return _median(self.samples[tenth : 2 * tenth]), _median(self.samples[-tenth:])

    def _grown(self) -> list[str]:
        early, late = self.medians()
        problems = []
        grown_bytes = late.memory_bytes - early.memory_bytes
        if self.calls < FLAT_FROM_CALLS:
            return []
        if grown_bytes > MEMORY_TOLERANCE_BYTES:
            problems.append(f"the memory grew by {grown_bytes / 1e6:.1f} MB")
        if late.descriptors - early.descriptors > DESCRIPTORS_TOLERANCE:
            problems.append(f"the descriptors grew from {early.descriptors} to {late.descriptors}")
        return problems

    def block(self) -> str:
        """The figures, for people."""
        counts = self.counts
        early, late = self.medians()
        judged = f"at most +{MEMORY_TOLERANCE_BYTES / 1e6:g} MB and +{DESCRIPTORS_TOLERANCE}"
        if self.calls < FLAT_FROM_CALLS:
            judged = f"not judged below {FLAT_FROM_CALLS} calls"
        lines = [
            f"soak: {self.recorded} calls, {self.at_a_time} at a time, in {self.seconds:.1f} s",
            f"  repeat it with SEED={self.seed}",
            "  outcomes: " + ", ".join(f"{outcome.value} {counts[outcome]}" for outcome in Outcome),
            f"  killed: {_listed(self.kills)} ({self.kills_missed} kills found no process)",
            f"  started: {_listed(self.starts)}",
            f"  on the disk: {'; '.join(self.written)}",
            f"  memory: {early.memory_bytes / 1e6:.1f} → {late.memory_bytes / 1e6:.1f} MB, "
            f"descriptors: {early.descriptors} → {late.descriptors} ({judged})",
            f"  left behind (processes, tasks, threads, descriptors): {len(self.left)}",
        ]
        lines += [f"  said {times} times: {words}" for words, times in self.words.most_common(8)]
        shown = [f"  WRONG: {problem}" for problem in self.problems[:20]]
        if len(self.problems) > len(shown):
            shown.append(f"  and {len(self.problems) - len(shown)} more")
        return "\n".join([*lines, *(shown or ["  all is well"])])


def _median(samples: Sequence[Sample]) -> Sample:
    if not samples:
        return Sample(0, 0)
    memory_bytes = statistics.median(sample.memory_bytes for sample in samples)
    descriptors = statistics.median(sample.descriptors for sample in samples)
    return Sample(round(memory_bytes), round(descriptors))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
