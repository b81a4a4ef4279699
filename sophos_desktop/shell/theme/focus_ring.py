"""The ring around a button that the keyboard is on.

Invariant: there is at most one; fields, lists and what holds text show the focus inside themselves; a click
with the mouse makes no ring. It is a widget of its own over the button: a QFocusFrame takes its distance from
a style, and a style of its own outlives or predeceases it (a crash when the window goes, PySide 6.11).
"""

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QScrollBar,
    QWidget,
)

from sophos_desktop.shell.theme.measures import MEASURES

_MARGIN = MEASURES.focus_ring_gap + MEASURES.focus_ring_width
_MOVING = frozenset({QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide})


class _Ring(QWidget):
    """Belongs to the window, or the scrolled page, that its button is in."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Two pixels of accent, two away."""
        width = MEASURES.focus_ring_width
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
        radius = MEASURES.button_radius + _MARGIN - width / 2
        painter.drawRoundedRect(box, radius, radius)
        painter.end()


class FocusRing(QObject):
    """Lives as long as the window whose widgets, and whose dialogs' widgets, it rings."""

    def __init__(self, window: QWidget) -> None:
        """Watches the application's focus."""
        super().__init__(window)
        self._window = window
        self._ring: _Ring | None = None
        self._ringed: QWidget | None = None
        self._page = window
        self._watched: list[QWidget] = []
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    @property
    def ringed(self) -> QWidget | None:
        """What has the ring."""
        return self._ringed

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        self._leave()
        # A button of the mouse is still held while it moves the focus; keys move it without.
        by_mouse = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if new is not None and not by_mouse and self._is_ringed(new):
            self._go_to(new)

    def _is_ringed(self, widget: QWidget) -> bool:
        if isinstance(widget, QScrollBar) or not isinstance(widget, QAbstractButton | QAbstractSlider):
            return False
        return widget.window() is self._window or widget.window().parentWidget() is self._window

    def _go_to(self, button: QWidget) -> None:
        self._ringed = button
        page = button
        while (above := page.parentWidget()) is not None and not page.isWindow():
            if page is not button and _is_scrolled(page):
                break
            self._watched.append(page)
            page = above
        for widget in self._watched:
            widget.installEventFilter(self)
        self._page = page
        self._ring = _Ring(page)
        self._ring.installEventFilter(self)  # a viewport that scrolls moves the ring as well as its button
        self._place()
        self._ring.show()
        self._ring.raise_()

    def _leave(self) -> None:
        for widget in self._watched:
            if shiboken6.isValid(widget):
                widget.removeEventFilter(self)
        self._watched.clear()
        self._ringed = None
        if self._ring is not None and shiboken6.isValid(self._ring):  # else it went with its dialog
            self._ring.hide()
            self._ring.deleteLater()
        self._ring = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The ring goes where its button goes."""
        if event.type() in _MOVING:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        if self._ring is None or self._ringed is None or not shiboken6.isValid(self._ring):
            return
        corner = self._ringed.mapTo(self._page, QPoint(0, 0))
        around = QRect(corner, self._ringed.size())
        self._ring.setGeometry(around.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))
        self._ring.setVisible(self._ringed.isVisible())


def _is_scrolled(widget: QWidget) -> bool:
    """True for the page of a scroll area: there a ring is cut off and moved with its button."""
    above = widget.parentWidget()
    return isinstance(above, QAbstractScrollArea) and above.viewport() is widget
