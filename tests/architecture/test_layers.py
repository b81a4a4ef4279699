"""The layers hold: what import-linter checks, and what it cannot see."""

import ast
import subprocess
import sys

from tests.support.sources import ROOT, imported_modules, parsed, python_files, relative

# Imports every module below the given packages while Qt cannot be imported.
WITHOUT_QT = """
import importlib, importlib.abc, pkgutil, sys

class NoQt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ImportError(f"{name} is Qt, and the core runs without")

sys.meta_path.insert(0, NoQt())
for package in sys.argv[1:]:
    module = importlib.import_module(package)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), package + "."):
        importlib.import_module(found.name)
print(sum(name.startswith("sophos_desktop.") for name in sys.modules))
"""


def test_the_import_contracts_hold() -> None:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    checked = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_core_and_the_command_line_run_with_qt_blocked() -> None:
    packages = ["sophos_desktop.foundation", "sophos_desktop.core", "sophos_desktop.cli"]
    checked = subprocess.run(
        [sys.executable, "-c", WITHOUT_QT, *packages],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert int(checked.stdout) >= len(python_files("sophos_desktop/core")), "every module was imported"


def test_qt_is_not_smuggled_below_the_line_by_name() -> None:
    below = ("sophos_desktop/core", "sophos_desktop/foundation", "sophos_desktop/cli")
    smuggled = [
        f"{relative(path)}:{node.lineno}"
        for path in python_files(*below)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition(".")[0] in {"PySide6", "shiboken6", "qasync"}
    ]
    assert smuggled == []


def test_the_domain_imports_the_standard_library_alone() -> None:
    foreign = [
        f"{relative(path)}: {name}"
        for path in python_files("sophos_desktop/core/domain")
        for name in imported_modules(parsed(path))
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not name.startswith("sophos_desktop.core.domain")
    ]
    assert foreign == []


def test_the_ground_floor_knows_nothing_of_sophos() -> None:
    foreign = [
        f"{relative(path)}: {name}"
        for path in python_files("sophos_desktop/foundation")
        for name in imported_modules(parsed(path))
        if name.startswith("sophos_desktop.") and not name.startswith("sophos_desktop.foundation")
    ]
    assert foreign == []
