"""One kill: a turn of the real program is killed, then both ways on are taken and judged.

Invariant: a case is data (`Case`), so a failure can be repeated from what it prints.
"""

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.program import Finished, ForkServer
from tests.durability.rules import History, broken_rules
from tests.durability.scenario import ANSWER, SECOND_QUESTION, Home, expected_lines, new_home, question

EXAMINE = "tests.durability.examine:main"
_MOST_STARTS = 40


@dataclass(frozen=True, slots=True)
class Case:
    """Where a turn is killed: at the `hit`th pass of a failpoint, or after some seconds. `again`: a
    failpoint at which the continuation is killed too."""

    number: int
    parallel: int
    failpoint: str | None = None
    seconds: float | None = None
    again: str | None = None
    history: bool = False

    def __str__(self) -> str:
        where = self.failpoint or f"after {self.seconds:.3f} s"
        then = f", then {self.again}" if self.again else ""
        return f"case {self.number}: {self.parallel} parallel calls, killed at {where}{then}"


class BrokenRule(AssertionError):
    """A rule of DURABILITY.md does not hold."""


def play(server: ForkServer, engine: str, case: Case) -> bool:
    """Play a case; False if the turn ended before it was killed. Raises BrokenRule."""
    root = Path(tempfile.mkdtemp(prefix="sophos-kill-"))
    with new_home(root / "home", engine) as home:
        player = _Player(server, case, home, History())
        first: list[str] = []
        if case.history:
            player.expect(player.start(["ask", "--json", SECOND_QUESTION]), 0)
            player.history.asked.append(SECOND_QUESTION)
            first = ["-c", player.conversation()["id"]]
        asked = question(case.parallel)
        env = {"SOPHOS_FAILPOINT": case.failpoint} if case.failpoint else {}
        ended = player.start(["ask", "--json", *first, asked], env, case.seconds)
        if player.was_taken(ended):
            player.history.asked.append(asked)
        if not ended.killed:
            player.expect(ended, 0)
            player.judge(finished=True)
            player.all_written()
        else:
            player.judge(finished=False)
            for way in ("resume", "type"):
                copy = home.copy(root / way)
                other = _Player(server, case, copy, player.history.copy())
                other.go_on(way)
    for leftover in (*root.glob("*/*"), *root.glob("*")):
        _remove(leftover)
    root.rmdir()
    return ended.killed


def _remove(path: Path) -> None:
    import shutil

    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class _Player:
    """Uses the program in one home as a person would."""

    def __init__(self, server: ForkServer, case: Case, home: Home, history: History) -> None:
        self._server = server
        self._case = case
        self._home = home
        self.history = history
        self._random = random.Random(f"{case}")
        self._starts = 0
        self._again = case.again

    def start(
        self, argv: Sequence[str], env: dict[str, str] | None = None, seconds: float | None = None
    ) -> Finished:
        self._starts += 1
        if self._starts > _MOST_STARTS:
            raise self.broken(["it is not finished after so many starts"])
        ended = self._server.run(
            argv, env=self._home.env(**(env or {})), cwd=self._home.root, kill_after_seconds=seconds
        )
        if "--json" in argv and argv[0] in ("ask", "resume", "decide"):
            self.history.add(ended)
        return ended

    def expect(self, ended: Finished, *codes: int) -> None:
        if ended.code not in codes:
            raise self.broken([f"exit code {ended.code} instead of {codes}: {ended.stdout} {ended.stderr}"])

    def broken(self, problems: Sequence[str]) -> BrokenRule:
        return BrokenRule(f"{self._case} ({self._home.root}): " + "; ".join(problems))

    def examine(self) -> dict[str, Any]:
        ended = self._server.run(
            [str(self._home.data)], env=self._home.env(), cwd=self._home.root, call=EXAMINE
        )
        self.expect(ended, 0)
        seen: dict[str, Any] = ended.json()
        return seen

    def judge(self, *, finished: bool) -> dict[str, Any]:
        seen = self.examine()
        problems = broken_rules(self._home, seen, self.history, finished=finished)
        if problems:
            raise self.broken(problems)
        return seen

    def was_taken(self, ended: Finished) -> bool:
        """True if the message was claimed: before that the program has not said that it took it."""
        runs = self.examine().get("runs", ())
        taken = len(runs) > int(self._case.history)
        if not taken and any("type" in event for event in ended.events()):
            raise self.broken(["something was printed, and there is no run"])
        return taken

    def all_written(self) -> None:
        missing = expected_lines(self._case.parallel) - set(self._home.lines()) - self.history.left_out
        if missing:
            raise self.broken([f"calls that never ran: {sorted(missing)}"])

    def conversation(self) -> dict[str, Any]:
        """The only conversation, or an empty object. Starting the program recovers it."""
        listed = self.start(["list", "--json"])
        self.expect(listed, 0)
        found = listed.json()
        return found[0] if found else {}

    def go_on(self, way: str) -> None:
        conversation = self.conversation()
        if not conversation:
            if self.history.asked:
                raise self.broken(["the message was taken, and the conversation is gone"])
            return
        draft = self.examine()["conversations"][0]["draft"]
        taken = question(self._case.parallel) in self.history.asked
        if way == "resume" and not draft and taken:
            self._until_completed(["resume", conversation["id"], "--json"], conversation["id"])
            seen = self.judge(finished=True)
            last = seen["conversations"][0]["messages"][-1]["text"]
            if last != "".join(ANSWER):
                raise self.broken([f"the answer is {last!r}"])
            self.all_written()
            return
        # A message that was handed back is sent again; else something new is typed.
        text = draft or SECOND_QUESTION + " now"
        if not draft:
            self.history.asked.append(text)
        self._until_completed(["ask", "-c", conversation["id"], "--json", text], conversation["id"])
        self.judge(finished=True)
        if draft:
            self.all_written()

    def _until_completed(self, argv: list[str], conversation_id: str) -> None:
        """Do what the user wants, deciding what is asked on the way, and resuming after another kill."""
        wanted = argv
        while True:
            env, self._again = {"SOPHOS_FAILPOINT": self._again} if self._again else {}, None
            ended = self.start(wanted, env)
            if ended.killed:
                wanted = self._after_second_kill(argv, conversation_id)
                continue
            if ended.code == 4 or "APPROVAL_PENDING" in ended.stdout + ended.stderr:
                self._decide_all(conversation_id)
                if wanted[0] == "resume":
                    wanted = ["resume", conversation_id, "--json"]
                    if not self.conversation()["resumable"]:
                        return
                elif ended.code == 4:
                    return
                continue
            if "RUN_NOT_RESUMABLE" in ended.stdout + ended.stderr:
                return
            self.expect(ended, 0)
            return

    def _after_second_kill(self, argv: list[str], conversation_id: str) -> list[str]:
        """The message may have been taken, or not, or handed back."""
        self.conversation()
        seen = self.examine()["conversations"][0]
        if argv[0] == "ask":
            text = argv[-1]
            taken = any(m["role"] == "user" and m["text"] == text for m in seen["messages"])
            if not taken:
                return argv
        return ["resume", conversation_id, "--json"]

    def _decide_all(self, conversation_id: str) -> None:
        while True:
            asked = self.start(["approvals", "--json"])
            self.expect(asked, 0)
            pending = asked.json()
            if not pending:
                return
            question_ = pending[0]
            kind = self._random.choice(["run-again", "skip", "result"])
            line = question_["args"]["text"]
            if kind == "run-again":
                self.history.run_again[line] += 1
            else:
                self.history.left_out.add(line)
            more = ["--result", "entered by hand"] if kind == "result" else []
            decided = self.start(
                ["decide", conversation_id, question_["tool_call_id"], kind, "--json", *more]
            )
            self.expect(decided, 0, 4)
