"""Names the system libraries that Qt misses on Linux, and the command that installs them.

Invariant: asks the system's own loader (`ldd`) what it cannot find, so the answer is whole and fits the
installed Qt; the table below only turns names of libraries into names of Debian packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def missing_libraries(qt: Path, plugins: list[str]) -> tuple[list[str], str]:
    """What the loader does not find for the Qt in the folder `qt`: names, and how to get them.

    `plugins` are the platform plugins that are going to be used ("xcb", "wayland", "offscreen").
    """
    files = [qt / "QtWidgets.abi3.so", qt / "QtSvg.abi3.so", qt / "QtNetwork.abi3.so"]
    files += [qt / "Qt" / "plugins" / "platforms" / f"libq{name}.so" for name in plugins]
    missing = sorted({name for file in files if file.exists() for name in not_found(file)})
    return missing, remedy(missing) if missing else ""


def not_found(file: Path) -> list[str]:
    """The libraries that `file` needs, itself or through others, and that are not there."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["ldd", str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            check=False,
        )
    except OSError:
        return []  # no ldd: the import that follows names the first one
    return re.findall(r"^\s*(\S+) => not found", answer.stdout, re.MULTILINE)


def remedy(missing: list[str]) -> str:
    """The command that installs `missing` on this system, as far as that is known."""
    as_root = "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "
    if shutil.which("apt-get"):
        packages = sorted({DEBIAN_PACKAGES.get(name, name) for name in missing})
        return f"{as_root}apt-get install {' '.join(packages)}"
    for manager in ("dnf", "zypper"):
        if shutil.which(manager):  # both install by what a package provides
            provided = " ".join(f"'{name}()(64bit)'" for name in missing)
            return f"{as_root}{manager} install {provided}"
    return "install the packages that hold them"
