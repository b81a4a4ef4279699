"""Says a sentence to whoever listens to the window instead of looking at it.

Invariant: nothing that is seen depends on it. Screen readers speak what an `Announcement` says when they are
done with what they are saying (Orca from 45 on, Narrator, NVDA, VoiceOver).
"""

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(about: QWidget, words: str) -> None:
    """Have `words` spoken; `about` is what they come from."""
    if words and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(about, words))
