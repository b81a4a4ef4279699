"""Makes the QActions of the window's commands.

Invariant: each has an object name; its key is the platform's own where the platform has one.
"""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence


def command(
    parent: QObject, name: str, text: str, keys: str = "", standard: QKeySequence.StandardKey | None = None
) -> QAction:
    """`keys` stand where the platform has none for `standard`; both empty: a command without a key."""
    action = QAction(text, parent)
    action.setObjectName(name)
    habits = QKeySequence.keyBindings(standard) if standard is not None else []
    if habits:
        action.setShortcut(habits[0])
    elif keys:
        action.setShortcut(QKeySequence(keys))
    return action
