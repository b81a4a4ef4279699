"""Starts the program: `python -m sophos_desktop`."""

import sys

from sophos_desktop.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
