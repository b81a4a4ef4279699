"""Starts the program: `python -m sophos_desktop`.

Invariant: Ctrl+C is never a traceback. While the program loads, and once its command is done, nothing is open
and it leaves at once; in between it is heard by `cli.signals`, or by the window.
"""

import os
import signal
import sys

_STOPPED = 130


def main() -> int:
    """Run the program; gives its exit code. Whoever starts it deaf to SIGINT is obeyed."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(_STOPPED))
    from sophos_desktop.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
