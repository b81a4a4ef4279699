"""What the line below an answer says, from what is known of the answer.

Invariant: pure; what is not known is left out.
"""

from datetime import UTC, datetime

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.transcript.cards.facts import MetaFacts
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage


def meta_facts(message: TranscriptMessage, now: datetime | None = None) -> MetaFacts:
    """Of an answer that is being written, `Writing` and its figures. `now`, aware, tells which day needs no
    name; the machine's own if it is not given."""
    meta = message.meta
    state, mark, colour = meta.reason, None, "text_3"
    if message.is_open:
        state, mark, colour = meta.reason or "Writing", Mark.RUNNING, "accent"
    elif message.state is MessageState.STOPPED:
        state, mark = meta.reason or "Stopped by you", Mark.STOPPED
    elif message.state is MessageState.INCOMPLETE:
        state, mark, colour = meta.reason or "Not all of it arrived", Mark.INTERRUPTED, "plum"
    elif meta.reason:
        mark, colour = Mark.WARNING, "warning"
    is_written = not message.is_open
    return MetaFacts(
        model=(meta.model or "") if is_written else "",
        time=_clock(meta.at, now) if is_written and not state else "",
        tokens=meta.tokens,
        speed=meta.tokens_per_second,
        state=state,
        mark=mark,
        colour=colour,
    )


def _clock(at: str | None, now: datetime | None) -> str:
    """Hours and minutes here, and the day if it is another."""
    if not at:
        return ""
    try:
        moment = datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone()
    except ValueError:
        return ""
    now = (now or datetime.now(UTC)).astimezone()
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    day = f"{moment.day} {moment:%b}" if moment.year == now.year else f"{moment.day} {moment:%b %Y}"
    return f"{day}, {moment:%H:%M}"
