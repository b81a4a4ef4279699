"""The app's tables as SQLAlchemy Core objects, for building queries.

Invariant: `migrations` makes the schema; a test holds these objects against it. JSON travels as text, so
that the same statements serve PostgreSQL later. Times are ISO 8601 text in UTC, so they sort as text.
"""

from typing import Any

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, Table, TypeDecorator
from sqlalchemy import Text as PlainText

metadata = MetaData()


class Text(TypeDecorator[str]):
    """Text that every database takes: half a surrogate pair, which is no character, is stored as `?`."""

    impl = PlainText
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """What is sent to the database."""
        return None if value is None else value.encode("utf-8", "replace").decode("utf-8")


conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("pinned", Integer, nullable=False),
    Column("model", Text),
    Column("metadata", Text, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("draft", Text, nullable=False),
    Column("deleted_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation_id", Text, nullable=False),
    Column("branch_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("engine", Text),
    Column("model", Text),
    Column("prompt_sha256", Text),
    Column("input_text", Text),
    Column("input_message_id", Text),
    Column("owner", Text),
    Column("unfinished", Integer, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("stop_requested", Integer, nullable=False, server_default="0"),
)

tool_attempts = Table(
    "tool_attempts",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("branch_id", Text, primary_key=True),
    Column("tool_call_id", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("server", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("args", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("is_error", Integer, nullable=False),
    Column("result", Text),
)

decisions = Table(
    "decisions",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("branch_id", Text, primary_key=True),
    Column("tool_call_id", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("why", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("args", Text),
    Column("reason", Text),
    Column("result", Text),
    Column("decided_at", Text, nullable=False),
    Column("fingerprint", Text),
)

trace_events = Table(
    "trace_events",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("step", Integer),
    Column("node", Text),
    Column("event", Text, nullable=False),
    Column("name", Text),
    Column("data", Text, nullable=False),
)

run_partials = Table(
    "run_partials",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("thinking", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("model", Text),
)

children = Table(
    "children",
    metadata,
    Column("token", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("pid", Integer),
    Column("start_time", Float),
)

app_state = Table(
    "app_state",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

tool_permissions = Table(
    "tool_permissions",
    metadata,
    Column("server", Text, primary_key=True),
    Column("tool", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("decided_at", Text, nullable=False),
)

trusted_servers = Table(
    "trusted_servers",
    metadata,
    Column("server", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("trusted_at", Text, nullable=False),
)

known_tools = Table(
    "known_tools",
    metadata,
    Column("server", Text, primary_key=True),
    Column("tool", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("seen_at", Text, nullable=False),
)

attachments = Table(
    "attachments",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("mime_type", Text, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

attachment_uses = Table(
    "attachment_uses",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("ref", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("name", Text, nullable=False),
)

queued_messages = Table(
    "queued_messages",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("queued_at", Text, nullable=False),
)
