"""Checkpoints as JSON lines.

Invariant: one object a line, ended by LF, in ASCII: a text may hold what some readers take for the end of a
line, and half of a surrogate pair, and either way the line comes back as it was.
"""

import json

from sophos_desktop.core.domain.history import CheckpointRecord


def checkpoint_line(record: CheckpointRecord) -> str:
    """A checkpoint on its line."""
    return json.dumps(record.to_json()) + "\n"
