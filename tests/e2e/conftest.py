"""The real program with a folder of its own."""

from pathlib import Path

import pytest

from tests.e2e.cli_program import Program


@pytest.fixture
def program(data_dir: Path, environ: dict[str, str]) -> Program:
    """The program as a child process, with no engine until `use`."""
    return Program(data_dir, environ)
