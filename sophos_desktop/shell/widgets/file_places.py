"""What a file that is written for a person is called at first, and which folder a dialog opens in.

Invariant: a proposed name is valid on every system that the program runs on; a proposed folder exists.
"""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QStandardPaths

_MOST_CHARACTERS: Final = 80
_MOST_BYTES: Final = 200  # of 255, which most file systems allow, endings included
_FORBIDDEN: Final = frozenset('<>:"/\\|?*')
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul"})
_NUMBERED_DEVICES: Final = ("com", "lpt")
_Place = QStandardPaths.StandardLocation


def proposed_name(title: str, otherwise: str) -> str:
    """`title` as the name of a file, without an ending; `otherwise` if nothing of it can be one."""
    kept = "".join(" " if one in _FORBIDDEN or not one.isprintable() else one for one in title)
    name = " ".join(kept.split())[:_MOST_CHARACTERS]
    name = name.encode("utf-8", "ignore")[:_MOST_BYTES].decode("utf-8", "ignore").strip(". ")
    return name if name and not _is_device(name) else otherwise


def _is_device(name: str) -> bool:
    """Windows takes such a name, whatever follows a dot, for a device."""
    stem = name.partition(".")[0].strip().casefold()
    return stem in _DEVICES or (stem[:3] in _NUMBERED_DEVICES and stem[3:].isdigit())


def start_folder() -> str:
    """The person's documents if there is such a folder, else the home folder."""
    for place in (_Place.DocumentsLocation, _Place.HomeLocation):
        folder = QStandardPaths.writableLocation(place)
        if folder and Path(folder).is_dir():
            return folder
    return str(Path.home())
