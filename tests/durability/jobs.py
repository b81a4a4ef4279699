"""One start of the program, as it is handed to the fork server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """`call` is `module:function`, called with `argv`; `kill_after_seconds`: SIGKILL then; `interrupt_file`
    and `interrupt_text`: SIGINT once the file holds the text; `limit_file_bytes`: no file may grow larger."""

    call: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    stdout: str
    stderr: str
    kill_after_seconds: float | None = None
    interrupt_file: str | None = None
    interrupt_text: str = ""
    limit_file_bytes: int | None = None
