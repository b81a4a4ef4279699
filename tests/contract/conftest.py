"""A program with a folder of its own."""

from pathlib import Path

import pytest

from tests.contract.in_process import Program


@pytest.fixture
def program(data_dir: Path, environ: dict[str, str]) -> Program:
    """The program in this process, with no engine until `use`."""
    return Program(data_dir, environ)
