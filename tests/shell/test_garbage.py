"""The collector stays on the GUI thread."""

import gc

from PySide6.QtCore import QObject

from sophos_desktop.shell.garbage import GuiCollector


def test_the_automatic_collector_is_off_between_start_and_stop() -> None:
    gc.enable()
    host = QObject()
    collector = GuiCollector(host)
    collector.start()
    assert not gc.isenabled()
    collector.stop()
    assert gc.isenabled()


def test_it_collects_what_the_automatic_collector_would() -> None:
    host = QObject()
    collector = GuiCollector(host)
    seen: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            seen.append(info["generation"])

    collector.start()
    kept = [[number] for number in range(gc.get_threshold()[0] * 2)]
    gc.callbacks.append(count)
    try:
        collector.collect()
        collector.collect()
    finally:
        gc.callbacks.remove(count)
        collector.stop()
    assert len(seen) == 1
    assert kept


def test_a_full_collection_waits_while_the_window_is_busy_but_not_for_ever() -> None:
    host = QObject()
    busy = [True]
    collector = GuiCollector(host, lambda: busy[0])
    full: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            full.append(1)

    def make_due() -> None:
        for _ in range(gc.get_threshold()[2] + 1):
            gc.collect(1)

    gc.collect()
    collector.start()
    gc.callbacks.append(count)
    try:
        make_due()
        collector.collect()
        assert full == []
        busy[0] = False
        collector.collect()
        assert full == [1]
        busy[0] = True
        make_due()
        for _ in range(100):
            collector.collect()
        assert full == [1, 1]
    finally:
        gc.callbacks.remove(count)
        collector.stop()
