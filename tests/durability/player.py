"""Uses the program in one home as a person would, and judges what it finds after each kill.

Invariant: what is done next follows from what is stored alone, as for a person who comes back: decide what
waits, send what was handed back or queued, resume what is left.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.durability.program import CLI, Finished, ForkServer
from tests.durability.rules import History, broken_rules, times_kept
from tests.durability.scenario import THIRD_QUESTION, Home
from tests.durability.scripts import Script

EXAMINE = "tests.durability.examine:main"
DRIVER = "tests.durability.driver:main"
EDITED = " (edited)"
_MOST_STARTS = 60


@dataclass(frozen=True, slots=True)
class Kill:
    """Where a start is killed: at a pass of a failpoint, or after some seconds. `start`: which start of the
    script it is, None for whichever comes to it first."""

    failpoint: str | None = None
    seconds: float | None = None
    start: int | None = None


class BrokenRule(AssertionError):
    """A rule of DURABILITY.md does not hold."""


class Killed(Exception):
    """The start that was to be killed was killed."""


class Player:
    """Lives for one future of one home. `is_first`: a kill ends it, and others follow."""

    def __init__(
        self,
        server: ForkServer,
        home: Home,
        script: Script,
        history: History,
        *,
        chance: random.Random,
        kill: Kill | None,
        is_first: bool = False,
        holding_engine: str = "",
        failpoint_log: str = "",
    ) -> None:
        self._server = server
        self._home = home
        self._script = script
        self._chance = chance
        self._kill = kill
        self._is_first = is_first
        self._holding_engine = holding_engine
        self._failpoint_log = failpoint_log
        self.history = history
        self.starts = 0
        self.kills = 0
        self.seconds: list[float] = []

    def start(
        self,
        argv: Sequence[str],
        *,
        call: str = CLI,
        interrupt_at: tuple[str, str] | None = None,
        limit_file_bytes: int | None = None,
    ) -> Finished:
        """Start the program; `limit_file_bytes`: no file may grow larger. Raises Killed, BrokenRule."""
        number, self.starts = self.starts, self.starts + 1
        if number > _MOST_STARTS:
            raise BrokenRule("it is not finished after so many starts")
        kill = self._kill if self._kill is not None and self._kill.start in (None, number) else None
        more = {"SOPHOS_FAILPOINT": kill.failpoint} if kill is not None and kill.failpoint else {}
        if self._failpoint_log:
            more["SOPHOS_FAILPOINT_LOG"] = f"{self._failpoint_log}-{number}"
        if interrupt_at is not None and self._script.holding_engine:
            more["OLLAMA_HOST"] = self._holding_engine
        ended = self._server.run(
            argv,
            call=call,
            env=self._home.env(**more),
            cwd=self._home.root,
            kill_after_seconds=None if kill is None else kill.seconds,
            interrupt_at=interrupt_at,
            limit_file_bytes=limit_file_bytes,
        )
        self.seconds.append(ended.seconds)
        if call == DRIVER or ("--json" in argv and argv[0] in ("ask", "resume", "decide")):
            self.history.add(ended)
        if ended.killed:
            self._kill = None
            self.kills += 1
            raise Killed
        return ended

    def expect(self, ended: Finished, *codes: int) -> None:
        """Raises BrokenRule for any other exit code."""
        if ended.code not in codes:
            said = f"{ended.stdout[-600:]} {ended.stderr[-600:]}"
            raise BrokenRule(f"exit code {ended.code} instead of {codes}: {said}")

    def look(self) -> dict[str, Any]:
        """What is stored, as nobody but the test sees it; no program recovers anything for it."""
        ended = self._server.run(
            [str(self._home.data)], env=self._home.env(), cwd=self._home.root, call=EXAMINE
        )
        self.expect(ended, 0)
        seen: dict[str, Any] = ended.json()
        return seen

    def judge(self, seen: dict[str, Any] | None = None, *, finished: bool) -> dict[str, Any]:
        """Hold what is stored against the rules. Raises BrokenRule."""
        seen = self.look() if seen is None else seen
        problems = broken_rules(
            self._home,
            seen,
            self.history,
            finished=finished,
            all_allowed=self._script.approval == "allow",
        )
        if problems:
            raise BrokenRule("; ".join(problems))
        return seen

    def say(self, conversation_id: str | None, text: str, *more: str, **how: Any) -> Finished:
        """Send a message; remembers whether it was taken. Raises Killed, BrokenRule."""
        where = ["-c", conversation_id] if conversation_id else []
        return self._with(text, ["ask", "--json", *more, *where, text], **how)

    def _with(self, text: str, argv: Sequence[str], **how: Any) -> Finished:
        printed = len(self.history.printed)
        try:
            return self.start(argv, **how)
        finally:
            is_kept = self.notice(text)
            if not is_kept and len(self.history.printed) > printed and how.get("call") != DRIVER:
                raise BrokenRule("something was printed, and the message is nowhere")

    def notice(self, text: str) -> bool:
        """Remember that a text was taken, if it is kept anywhere; True if it is."""
        if text not in self.history.asked and times_kept(self.look(), text):
            self.history.asked.append(text)
        return text in self.history.asked

    def remember(self, text: str) -> None:
        """Something was said before; counts as no start. Raises BrokenRule."""
        kill, self._kill = self._kill, None
        self.expect(self.say(None, text), 0)
        self._kill, self.starts = kill, 0
        self.seconds.clear()

    def open(self) -> None:
        """What the script begins with. Raises Killed, BrokenRule."""
        script = self._script
        known = self.look()["conversations"]
        approve = ["--approve", script.approve] if script.approve else []
        if script.approve:
            self.history.decided_all.add(script.approve)
        ended = self.say(
            known[0]["id"] if known else None, script.asks, *approve, interrupt_at=script.interrupt_at
        )
        waits = script.waits or (script.approval is None and script.approve is None)
        self.expect(ended, *((4,) if waits else (0, 130) if script.interrupt_at else (0,)))
        if script.then is not None:
            self.drive(script.then, self.judge(finished=False)["conversations"][0]["id"], THIRD_QUESTION)

    def drive(self, what: str, conversation_id: str, text: str) -> None:
        """Let the driver queue or send a message. Raises Killed, BrokenRule."""
        if what == "deny-all":
            self.history.decided_all.update(("deny", "skip"))
        ended = self._with(text, [what, conversation_id, text], call=DRIVER)
        self.expect(ended, 0)

    def go_on(self, typed: str | None = None) -> dict[str, Any]:
        """Continue to the end; `typed`: something new to say first. Gives what is stored then.

        Raises Killed, BrokenRule."""
        while True:
            try:
                if not self._next(typed):
                    return self.judge(finished=True)
            except Killed:
                if self._is_first:
                    raise

    def _next(self, typed: str | None) -> bool:
        """One start of what is to be done; False if nothing is."""
        seen = self.look()
        if seen["conversations"] and any(run["status"] == "running" for run in seen["runs"]):
            self.expect(self.start(["list", "--json"]), 0)
            seen = self.look()
        self.judge(seen, finished=False)
        if not seen["conversations"]:
            return False
        conversation = seen["conversations"][0]
        identifier, waits = conversation["id"], any(run["status"] == "waiting" for run in seen["runs"])
        wants_to_type = typed is not None and typed not in self.history.asked
        if waits and wants_to_type:
            # A second message would take the place of one that is queued already.
            may_deny_all = not seen["queued"]
            self._type_while_waiting(identifier, str(typed), conversation["asked"], may_deny_all=may_deny_all)
        elif waits and conversation["asked"]:
            self._decide(identifier, self._chance.choice(conversation["asked"]))
        elif waits:
            self.expect(self.start(["resume", identifier, "--json"]), 0, 4)
        elif conversation["draft"]:
            self.expect(self.say(identifier, conversation["draft"]), 0, 4)
        elif wants_to_type:
            self.expect(self.say(identifier, str(typed)), 0, 4)
        elif conversation["unfinished"]:
            self.expect(self.start(["resume", identifier, "--json"]), 0, 4)
        elif seen["queued"]:
            self.drive("send", identifier, seen["queued"][0]["text"])
        else:
            return False
        return True

    def _type_while_waiting(
        self, identifier: str, typed: str, asked: Sequence[dict[str, Any]], *, may_deny_all: bool
    ) -> None:
        """It is refused; then the calls are decided, or all denied for it. Where all is decided and the run
        was killed before it went on, the message is taken."""
        refused = self.say(identifier, typed)
        if not asked and refused.code in (0, 4):
            return
        if refused.code != 5 or "APPROVAL_PENDING" not in refused.stderr:
            raise BrokenRule(f"a message while a decision waits: {refused.code} {refused.stderr}")
        if not asked:
            self.expect(self.start(["resume", identifier, "--json"]), 0, 4)
        elif may_deny_all and self._chance.random() < 0.5:
            self.drive("deny-all", identifier, typed)
        else:
            self._decide(identifier, self._chance.choice(asked))

    def _decide(self, identifier: str, asked: dict[str, Any]) -> None:
        call, args = asked["call"], asked["args"]
        if asked["why"] == "uncertain":
            kind = self._chance.choice(["run-again", "skip", "result"])
            more = ["--result", "entered by hand"] if kind == "result" else []
        else:
            kind = self._chance.choice(["allow", "allow", "edited", "always", "deny"])
            more = ["--reason", "Not this one"] if kind == "deny" else []
            if kind == "edited":
                more = ["--args", json.dumps({**args, "text": args["text"] + EDITED})]
        stored = "allow" if kind in ("edited", "always") else kind
        self.history.decided.add((call, stored))
        if kind == "always":
            self.expect(self.start(["always", identifier, call], call=DRIVER), 0, 4)
        elif self._chance.random() < 0.3:
            self.expect(self.start(["decide", identifier, call, stored, "--no-run", *more]), 0)
        else:
            self.expect(self.start(["decide", identifier, call, stored, "--json", *more]), 0, 4)
        kept = [row["decision"] for row in self.look()["decisions"] if row["tool_call_id"] == call]
        if stored not in kept:
            raise BrokenRule(f"“{stored}” of {call} was decided, and {kept} is kept")
