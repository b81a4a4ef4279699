"""Makes ids.

Invariant: every id of a conversation, run or message is a UUIDv7 in its canonical form, so that ids
sort by the time they were made, also within one millisecond of one process.
"""

import uuid_utils


def new_id() -> str:
    """A fresh UUIDv7 as 36 lower-case characters."""
    return str(uuid_utils.uuid7())
