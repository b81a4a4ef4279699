"""Whether a window may let through what is behind it, and whether it may fade.

Invariant: asked once a menu, at no cost; where it is not known, the answer is no: a plain frame is right
everywhere, a black one nowhere.
"""

import ctypes
import ctypes.util
from functools import cache
from typing import Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget

_ALWAYS: Final = frozenset({"wayland", "windows", "cocoa", "offscreen"})
_FADING: Final = frozenset({"xcb", "windows", "cocoa"})  # the others print that they cannot


def is_composited() -> bool:
    """Whether somebody mixes windows that let others through."""
    platform = QGuiApplication.platformName().partition("-")[0]
    return platform in _ALWAYS or (platform == "xcb" and _has_compositor())


def may_fade(widget: QWidget) -> bool:
    """Whether a popup may fade in: the platform can, and nobody asked for reduced motion."""
    platform = QGuiApplication.platformName().partition("-")[0]
    hint = QStyle.StyleHint.SH_Widget_Animation_Duration
    return platform in _FADING and is_composited() and widget.style().styleHint(hint, None, widget) > 0


@cache
def _has_compositor() -> bool:
    """Ask the X server who owns the selection that a compositing manager has to hold (EWMH)."""
    name = ctypes.util.find_library("X11")
    if name is None:
        return False
    try:
        x11 = ctypes.CDLL(name)
    except OSError:
        return False
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x11.XGetSelectionOwner.restype = ctypes.c_ulong
    x11.XGetSelectionOwner.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    x11.XDefaultScreen.argtypes = [ctypes.c_void_p]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    try:
        selection = f"_NET_WM_CM_S{x11.XDefaultScreen(display)}".encode("ascii")
        return bool(x11.XGetSelectionOwner(display, x11.XInternAtom(display, selection, 0)))
    finally:
        x11.XCloseDisplay(display)
