"""Rules of the house that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.sources import calls, parsed, project_files, python_files, relative

OWNERS_OF_TASKS = {"sophos_desktop/foundation/tasks.py", "sophos_desktop/shell/async_slots.py"}
NESTED_LOOPS = {"exec", "exec_", "processEvents"}
STATIC_DIALOGS = {
    "QMessageBox": {"about", "aboutQt", "critical", "information", "question", "warning"},
    "QFileDialog": {
        "getExistingDirectory",
        "getExistingDirectoryUrl",
        "getOpenFileName",
        "getOpenFileNames",
        "getOpenFileUrl",
        "getOpenFileUrls",
        "getSaveFileName",
        "getSaveFileUrl",
    },
    "QInputDialog": {"getDouble", "getInt", "getItem", "getMultiLineText", "getText"},
    "QColorDialog": {"getColor"},
    "QFontDialog": {"getFont"},
}
SPINNING_WAITS = re.compile(
    r"wait(_?(signals?|until|exposed|active|callback))?|assert_?not_?emitted", re.IGNORECASE
)

# Put together here, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "npmjs" + ".org",
    "npmjs" + ".com",
    "huggingface" + ".co",
    "conda" + ".anaconda.org",
    "deb.debian" + ".org",
]
DOWNLOAD = re.compile(r"https?://[^\s\"'<>)]+\.(?:whl|tar\.gz|tgz|zip|gguf|exe|msi|deb|dmg|AppImage)\b")
MACHINE_PATH = re.compile(
    r"(?<![\w.~-])(?:/root|/work|/home/\w+|/Users/\w+|/opt/wheels|[A-Z]:\\\\?Users)(?=[/\\])"
)


def task_groups(tree: ast.Module) -> set[str]:
    """Names bound by `async with TaskGroup() as name`: a group owns its tasks."""
    return {
        ast.unparse(item.optional_vars)
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
        if item.optional_vars is not None and ast.unparse(item.context_expr).endswith("TaskGroup()")
    }


def bare_tasks(tree: ast.Module) -> list[int]:
    """Lines where a task is made that nobody owns."""
    groups = task_groups(tree)
    made = [
        node.lineno
        for node, receiver, name in calls(tree)
        if name in {"create_task", "ensure_future"} and receiver not in groups
    ]
    slots = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("asyncSlot")
    ]
    return made + slots


def nested_loops(tree: ast.Module) -> list[str]:
    """What spins a loop of Qt's within another."""
    return [
        f"{node.lineno} {receiver}.{name}"
        for node, receiver, name in calls(tree)
        if (receiver and name in NESTED_LOOPS)
        or name in STATIC_DIALOGS.get(receiver.rpartition(".")[2], ())
        or name == "QEventLoop"
    ]


def spinning_waits(tree: ast.Module) -> list[str]:
    """Waits of pytest-qt in async tests: they lose asyncio tasks."""
    return [
        f"{node.lineno} {receiver}.{name}"
        for function in ast.walk(tree)
        if isinstance(function, ast.AsyncFunctionDef)
        for node, receiver, name in calls(function)
        if receiver.endswith("qtbot") and SPINNING_WAITS.fullmatch(name)
    ]


def machine_bound(text: str) -> list[str]:
    """Registries, downloads and paths of one machine."""
    hosts = [host for host in REGISTRY_HOSTS if host in text]
    return hosts + DOWNLOAD.findall(text) + MACHINE_PATH.findall(text)


def text_of(path: Path) -> str:
    """The file's text, empty if it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_file_has_more_than_400_lines() -> None:
    long = {
        relative(path): count
        for path in python_files("sophos_desktop", "packaging", "tests")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_no_module_is_called_utils_or_helpers() -> None:
    names = {"utils.py", "helpers.py", "util.py", "helper.py", "misc.py", "common.py"}
    assert [relative(path) for path in python_files("sophos_desktop", "tests") if path.name in names] == []


def test_packaging_is_no_package() -> None:
    assert python_files("packaging"), "the folder is there"
    assert not [path for path in python_files("packaging") if path.name == "__init__.py"]


def test_every_task_has_an_owner() -> None:
    found = {
        relative(path): lines
        for path in python_files("sophos_desktop")
        if relative(path) not in OWNERS_OF_TASKS and (lines := bare_tasks(parsed(path)))
    }
    assert found == {}


def test_the_shell_never_spins_a_nested_loop() -> None:
    found = {
        relative(path): lines
        for path in python_files("sophos_desktop/shell")
        if (lines := nested_loops(parsed(path)))
    }
    assert found == {}


def test_no_async_test_spins_a_nested_loop() -> None:
    found = {
        relative(path): lines for path in python_files("tests") if (lines := spinning_waits(parsed(path)))
    }
    assert found == {}


def test_no_file_is_bound_to_a_registry_a_download_or_one_machine() -> None:
    found = {
        relative(path): words
        for path in project_files()
        if path != Path(__file__) and (words := machine_bound(text_of(path)))
    }
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "asyncio.create_task(work())",
        "loop.create_task(work())",
        "asyncio.ensure_future(work())",
        "@qasync.asyncSlot()\nasync def f(): ...",
        "from qasync import asyncSlot\n@asyncSlot()\nasync def f(): ...",
    ],
)
def test_a_task_without_an_owner_is_noticed(code: str) -> None:
    assert bare_tasks(ast.parse(code))


def test_a_task_of_a_group_has_an_owner() -> None:
    code = "async def f():\n  async with asyncio.TaskGroup() as group:\n    group.create_task(work())"
    assert bare_tasks(ast.parse(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "dialog.exec()",
        "app.processEvents()",
        "QtWidgets.QMessageBox.warning(None, '', '')",
        "QFileDialog.getOpenFileName(None)",
        "QEventLoop()",
    ],
)
def test_a_nested_loop_is_noticed(code: str) -> None:
    assert nested_loops(ast.parse(code))


@pytest.mark.parametrize(
    "name", ["wait", "waitSignal", "waitUntil", "wait_until", "waitExposed", "wait_signals"]
)
def test_a_spinning_wait_is_noticed_in_async_tests_only(name: str) -> None:
    assert spinning_waits(ast.parse(f"async def test(qtbot):\n  qtbot.{name}(1)"))
    assert not spinning_waits(ast.parse(f"def test(qtbot):\n  qtbot.{name}(1)"))


@pytest.mark.parametrize(
    "text",
    [
        "see " + "pypi" + ".org/simple",
        "https://example.org/a/model-1" + ".gguf",
        '"/ro' + 'ot/project/x"',
        "cd /wo" + "rk/main",
        "/ho" + "me/somebody/file",
        "C:\\Us" + "ers\\somebody",
    ],
)
def test_what_is_bound_to_one_machine_is_noticed(text: str) -> None:
    assert machine_bound(text)


@pytest.mark.parametrize(
    "text", ["see https://example.org/docs", "/usr/bin/env", "~/work/x", "the /work of art"]
)
def test_what_is_the_same_everywhere_is_not(text: str) -> None:
    assert machine_bound(text) == []
