"""The project's own source files, for tests that read them."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sophos_desktop"


def python_files(*folders: str) -> list[Path]:
    """All Python files below the folders, named from the project's root."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    """The path as a person would name it."""
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str, str]]:
    """Every call: the node, what it is called on ("" for a plain name), and the name called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node, ast.unparse(node.func.value), node.func.attr
            elif isinstance(node.func, ast.Name):
                yield node, "", node.func.id


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def project_files() -> list[Path]:
    """What git has or would take: nothing that is ignored. Without git, the folders that hold our work."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        folders = (".ci", "config", "packaging", "resources", "sophos_desktop", "tests")
        return [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]
