"""One line of the table that `make bench` prints."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A figure beside its peer or floor, measured in the same run, and the budget of the design."""

    what: str
    ours: float
    unit: str
    budget: float | None
    peer: str = ""
    peer_value: float | None = None
    at_least: bool = False
    """True if the budget is a lower bound."""

    def cells(self) -> tuple[str, ...]:
        """The row as texts."""
        ratio = "" if not self.peer_value else f"{self.ours / self.peer_value:.3g} ×"
        peer = "" if self.peer_value is None else f"{self.peer_value:.4g} {self.unit} ({self.peer})"
        sign = "≥" if self.at_least else "≤"
        budget = "" if self.budget is None else f"{sign} {self.budget:g} {self.unit}"
        return self.what, f"{self.ours:.4g} {self.unit}", peer, ratio, budget, self.verdict

    @property
    def verdict(self) -> str:
        """`ok`, `OVER`, or nothing where there is no budget."""
        if self.budget is None:
            return ""
        kept = self.ours >= self.budget if self.at_least else self.ours <= self.budget
        return "ok" if kept else "OVER"


def median_ms(seconds: Sequence[float]) -> float:
    """The median of durations, in milliseconds."""
    return statistics.median(seconds) * 1000


def table(rows: Sequence[Row]) -> str:
    """All rows in columns."""
    head = ("what", "ours", "beside it", "ratio", "budget", "")
    lines = [head, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
