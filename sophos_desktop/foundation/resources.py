"""Finds what is shipped with the program: configuration, icons, licences, the starter model.

Invariant: the same names work from a checkout and from the frozen app, where everything lies below
`sys._MEIPASS`. Nothing here is ever written to.
"""

import sys
from pathlib import Path


def root() -> Path:
    """The folder that holds `config/` and `resources/`."""
    bundle = getattr(sys, "_MEIPASS", None)
    return Path(bundle) if bundle else Path(__file__).resolve().parents[2]


def shipped_config(name: str) -> Path:
    """A file of the shipped `config/`, the layer below the user's own."""
    return root() / "config" / name


def resource(name: str) -> Path:
    """A file or folder of the shipped `resources/`; `name` may have slashes."""
    return root() / "resources" / name


def starter_model() -> Path | None:
    """The starter model's GGUF file, or None where it was not fetched."""
    for folder in (resource("models"), root() / "build" / "starter"):
        for model in sorted(folder.glob("*.gguf")):
            return model
    return None
