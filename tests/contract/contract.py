"""Reads CLI.md, so that the tests hold the program against the very text."""

import re
from pathlib import Path

TEXT = (Path(__file__).parent / "CLI.md").read_text(encoding="utf-8")

# Commands and options of the contract that come with later issues.
LATER = {"search"}


def commands() -> dict[str, str]:
    """Every command with the cell that shows how it is typed."""
    rows = re.findall(r"^\| (`.*?) \| .*$", TEXT.split("## Commands")[1].split("## Shapes")[0], re.MULTILINE)
    found: dict[str, str] = {}
    for cell in (row.split(" | ")[0] for row in rows):
        for typed in re.findall(r"`([a-z][^`]*)`", cell):
            found.setdefault(typed.split()[0], cell.replace("\\|", "|"))
    return found


def fields(marker: str) -> set[str]:
    """The names in the braces that follow `marker`; those of inner objects are left out."""
    start = TEXT.index(marker + "{") + len(marker)
    depth, body = 0, ""
    for sign in TEXT[start:]:
        depth += (sign in "{[") - (sign in "}]")
        if depth == 0:
            break
        body += sign if depth == 1 and sign not in "{}[]" else ""
    without_texts = re.sub(r'"[^"]*"', "", body)
    return set(re.findall(r"(?:^|,)\s*([a-z_0-9]+)", without_texts))


def exit_codes() -> dict[int, str]:
    """The table of exit codes."""
    section = TEXT.split("## Exit codes")[1].splitlines()[1]
    return {
        int(number): words.strip(" .")
        for number, words in (entry.strip().split(" ", 1) for entry in section.split("·"))
    }
