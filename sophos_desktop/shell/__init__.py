"""The window: all Qt of the program.

Invariant: Qt for Python watches no import once this is loaded. It puts a hook of its own around every
`import` to serve `__feature__`, which nothing here uses, and reads the source of every module for it: a
sixth of the start and, with the agent loaded, 50 MB of source lines kept in memory (PySide6 6.11).
"""

import builtins

import PySide6.QtCore  # noqa: F401  # sets the hook

builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
