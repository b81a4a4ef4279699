"""What the user does in the turns that are killed: the starts with which each begins.

Invariant: a script is data; what comes after its opening (resuming, deciding, sending what is queued) follows
from the state that is found, in the calm turn as after a kill.
"""

from dataclasses import dataclass

from tests.durability.program import STDOUT
from tests.durability.scenario import (
    CALLS_FILE,
    DYING_QUESTION,
    LOOKING_QUESTION,
    PARALLEL,
    SLOW_LINE,
    SLOW_QUESTION,
    TALK_QUESTION,
    question,
)


@dataclass(frozen=True, slots=True)
class Script:
    """`approval` None: the server's calls are asked about; `approve`: how `ask` answers; `interrupt_at`: the
    file and the text in it at which the user stops the run; `then`: what the driver does once it waits, with
    a second message; `waits`: though its calls are allowed, a question comes up; `taste`: which decisions are
    drawn."""

    name: str
    asks: str
    approval: str | None = "allow"
    approve: str | None = None
    interrupt_at: tuple[str, str] | None = None
    waits: bool = False
    holding_engine: bool = False
    then: str | None = None
    taste: int = 0
    weight: int = 1


def _all() -> dict[str, Script]:
    made = [Script(f"write-{count}", question(count), weight=3) for count in PARALLEL]
    for count in PARALLEL:
        made += [
            Script(f"decide-{count}-{taste}", question(count), approval=None, taste=taste)
            for taste in range(3)
        ]
    for count in (1, 3):
        made += [
            Script(f"approve-{kind}-{count}", question(count), approval=None, approve=kind)
            for kind in ("allow", "deny")
        ]
    made += [
        Script("server-dies", DYING_QUESTION, waits=True, weight=3),
        Script("server-dies-looking", LOOKING_QUESTION, weight=2),
    ]
    made += [
        Script("stop-call", SLOW_QUESTION, interrupt_at=(CALLS_FILE, SLOW_LINE), weight=2),
        Script(
            "stop-talk",
            TALK_QUESTION,
            interrupt_at=(STDOUT, '"type": "text"'),
            holding_engine=True,
            weight=2,
        ),
    ]
    for count in (1, 2):
        made += [
            Script(f"queue-{count}", question(count), approval=None, then="put", taste=count),
            Script(f"deny-all-{count}", question(count), approval=None, then="deny-all"),
        ]
    return {script.name: script for script in made}


SCRIPTS = _all()
