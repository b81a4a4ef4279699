"""`make bench`: the budgets of the design as a table, each figure beside a peer or a floor.

Figures are of this machine and this minute; the ratios are what lasts.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.exporting import words_export
from tests.benchmarks.memory_server import ten_thousand_entities
from tests.benchmarks.rows import Row, table
from tests.benchmarks.sessions import kept_and_started
from tests.benchmarks.starting import start_and_memory
from tests.benchmarks.storing import growth, step_time
from tests.benchmarks.streaming import per_token
from tests.benchmarks.theming import theme_switch
from tests.benchmarks.tool_calls import overhead
from tests.benchmarks.transcript import transcript


def main() -> int:
    """Measure all and print the table; 1 if a budget is not kept."""
    rows: list[Row] = []
    for name, work in (
        ("the window", start_and_memory),
        ("the theme", theme_switch),
        ("time of a step", step_time),
        ("streaming", per_token),
        ("the transcript", transcript),
        ("tool calls", overhead),
        ("tool servers", kept_and_started),
        ("the memory server", ten_thousand_entities),
        ("growth", growth),
        ("exports", words_export),
    ):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="sophos-bench-") as folder:
            rows += asyncio.run(work(Path(folder)))
        print(f"measured {name} in {time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
    print(table(rows))
    return 1 if any(row.verdict == "OVER" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
