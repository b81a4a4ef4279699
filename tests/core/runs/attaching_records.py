"""What the tables say of attachments, and what the tests of them attach."""

from sophos_desktop.core.assembly import Core
from tests.core.store.store_fixture import rows_of

NOTES = b"milk\nbread\n"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def uses(core: Core) -> set[tuple[str, str]]:
    """Who holds what: kind and name of every use."""
    return set(rows_of(core.paths.database, "SELECT kind, name FROM attachment_uses"))


def contents(core: Core) -> int:
    """How many contents are stored."""
    return int(rows_of(core.paths.database, "SELECT count(*) FROM attachments")[0][0])


async def agree(core: Core) -> bool:
    """Whether the doctor finds that all records agree."""
    (check,) = [check for check in await core.doctor.examine() if check.id == "journal"]
    return check.ok
