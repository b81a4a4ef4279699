"""The formats that a conversation can be exported in.

Invariant: the values are those of the command line's `--format` and the endings of the files' names.
"""

from enum import StrEnum


class ExportFormat(StrEnum):
    """`MARKDOWN`: what was said, for people. `CHECKPOINTS`: one checkpoint a line, for programs."""

    MARKDOWN = "md"
    CHECKPOINTS = "jsonl"

    def file_name(self, conversation_id: str) -> str:
        """What an export is called."""
        return f"{conversation_id}{'.checkpoints' if self is ExportFormat.CHECKPOINTS else ''}.{self.value}"
