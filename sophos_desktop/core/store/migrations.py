"""The schema, as numbered steps that are only ever appended to.

Invariant: each step runs in one transaction together with its number in `PRAGMA user_version`; a file with
a higher number is refused before anything is written; the file is copied aside before a step changes it.
"""

from collections.abc import Sequence

MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('active', 'suspended', 'archived')),
            pinned INTEGER NOT NULL,
            model TEXT,
            metadata TEXT NOT NULL,
            message_count INTEGER NOT NULL,
            draft TEXT NOT NULL,
            deleted_at TEXT,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL)""",
        "CREATE INDEX conversations_by_time ON conversations (updated_at DESC)",
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            branch_id TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('message', 'resume')),
            status TEXT NOT NULL CHECK (status IN
                ('running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted')),
            error_code TEXT,
            error_message TEXT,
            engine TEXT,
            model TEXT,
            prompt_sha256 TEXT,
            input_text TEXT,
            input_message_id TEXT,
            owner TEXT,
            unfinished INTEGER NOT NULL,
            started_at TEXT NOT NULL,
            finished_at TEXT)""",
        "CREATE INDEX runs_by_conversation ON runs (conversation_id, started_at, id)",
        # The claim: two processes cannot both insert an active run on one conversation.
        """CREATE UNIQUE INDEX one_active_run ON runs (conversation_id)
            WHERE status IN ('running', 'waiting')""",
        """CREATE TABLE tool_attempts (
            conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            branch_id TEXT NOT NULL,
            tool_call_id TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            run_id TEXT NOT NULL,
            server TEXT NOT NULL,
            tool TEXT NOT NULL,
            args TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('started', 'finished')),
            started_at TEXT NOT NULL,
            finished_at TEXT,
            is_error INTEGER NOT NULL,
            result TEXT,
            PRIMARY KEY (conversation_id, branch_id, tool_call_id, attempt))""",
        "CREATE INDEX tool_attempts_by_run ON tool_attempts (run_id)",
        """CREATE TABLE decisions (
            conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            branch_id TEXT NOT NULL,
            tool_call_id TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            why TEXT NOT NULL CHECK (why IN ('approval', 'uncertain')),
            decision TEXT NOT NULL CHECK (decision IN ('allow', 'deny', 'run-again', 'skip', 'result')),
            args TEXT,
            reason TEXT,
            result TEXT,
            decided_at TEXT NOT NULL,
            PRIMARY KEY (conversation_id, branch_id, tool_call_id, attempt))""",
        """CREATE TABLE trace_events (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            step INTEGER,
            node TEXT,
            event TEXT NOT NULL,
            name TEXT,
            data TEXT NOT NULL,
            PRIMARY KEY (run_id, seq)) WITHOUT ROWID""",
        """CREATE TABLE run_partials (
            run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            message_id TEXT NOT NULL,
            text TEXT NOT NULL,
            thinking TEXT NOT NULL,
            state TEXT NOT NULL,
            at TEXT NOT NULL,
            model TEXT)""",
        """CREATE TABLE children (
            token TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            what TEXT NOT NULL,
            pid INTEGER,
            start_time REAL)""",
        "CREATE TABLE app_state (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (
        # Another process asks the owner of a run to stop it.
        "ALTER TABLE runs ADD COLUMN stop_requested INTEGER NOT NULL DEFAULT 0",
    ),
    (
        # What the user allows or forbids, per tool; `scope` narrows it (a host, for fetch), `fingerprint` is
        # the definition that was in force when it was decided.
        """CREATE TABLE tool_permissions (
            server TEXT NOT NULL,
            tool TEXT NOT NULL,
            scope TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            decision TEXT NOT NULL CHECK (decision IN ('allow', 'ask', 'deny')),
            decided_at TEXT NOT NULL,
            PRIMARY KEY (server, tool, scope))""",
        # The user's word that a server's own hints count; `fingerprint` is its command or address then.
        """CREATE TABLE trusted_servers (
            server TEXT PRIMARY KEY,
            fingerprint TEXT NOT NULL,
            trusted_at TEXT NOT NULL)""",
        # Each tool as it was last seen, so that a change can be named.
        """CREATE TABLE known_tools (
            server TEXT NOT NULL,
            tool TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            seen_at TEXT NOT NULL,
            PRIMARY KEY (server, tool))""",
        """CREATE TABLE attachments (
            sha256 TEXT PRIMARY KEY,
            mime_type TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            content BLOB NOT NULL)""",
        # Who holds an attachment; the bytes go with the last one. `conversation_id` is empty for the draft of
        # a chat that does not exist yet; `ref` is the id of a message or of a tool call.
        """CREATE TABLE attachment_uses (
            conversation_id TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('draft', 'queued', 'message', 'tool_result')),
            ref TEXT NOT NULL,
            position INTEGER NOT NULL,
            sha256 TEXT NOT NULL REFERENCES attachments (sha256),
            name TEXT NOT NULL,
            PRIMARY KEY (conversation_id, kind, ref, position))""",
        "CREATE INDEX attachment_uses_by_content ON attachment_uses (sha256)",
        # What was shown when it was asked: an answer holds for that definition alone.
        "ALTER TABLE decisions ADD COLUMN fingerprint TEXT",
        """CREATE TABLE queued_messages (
            conversation_id TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            queued_at TEXT NOT NULL)""",
    ),
)

CURRENT_VERSION = len(MIGRATIONS)
