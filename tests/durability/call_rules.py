"""What must hold for each tool call: it was allowed, made at most once for each attempt, and is answered.

Invariant: judged from the rows, the thread and the file that the calls wrote; asks nothing of the program.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
REPEATABLE = "look_and_die"
_NOT_RECORDED = "The call could not be recorded, so it was not made"
_MOST_REPEATS = 5
"""Three by itself, and one for each death of the program."""


def broken_call_rules(
    messages: Sequence[Row],
    seen: dict[str, Any],
    lines: Sequence[str],
    *,
    decided: set[tuple[str, str]],
    decided_all: set[str],
    finished: bool,
    all_allowed: bool,
) -> list[str]:
    """What is wrong; `decided`: what the user chose, as call and kind; `finished`: all calls are answered;
    `all_allowed`: nobody is asked before a call is made."""
    calls = {call["id"]: call for message in messages for call in message["tool_calls"]}
    attempts: dict[str, list[Row]] = defaultdict(list)
    for row in seen["attempts"]:
        attempts[row["tool_call_id"]].append({**row, "args": json.loads(row["args"])})
    decisions: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in seen["decisions"]:
        decisions[row["tool_call_id"]][row["attempt"]] = row
    results = {message["tool_call_id"]: message for message in messages if message["role"] == "tool"}
    problems = _lines(lines, [row for rows in attempts.values() for row in rows])
    problems += [
        f"“{row['decision']}” of {row['tool_call_id']} was decided by nobody"
        for row in seen["decisions"]
        if (row["tool_call_id"], row["decision"]) not in decided and row["decision"] not in decided_all
    ]
    problems += [f"a call that nobody asked for was made: {call}" for call in attempts if call not in calls]
    always = all_allowed or any(row["decision"] == "allow" for row in seen["permissions"])
    for identifier, call in calls.items():
        made, chosen = attempts[identifier], decisions[identifier]
        problems += _allowed(call, made, chosen, always=always)
        problems += _once(identifier, made, chosen)
        if finished:
            problems += _answered(identifier, made, chosen, results.get(identifier), lines)
    return problems


def _lines(lines: Sequence[str], attempts: Sequence[Row]) -> list[str]:
    """Each attempt sends its call at most once."""
    recorded = Counter(row["args"]["text"] for row in attempts)
    return [
        f"“{line}” was written {count} times in {recorded[line]} attempts"
        for line, count in Counter(lines).items()
        if count > recorded[line]
    ]


def _allowed(call: Row, made: Sequence[Row], chosen: dict[int, Row], *, always: bool) -> list[str]:
    if not made:
        return []
    first = chosen.get(0)
    if first is None:
        problem = "was never allowed, and was made" if not always else ""
        args = call["args"]
    else:
        problem = f"was decided “{first['decision']}”, and was made" if first["decision"] != "allow" else ""
        args = json.loads(first["args"]) if first["args"] else call["args"]
    problems = [f"{call['id']} {problem}"] if problem else []
    if made[0]["args"] != args:
        problems.append(f"{call['id']} was made with {made[0]['args']} instead of {args}")
    return problems


def _once(identifier: str, made: Sequence[Row], chosen: dict[int, Row]) -> list[str]:
    problems = []
    repeatable = bool(made) and made[0]["tool"] == REPEATABLE
    if repeatable and len(made) > _MOST_REPEATS:
        problems.append(f"{identifier} was made {len(made)} times")
    for row in made[1:]:
        if repeatable:
            continue
        before = chosen.get(row["attempt"] - 1)
        if before is None or before["decision"] != "run-again":
            problems.append(f"{identifier} was made again without a decision")
    if any(row["state"] == "finished" for row in made[:-1]):
        problems.append(f"{identifier} was sent again after its result was recorded")
    return problems


def _answered(
    identifier: str, made: Sequence[Row], chosen: dict[int, Row], result: Row | None, lines: Sequence[str]
) -> list[str]:
    """What the thread says of the call is what is known of it."""
    if result is None:
        return [f"{identifier} has no result"]
    status = result["tool_status"]
    last = chosen.get(made[-1]["attempt"] if made else 0)
    if made and made[-1]["state"] == "finished":
        # What its server died under again and again is given up, and that is recorded.
        wanted = {"interrupted"} if made[-1]["is_error"] else {"ok"}
        if made[-1]["result"] is not None:
            return [f"the result of {identifier} is still in the journal beside the thread"]
        if made[-1]["args"]["text"] not in lines:
            return [f"{identifier} has a result, and its line was never written"]
    elif not made and result["text"].startswith(_NOT_RECORDED):
        wanted = {"error"}  # the store refused before anything was sent
    elif not made:
        wanted = {"denied"} if last is not None and last["decision"] == "deny" else {"interrupted"}
    elif last is None or last["decision"] == "run-again":
        wanted = {"interrupted"}
    else:
        wanted = {"ok"} if last["decision"] == "result" else {"skipped"}
    return [] if status in wanted else [f"the result of {identifier} is {status!r} instead of {wanted}"]
