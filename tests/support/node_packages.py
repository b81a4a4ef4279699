"""Installs the real tool servers from npm: the versions in tests/support/node, once, below `build/`.

Invariant: the lock file pins all that is installed, by version and by hash, and names no registry: npm asks
the one that it is configured for. No package's own scripts are run. A folder is complete or not there.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[2]
_SCOPE = "@modelcontextprotocol"
_PINNED = Path(__file__).parent / "node"
_FILES = ("package.json", "package-lock.json")
_INSTALL_SECONDS = 100
_OPTIONS = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


def node_is_here() -> bool:
    """True if Node.js and npm can be called; the tests that need them are marked `needs_node`."""
    return shutil.which("node") is not None and shutil.which("npm") is not None


def version(server: str) -> str:
    """The pinned version of a server, such as `server-memory`."""
    dependencies = json.loads((_PINNED / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return str(dependencies[f"{_SCOPE}/{server}"])


def server_command(server: str, *arguments: str) -> tuple[str, ...]:
    """The command line of an installed server; the first call installs all of them."""
    program = installed() / "node_modules" / _SCOPE / server / "dist" / "index.js"
    return ("node", str(program), *arguments)


def installed() -> Path:
    """The folder that holds `node_modules`. Raises CalledProcessError with npm's words on stderr."""
    digest = hashlib.sha256(b"".join((_PINNED / name).read_bytes() for name in _FILES)).hexdigest()
    folder = PROJECT / "build" / "node" / f"servers-{digest[:12]}"
    if folder.exists():
        return folder
    npm = shutil.which("npm")
    assert npm is not None, "npm is missing"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        for name in _FILES:
            shutil.copy(_PINNED / name, temporary)
        subprocess.run(
            [npm, "ci", *_OPTIONS],
            cwd=temporary,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=_INSTALL_SECONDS,
        )
        if not folder.exists():  # two test runs may install at once
            Path(temporary).rename(folder)
            Path(temporary).mkdir()
    return folder
