"""What `dev.py` runs to test the project: which folders in which process, which modules.

Invariant: standard library only, and it starts on any Python from 3.7 on; names commands and runs none.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASIDE = ("end to end", "window")
"""What runs beside the core, one after another: each lane takes one of two cores."""


def test_parts() -> dict[str, list[str]]:
    """What runs in one process each; whatever is in no list runs with the core."""
    parts = {
        "core": [],
        "end to end": ["tests/e2e"],
        "window": ["tests/shell"],
        "kills": ["tests/durability"],
    }
    known = {folder for folders in parts.values() for folder in folders}
    with_tests = sorted({f"tests/{path.relative_to(ROOT / 'tests').parts[0]}" for path in find_tests()})
    parts["core"] = [folder for folder in with_tests if folder not in known]
    parts = {name: [folder for folder in folders if folder in with_tests] for name, folders in parts.items()}
    return {name: folders for name, folders in parts.items() if folders}


def find_tests() -> list[Path]:
    return list((ROOT / "tests").rglob("test_*.py"))


def kills() -> list[str]:
    """pytest's arguments for every kill that has a name of its own, without the part of the matrix."""
    return ["tests/durability", "-k", "torture and not test_torture.py", "-m", "not long", "--timeout", "0"]


def torturing(n: str, seed: str) -> list[str]:
    """Python's arguments for the crash matrix; its state is in build/torture."""
    return ["-m", "tests.durability.torture", f"N={n}", f"SEED={seed}"]


def soaking(n: str, seed: str) -> list[str]:
    """Python's arguments for the soak of the tool host."""
    return ["-m", "tests.durability.soak", f"N={n}", f"SEED={seed}"]
