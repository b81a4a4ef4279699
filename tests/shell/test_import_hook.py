"""Qt for Python does not read the source of what is imported after it."""

import subprocess
import sys

_LOOK = """
import linecache
import sophos_desktop.shell
import colorsys
kept = [name for name in linecache.cache if name == colorsys.__file__]
assert not kept, kept
"""


def test_no_source_is_read_for_an_import_once_the_window_is_loaded() -> None:
    looked = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, timeout=60)

    assert looked.returncode == 0, looked.stderr


def test_qt_would_read_it_by_itself() -> None:
    """When this fails, `sophos_desktop.shell` has nothing to undo any more."""
    by_itself = _LOOK.replace("sophos_desktop.shell", "PySide6.QtCore")
    looked = subprocess.run([sys.executable, "-c", by_itself], capture_output=True, text=True, timeout=60)

    assert looked.returncode != 0
    assert "AssertionError" in looked.stderr
