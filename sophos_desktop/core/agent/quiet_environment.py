"""Hides variables from libraries that read the environment while they are imported.

Invariant: the environment is the same afterwards; what the variables mean is decided by the engines alone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_engine_variables() -> Iterator[None]:
    """No `OLLAMA_…` and no proxy variable inside the block."""
    hidden = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith("OLLAMA_") or name.upper().endswith("_PROXY")
    }
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
