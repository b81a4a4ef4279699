"""Knows whether a window can be shown here, before Qt is asked: Qt aborts the process where none can."""

from collections.abc import Mapping


def has_display(environ: Mapping[str, str], platform: str) -> bool:
    """True if Qt will find somewhere to draw. `platform` is `sys.platform`."""
    if not platform.startswith("linux"):
        return True
    return any(environ.get(name) for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"))
