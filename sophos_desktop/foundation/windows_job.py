"""A Windows job object that ends a child and all its descendants when this process ends, however it ends.

Invariant: the child is in the job before it runs its first instruction; whatever it starts is in it too; the
only handle is ours, so the system closes it with us. Nothing here is loaded from Windows before it is used.
"""

import ctypes
import sys
from typing import Any, Protocol

# CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED: the last until it is in its job.
CREATION_FLAGS = 0x08000000 | 0x00000200 | 0x00000004

_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMIT_INFORMATION = 9
_SET_QUOTA_TERMINATE_AND_RESUME = 0x0100 | 0x0001 | 0x0800


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("per_process_user_time_limit", ctypes.c_int64),
        ("per_job_user_time_limit", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set_size", ctypes.c_size_t),
        ("maximum_working_set_size", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, in types whose size is the same on every system."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory_used", ctypes.c_size_t),
        ("peak_job_memory_used", ctypes.c_size_t),
    )


class System(Protocol):
    """The calls that are needed; each raises OSError when it fails. Handles are numbers."""

    def create_job(self) -> int:
        """A new job without a name."""

    def limit(self, job: int, limits: ExtendedLimits) -> None:
        """Set a job's limits."""

    def open_process(self, pid: int) -> int:
        """A handle that may put a process into a job, resume and end it."""

    def assign(self, job: int, process: int) -> None:
        """Put a process into a job."""

    def resume(self, process: int) -> None:
        """Let a suspended process run."""

    def end_job(self, job: int) -> None:
        """End all processes of a job."""

    def close(self, handle: int) -> None:
        """Close a handle."""


class WindowsJob:
    """One child's job. Lives from right after its spawn until its owner has ended it."""

    def __init__(self, system: System, job: int) -> None:
        self._system = system
        self._job: int | None = job

    @classmethod
    def adopt(cls, pid: int, system: System | None = None) -> "WindowsJob":
        """Put a process that was spawned with `CREATION_FLAGS` into a new job, and let it run.

        Raises OSError; the process is still suspended then, or has ended."""
        system = system or windows()
        made = cls(system, system.create_job())
        try:
            limits = ExtendedLimits()
            limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
            system.limit(made._handle(), limits)
            process = system.open_process(pid)
            try:
                system.assign(made._handle(), process)
                system.resume(process)
            finally:
                system.close(process)
        except BaseException:
            made.close()
            raise
        return made

    def end(self) -> None:
        """End everything that is in the job, at once. Raises OSError."""
        if self._job is not None:
            self._system.end_job(self._job)

    def close(self) -> None:
        """Let go of the job, which ends what is left in it."""
        if self._job is not None:
            job, self._job = self._job, None
            self._system.close(job)

    def _handle(self) -> int:
        assert self._job is not None
        return self._job


def windows() -> System:
    """The real calls. Raises OSError elsewhere than on Windows."""
    if sys.platform == "win32":
        return _Windows()
    raise OSError("job objects are Windows' own")


if sys.platform == "win32":

    class _Windows:
        def __init__(self) -> None:
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._nt = ctypes.WinDLL("ntdll")
            handle, word, flag = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int
            for name, result, arguments in (
                ("CreateJobObjectW", handle, (handle, ctypes.c_wchar_p)),
                ("SetInformationJobObject", flag, (handle, flag, handle, word)),
                ("OpenProcess", handle, (word, flag, word)),
                ("AssignProcessToJobObject", flag, (handle, handle)),
                ("TerminateJobObject", flag, (handle, word)),
                ("CloseHandle", flag, (handle,)),
            ):
                function = getattr(self._kernel, name)
                function.restype, function.argtypes = result, arguments
            self._nt.NtResumeProcess.restype = ctypes.c_int32
            self._nt.NtResumeProcess.argtypes = (handle,)

        def create_job(self) -> int:
            return int(_checked(self._kernel.CreateJobObjectW(None, None)))

        def limit(self, job: int, limits: ExtendedLimits) -> None:
            size = ctypes.sizeof(limits)
            pointer = ctypes.byref(limits)
            _checked(self._kernel.SetInformationJobObject(job, _EXTENDED_LIMIT_INFORMATION, pointer, size))

        def open_process(self, pid: int) -> int:
            return int(_checked(self._kernel.OpenProcess(_SET_QUOTA_TERMINATE_AND_RESUME, 0, pid)))

        def assign(self, job: int, process: int) -> None:
            _checked(self._kernel.AssignProcessToJobObject(job, process))

        def resume(self, process: int) -> None:
            status = self._nt.NtResumeProcess(process)
            if status < 0:
                raise OSError(f"a process cannot be resumed (status {status & 0xFFFFFFFF:#x})")

        def end_job(self, job: int) -> None:
            _checked(self._kernel.TerminateJobObject(job, 1))

        def close(self, handle: int) -> None:
            _checked(self._kernel.CloseHandle(handle))

    def _checked(result: Any) -> Any:
        if not result:
            raise ctypes.WinError(ctypes.get_last_error())
        return result
