"""A child of the program is in its job before it runs, and no handle is left open, whatever fails."""

import ctypes
import sys

import pytest

from sophos_desktop.foundation.windows_job import CREATION_FLAGS, ExtendedLimits, WindowsJob, windows

JOB, PROCESS, PID = 11, 22, 4711
WHOLE = ["create job", "limit 11 0x2000", "open 4711", "assign 22 to 11", "resume 22", "close 22"]


class FakeSystem:
    """Writes down what is asked of it; `fails` names the call that does not succeed."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.said: list[str] = []

    def _say(self, name: str, text: str) -> None:
        if name == self.fails:
            raise OSError(f"{name} failed")
        self.said.append(text)

    def create_job(self) -> int:
        self._say("create", "create job")
        return JOB

    def limit(self, job: int, limits: ExtendedLimits) -> None:
        self._say("limit", f"limit {job} {limits.basic.limit_flags:#x}")

    def open_process(self, pid: int) -> int:
        self._say("open", f"open {pid}")
        return PROCESS

    def assign(self, job: int, process: int) -> None:
        self._say("assign", f"assign {process} to {job}")

    def resume(self, process: int) -> None:
        self._say("resume", f"resume {process}")

    def end_job(self, job: int) -> None:
        self._say("end", f"end {job}")

    def close(self, handle: int) -> None:
        self._say("close", f"close {handle}")


def test_a_child_is_put_into_a_job_that_ends_with_us_and_only_then_runs() -> None:
    system = FakeSystem()
    job = WindowsJob.adopt(PID, system)
    assert system.said == WHOLE
    job.end()
    job.close()
    job.close()
    job.end()
    assert system.said[len(WHOLE) :] == ["end 11", "close 11"]


@pytest.mark.parametrize(
    ("fails", "closed"),
    [
        ("create", []),
        ("limit", ["close 11"]),
        ("open", ["close 11"]),
        ("assign", ["close 22", "close 11"]),
        ("resume", ["close 22", "close 11"]),
    ],
)
def test_a_child_that_cannot_be_put_into_a_job_leaves_no_handle(fails: str, closed: list[str]) -> None:
    system = FakeSystem(fails)
    with pytest.raises(OSError, match=f"{fails} failed"):
        WindowsJob.adopt(PID, system)
    assert [said for said in system.said if said.startswith("close")] == closed
    assert "resume 22" not in system.said


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes of a 64-bit system")
def test_the_limits_have_the_size_and_places_that_windows_expects() -> None:
    assert ctypes.sizeof(ExtendedLimits) == 144
    basic = type(ExtendedLimits().basic)
    assert ctypes.sizeof(basic) == 64
    assert (basic.limit_flags.offset, basic.active_process_limit.offset, basic.affinity.offset) == (
        16,
        40,
        48,
    )
    assert ExtendedLimits.io_counters.offset == 64
    assert ExtendedLimits.process_memory_limit.offset == 112


def test_a_child_starts_suspended_without_a_window_in_a_group_of_its_own() -> None:
    assert CREATION_FLAGS == 0x0800_0204


@pytest.mark.skipif(sys.platform == "win32", reason="there it works")
def test_elsewhere_there_are_no_jobs() -> None:
    with pytest.raises(OSError, match="Windows"):
        windows()
