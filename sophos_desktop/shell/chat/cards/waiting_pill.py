"""The pill that says that a question is open which is not in the view, and leads there.

Invariant: a child of the viewport, put back in place after each layout; it takes no focus and moves nothing
by itself.
"""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from sophos_desktop.shell.chat.cards.card_words import WAITING
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.tokens import Tokens

_HEIGHT = 32
_ICON = 14
_ABOVE_EDGE = 12
_OVER_PILL = 20  # how far the other pill, its shadow included, reaches up; the shadows may meet


class WaitingPill(QPushButton):
    """Lives as long as its view."""

    def __init__(self, viewport: QWidget, theme: Theme) -> None:
        """Hidden."""
        super().__init__(f" {WAITING}", viewport)  # Qt leaves less air behind an icon than the other pill has
        self.setObjectName("waitingPill")
        self.setAccessibleName(WAITING)
        self.setAccessibleDescription("Shows the first call that waits for your decision")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAutoDefault(False)
        self.setIconSize(QSize(_ICON, _ICON))
        self._viewport = viewport
        self._theme = theme
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def show_waiting(self, *, is_shown: bool, above: int) -> None:
        """Be there or not; `above`: how high the pill is that stands at the lower edge, 0 for none."""
        if is_shown:
            size = QSize(self.sizeHint().width(), _HEIGHT)
            under = _ABOVE_EDGE if above == 0 else above - _OVER_PILL + _ABOVE_EDGE
            place = QPoint(
                (self._viewport.width() - size.width()) // 2, self._viewport.height() - under - _HEIGHT
            )
            if self.size() != size:
                self.resize(size)
            if self.pos() != place:
                self.move(place)
        if is_shown == self.isHidden():
            self.setVisible(is_shown)
            self.raise_()

    def move_to_top(self) -> None:
        """Away from what it would lie on."""
        self.move(self.x(), _ABOVE_EDGE)

    def _on_theme_changed(self) -> None:
        self.setIcon(icon(Mark.WAITING, self._theme, "warning"))


def pill_style(t: Tokens) -> str:
    """The style sheet's rules for the pill."""
    return f"""
#waitingPill {{ background: {t.warning_soft}; color: {t.warning}; border: 1px solid {t.warning_line};
  border-radius: {_HEIGHT // 2}px; padding: 0 14px; min-height: {_HEIGHT - 2}px; font-weight: 500; }}
#waitingPill:hover {{ background: {t.raised}; }}
#waitingPill:focus {{ border: 2px solid {t.accent}; }}
"""
