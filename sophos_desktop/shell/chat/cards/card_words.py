"""What the cards say.

Invariant: pure, no Qt; each sentence says what is known and never more than that.
"""

from datetime import datetime

from sophos_desktop.core.domain.ports import DecisionKind

_LONGEST_HOST = 28  # characters, on a button in the narrowest window
WAITING = "Waiting for you"
UNCERTAIN = "Uncertain"
FITS = "Fits the schema of the tool"
UNKNOWN_SCHEMA = "The schema of the tool is not known; its server checks them"
CHECKING = "Checking…"
REASON_LABEL = "Why not? The model reads this. It may stay empty."
RESULT_LABEL = "What did it return? The model gets this text as the result."


def wants_to_run(server: str, tool: str) -> str:
    """What a card asks about, for who hears it."""
    return f"{server} · {tool} wants to run"


def question_of(scope: str) -> str:
    """The question of an approval; `scope` is the host of a fetch."""
    return "Allow this tool to open a web address?" if scope else "Allow this tool to run?"


def always_text(host: str) -> str:
    """The button that decides for good."""
    # An ampersand in a host cannot be: it would be a mnemonic.
    return f"Al&ways allow {host}" if host else "Al&ways allow this tool"


def shortened(host: str) -> str:
    """The end of a long host, which says whose it is; all of it stands above the buttons."""
    return host if len(host) <= _LONGEST_HOST else f"…{host[1 - _LONGEST_HOST :].lstrip('.')}"


def known_of(began: datetime | None, now: datetime) -> str:
    """What is known of a call without a result; both moments are aware."""
    if began is None:
        return "The call was sent and no result was recorded. It may have run."
    local = began.astimezone(now.tzinfo)
    when = f"at {local:%H:%M:%S}" if local.date() == now.date() else f"on {local:%Y-%m-%d at %H:%M:%S}"
    return f"The call was sent {when} and no result was recorded. It may have run."


def decided_status(kind: DecisionKind) -> str:
    """What is said of a call from its decision on until it goes on (see CallState)."""
    statuses: dict[DecisionKind, str] = {
        "allow": "allowed",
        "deny": "denied",
        "run-again": "again",
        "skip": "skipped",
        "result": "entered",
    }
    return statuses[kind]


def short_problem(problem: str) -> str:
    """What does not fit, without the heading that is meant for models."""
    lines = [line.removeprefix("- ") for line in problem.splitlines() if line.startswith("- ")]
    return "\n".join(lines) or problem


def waiting_words(count: int) -> str:
    """How many calls wait."""
    return "1 call is still waiting." if count == 1 else f"{count} calls are still waiting."
