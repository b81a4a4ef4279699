"""What is installed is what is pinned, and does what we count on."""

import re
import sys
from importlib import metadata

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from tests.support.sources import ROOT

PINS = dict(
    line.split("==")
    for line in (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
BUILD_TOOLS = {"pip", "setuptools"}  # a developer's environment may have others


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_installed_is_what_is_pinned() -> None:
    pins = {normalized(name): version for name, version in PINS.items()}
    installed = {normalized(item.name): item.version for item in metadata.distributions()}
    differing = {
        name: f"{version} installed, {pins.get(name, 'nothing')} pinned"
        for name, version in installed.items()
        if name not in BUILD_TOOLS | {"sophos-desktop"} and pins.get(name) != version
    }
    assert differing == {}


def test_the_pins_are_exact_and_in_order() -> None:
    assert list(PINS) == sorted(PINS, key=str.lower)
    assert all(re.fullmatch(r"[\w.]+", version) for version in PINS.values())


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal there")
def test_qt_gives_back_as_many_references_to_none_as_it_takes(qapp: QApplication) -> None:
    timer = QTimer()
    before = sys.getrefcount(None)
    for _ in range(2_000):
        timer.start(1_000)
        timer.setInterval(1_000)
        timer.stop()
    assert abs(sys.getrefcount(None) - before) < 200, "PySide6 6.12.0 lost one a call and aborted the process"
