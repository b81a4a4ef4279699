"""What the mouse does on the painted text.

Invariant: a link or a button acts when it is pressed and let go without a drag between; all else is for the
handler (the selection), which is told of everything that is not on a button.
"""

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.transcript.copying.code_copy import whole_code
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.view.exposure import Exposure
from sophos_desktop.shell.transcript.view.geometry import Geometry
from sophos_desktop.shell.transcript.view.hit_areas import Hit, HitKind, hit
from sophos_desktop.shell.transcript.view.marking import Marking
from sophos_desktop.shell.transcript.view.sideways import Group, Sideways
from sophos_desktop.shell.transcript.view.sideways_bar import SidewaysDrag
from sophos_desktop.shell.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

COPIED_MILLISECONDS = 2_000
_BUTTONS = (HitKind.COPY_CODE, HitKind.COPY_ADDRESS, HitKind.IMAGE)


class MouseHandler(Protocol):
    """Who is told of the mouse on text; positions are the viewport's."""

    def press(self, event: QMouseEvent) -> None:
        """A button went down."""
        ...

    def move(self, event: QMouseEvent) -> None:
        """The pointer moved, with or without a button."""
        ...

    def release(self, event: QMouseEvent) -> None:
        """A button went up."""
        ...

    def double_click(self, event: QMouseEvent) -> None:
        """The second press of two."""
        ...


class Pointer:
    """Lives as long as its view."""

    def __init__(
        self,
        view: "TranscriptView",
        geometry: Geometry,
        marking: Marking,
        exposure: Exposure,
        sideways: Sideways,
    ) -> None:
        """No handler."""
        self._view = view
        self._geometry = geometry
        self._marking = marking
        self._exposure = exposure
        self._drag = SidewaysDrag(geometry, sideways)
        self._handler: MouseHandler | None = None
        self._pressed: Hit | None = None
        self._pressed_at = QPointF()
        self._wheel_rest = 0.0
        self._copied_timer = QTimer(view)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.setInterval(COPIED_MILLISECONDS)
        self._copied_timer.timeout.connect(self._on_copied_is_old)

    def set_handler(self, handler: MouseHandler) -> None:
        """Tell another one."""
        self._handler = handler

    def forget(self) -> None:
        """Another conversation."""
        self._pressed = None
        self._drag.release()
        self._marking.hovered = self._marking.hovered_bar = None
        self._on_copied_is_old()

    def hit_at(self, point: QPointF) -> Hit | None:
        """What reacts at `point`."""
        image = self._exposure.image_at(point)
        if image is not None:
            return Hit(HitKind.IMAGE, image[1], image[2], image[0].message, image[0].part)
        placed = self._geometry.part_at(point.y())
        part = self._geometry.text_part(placed) if placed is not None else None
        return hit(part, point, self._view.looks) if part is not None else None

    # The mouse.

    def handle(self, event: QEvent) -> bool:
        """Take an event of the viewport; False if it is none of the mouse."""
        if isinstance(event, QMouseEvent):
            slots = {
                QEvent.Type.MouseButtonPress: self.press,
                QEvent.Type.MouseMove: self.move,
                QEvent.Type.MouseButtonRelease: self.release,
                QEvent.Type.MouseButtonDblClick: self.double_click,
            }
            slot = slots.get(event.type())
            if slot is not None:
                slot(event)
                return True
        elif event.type() == QEvent.Type.Leave:
            self.leave()
        return False

    def press(self, event: QMouseEvent) -> None:
        """Note what is pressed; the handler hears of presses on text."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and self._drag.press(event.position(), self._view.looks):
            self._view.schedule()
            return
        self._pressed = self.hit_at(event.position()) if is_left else None
        self._pressed_at = event.position()
        if self._handler is not None and not self._is_on_button:
            self._handler.press(event)

    @property
    def _is_on_button(self) -> bool:
        return (
            self._pressed is not None and self._pressed.kind in _BUTTONS and not self._pressed.area.isNull()
        )

    def move(self, event: QMouseEvent) -> None:
        """Show what is under the pointer."""
        if self._drag.is_active:
            if self._drag.move(event.position()):
                self._view.schedule()
            return
        if not event.buttons():
            self._hover(event.position())
        if self._handler is not None and not self._is_on_button:
            self._handler.move(event)

    def release(self, event: QMouseEvent) -> None:
        """Do what was pressed, if the pointer is still there."""
        if self._drag.is_active:
            if event.button() == Qt.MouseButton.LeftButton:
                self._drag.release()
                self._hover(event.position())
            return
        was_on_button = self._is_on_button
        pressed, self._pressed = self._pressed, None
        if self._handler is not None and not was_on_button:
            self._handler.release(event)
        moved = (event.position() - self._pressed_at).manhattanLength()
        if pressed is not None and moved < QApplication.startDragDistance():
            self._activate(pressed)

    def double_click(self, event: QMouseEvent) -> None:
        """On a button or a bar it is a second press."""
        if event.button() == Qt.MouseButton.LeftButton and self._drag.press(
            event.position(), self._view.looks
        ):
            return
        self._pressed = self.hit_at(event.position())
        self._pressed_at = event.position()
        if self._handler is not None and not self._is_on_button:
            self._handler.double_click(event)

    def leave(self) -> None:
        """The pointer is elsewhere."""
        if not self._drag.is_active:
            self._set_hovered_bar(None)
        self._set_hovered(None)

    def _hover(self, point: QPointF) -> None:
        self._set_hovered_bar(self._drag.group_at(point, self._view.looks))
        found = self.hit_at(point)
        viewport = self._view.viewport()
        if self._marking.hovered_bar is not None:
            shape = Qt.CursorShape.ArrowCursor
        elif found is not None:
            shape = Qt.CursorShape.PointingHandCursor
        else:
            placed = self._geometry.part_at(point.y())
            is_text = placed is not None and self._geometry.text_part(placed) is not None
            shape = Qt.CursorShape.IBeamCursor if is_text else Qt.CursorShape.ArrowCursor
        if viewport.cursor().shape() != shape:
            viewport.setCursor(shape)
        self._set_hovered(found)

    def _set_hovered_bar(self, group: Group | None) -> None:
        if group != self._marking.hovered_bar:
            self._marking.hovered_bar = group
            self._view.schedule()

    def _set_hovered(self, found: Hit | None) -> None:
        before = self._marking.hovered
        if found == before:
            return
        self._marking.hovered = found
        target = found.target if found is not None and found.kind is HitKind.LINK else ""
        self._view.viewport().setToolTip(plain_tip(target))
        self._view.linkHovered.emit(target)
        self._view.schedule()

    # What is done.

    def _activate(self, pressed: Hit) -> None:
        if pressed.kind is HitKind.LINK:
            self._view.linkActivated.emit(pressed.target)
        elif pressed.kind is HitKind.FOOTNOTE:
            self._go_to_footnote(pressed)
        elif pressed.kind is HitKind.COPY_ADDRESS:
            self._view.copyRequested.emit(pressed.target)
        elif pressed.kind is HitKind.IMAGE:
            self._view.imageActivated.emit(pressed.target)
        else:
            self._copy_code(pressed)

    def _go_to_footnote(self, pressed: Hit) -> None:
        environment = self._view.model.environment(pressed.message)
        segment = environment.footnote_place(pressed.target) if environment is not None else None
        if segment is not None:
            self._view.scroll_to(TextPosition(pressed.message, segment, 0))

    def _copy_code(self, pressed: Hit) -> None:
        model = self._view.model
        source = whole_code(
            model, pressed.message, pressed.part, pressed.target, is_last=self._is_last_box(pressed)
        )
        self._view.copyRequested.emit(source)
        self._marking.copied = (model.key(pressed.message), pressed.part, pressed.index)
        self._copied_timer.start()
        self._view.schedule()

    def _is_last_box(self, pressed: Hit) -> bool:
        """Whether nothing is drawn below the box in its segment: then the code may go on in the next."""
        key = self._view.model.key(pressed.message)
        drawn = self._view.transcript_layout.documents.peek(key, pressed.part)
        if drawn is None or pressed.index != len(drawn.built.code_boxes) - 1:
            return False
        return drawn.built.code_boxes[-1].last_block == drawn.document.blockCount() - 1

    def _on_copied_is_old(self) -> None:
        self._copied_timer.stop()
        if self._marking.copied is not None:
            self._marking.copied = None
            self._view.schedule()

    # The wheel.

    def wheel(self, event: QWheelEvent, notch_pixels: int, notch: int) -> None:
        """Scroll by exact pixels where the device says them."""
        pixels, angle = event.pixelDelta(), event.angleDelta()
        is_exact = not pixels.isNull()
        x = float(pixels.x()) if is_exact else angle.x() * notch_pixels / notch
        y = float(pixels.y()) if is_exact else angle.y() * notch_pixels / notch
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not x:
            x, y = y, 0.0
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # zooming is the window's
            return
        if abs(x) > abs(y):
            self._scroll_sideways(event.position(), round(-x))
        else:
            whole = round(-y + self._wheel_rest)
            self._wheel_rest += -y - whole
            self._view.scroll_by(whole)
        event.accept()

    def _scroll_sideways(self, point: QPointF, pixels: int) -> None:
        placed = self._geometry.part_at(point.y())
        part = self._geometry.text_part(placed) if placed is not None else None
        if part is None or part.group is None:
            return
        if self._view.sideways.scroll(part.group, pixels, part.drawn.width):
            self._view.schedule()
