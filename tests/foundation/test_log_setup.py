"""The log is bounded, silent and in UTC."""

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from sophos_desktop.foundation.log_setup import set_up_logging
from tests.support.guards import ExpectedLogs


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    close = set_up_logging(tmp_path / "logs", level="DEBUG")
    yield tmp_path / "logs" / "sophos.log"
    close()


def test_a_line_says_when_in_utc_how_bad_who_and_what(log_file: Path) -> None:
    logging.getLogger("sophos.sample").info("started %s", "🦉")
    line = log_file.read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO \d+ sophos\.sample: started 🦉\n", line)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_log_is_for_this_user_alone(log_file: Path) -> None:
    assert log_file.stat().st_mode & 0o777 == 0o600
    assert log_file.parent.stat().st_mode & 0o777 == 0o700


def test_the_log_never_takes_more_than_five_megabytes(log_file: Path) -> None:
    logger = logging.getLogger("sophos.sample")
    for _ in range(130):
        logger.info("x" * 50_000)
    files = list(log_file.parent.iterdir())
    assert len(files) == 5
    assert sum(file.stat().st_size for file in files) <= 5_000_000


def test_libraries_that_report_each_request_are_silenced(log_file: Path) -> None:
    logging.getLogger("httpx").info("HTTP Request: GET")
    logging.getLogger("httpcore.connection").debug("connect_tcp.started")
    assert log_file.read_text() == ""


def test_warnings_of_python_go_to_the_log(log_file: Path, expected_logs: ExpectedLogs) -> None:
    expected_logs("beta feature")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("beta feature", UserWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert "beta feature" in log_file.read_text()


def test_another_process_may_rotate_the_file_away(log_file: Path) -> None:
    logger = logging.getLogger("sophos.sample")
    logger.info("before")
    log_file.rename(log_file.with_name("sophos.log.1"))
    logger.info("after")
    assert "after" in log_file.read_text()
    assert "after" not in log_file.with_name("sophos.log.1").read_text()


def test_closing_puts_everything_back(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("httpx").level)
    set_up_logging(tmp_path, level=logging.INFO)()
    assert (root.level, list(root.handlers), logging.getLogger("httpx").level) == before


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expected_logs: ExpectedLogs
) -> None:
    expected_logs("nobody will read this")
    (tmp_path / "file").write_text("")
    close = set_up_logging(tmp_path / "file" / "logs")
    logging.getLogger("sophos.sample").error("nobody will read this")
    close()
    assert capsys.readouterr().err == ""


def test_a_disk_that_fills_up_is_silent(
    log_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    handler = next(item for item in logging.getLogger().handlers if hasattr(item, "baseFilename"))
    monkeypatch.setattr(handler, "stream", type("Full", (), {"write": fail, "fileno": fail, "tell": fail})())
    logging.getLogger("sophos.sample").info("lost")
    monkeypatch.undo()
    assert capsys.readouterr().err == ""


def test_it_works_where_there_is_no_standard_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    close = set_up_logging(tmp_path)
    logging.getLogger("sophos.sample").info("started")
    close()
    monkeypatch.undo()
    assert "started" in (tmp_path / "sophos.log").read_text()


def test_a_disk_that_is_full_when_the_log_is_closed_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = set_up_logging(tmp_path, level="DEBUG")
    (handler,) = [h for h in logging.getLogger().handlers if isinstance(h, RotatingFileHandler)]
    real = handler.close

    def full() -> None:
        real()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(handler, "close", full)
    close()


def test_a_pipe_in_the_place_of_the_log_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sophos.log")
    set_up_logging(tmp_path)()
