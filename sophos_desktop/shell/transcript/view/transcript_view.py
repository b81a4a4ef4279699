"""Shows a conversation: paints what is in the view, and nothing else.

Invariant: one layout pass a frame, after whatever changed; while the reader has scrolled up, or anything
holds the view, no pixel of what is read moves. Nothing of an answer is opened, loaded or copied by the view
itself: it only says what the reader asked for.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from sophos_desktop.shell.transcript.drawing.documents import Documents
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.positions import Highlight, TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.view.bounded_images import BoundedImages, ImageProvider
from sophos_desktop.shell.transcript.view.card_host import CardFactory, CardHost, CardKey
from sophos_desktop.shell.transcript.view.caret import WritingCaret
from sophos_desktop.shell.transcript.view.column_fit import ColumnFit
from sophos_desktop.shell.transcript.view.damage import Damage
from sophos_desktop.shell.transcript.view.exposure import Exposure
from sophos_desktop.shell.transcript.view.geometry import Geometry
from sophos_desktop.shell.transcript.view.hosted_parts import HostedParts
from sophos_desktop.shell.transcript.view.jump_pill import JumpPill
from sophos_desktop.shell.transcript.view.layout import TranscriptLayout
from sophos_desktop.shell.transcript.view.marking import Marking
from sophos_desktop.shell.transcript.view.model_watch import ModelWatch
from sophos_desktop.shell.transcript.view.news import News
from sophos_desktop.shell.transcript.view.place_keeper import PlaceKeeper, ReadingPlace
from sophos_desktop.shell.transcript.view.pointer import MouseHandler, Pointer
from sophos_desktop.shell.transcript.view.reading_keys import LINE_PIXELS, Move, page_pixels, reading_move
from sophos_desktop.shell.transcript.view.rows import PartKind
from sophos_desktop.shell.transcript.view.sideways import Sideways
from sophos_desktop.shell.transcript.view.spare_time import SpareTime

_WHEEL_PIXELS = 72  # a notch
_WHEEL_NOTCH = 120


class TranscriptView(QAbstractScrollArea):
    """Lives as long as its window, on the GUI thread."""

    linkActivated = Signal(str)
    linkHovered = Signal(str)  # nothing when it is left
    imageActivated = Signal(str)  # the image's key
    copyRequested = Signal(str)
    atEndChanged = Signal(bool)
    newBelow = Signal(int)  # lines that came since the view left the end
    layoutChanged = Signal()  # after each layout pass

    _is_made = False  # the viewport sends events while the view is being made

    def __init__(self, looks: Looks, parent: QWidget | None = None) -> None:
        """Empty until `set_model`."""
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName("Conversation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        viewport = self.viewport()
        viewport.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        viewport.setMouseTracking(True)
        self._looks = looks
        self._cards = CardHost(viewport)
        self._images = BoundedImages(self._on_image_ready, self)
        self._sideways = Sideways()
        documents = Documents(looks.style)
        self._layout = TranscriptLayout(documents, HostedParts(documents, self._cards, self._images))
        self._geometry = Geometry(self._layout, self._sideways)
        self._marking = Marking(self._geometry, self._sideways)
        self._exposure = Exposure(self._layout, self._geometry, self._marking, self._images, looks)
        self._caret = WritingCaret(self, self._marking)
        self._damage = Damage(viewport)
        self._pointer = Pointer(self, self._geometry, self._marking, self._exposure, self._sideways)
        self._pill = JumpPill(viewport, looks)
        self._pill.clicked.connect(self.jump_to_latest)
        self._held: set[str] = set()
        self._place = PlaceKeeper(self._layout, self._geometry)
        self._is_syncing = False
        self._was_at_end = True
        self._news = News(self._layout)
        self._spare_time = SpareTime(self)
        self._watch = ModelWatch(self, self._place)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.timeout.connect(self.refresh)
        self._is_made = True

    # What it is made of.

    @property
    def model(self) -> TranscriptModel:
        """The conversation."""
        return self._layout.model

    @property
    def transcript_layout(self) -> TranscriptLayout:
        """Which parts are where."""
        return self._layout

    @property
    def geometry_of_text(self) -> Geometry:
        """Places in the text and their rectangles."""
        return self._geometry

    @property
    def looks(self) -> Looks:
        """The theme and the zoom in force."""
        return self._looks

    @property
    def pill(self) -> JumpPill:
        """The way back to the end."""
        return self._pill

    @property
    def cards(self) -> CardHost:
        """The widgets."""
        return self._cards

    @property
    def pointer(self) -> Pointer:
        """What reacts to the mouse."""
        return self._pointer

    @property
    def images(self) -> BoundedImages:
        """What decodes images."""
        return self._images

    @property
    def is_busy(self) -> bool:
        """Something is left to do in spare time; a full collection of garbage should wait."""
        return self._spare_time.is_busy or self._refresh_timer.isActive()

    @property
    def sideways(self) -> Sideways:
        """How far blocks are scrolled."""
        return self._sideways

    # What it shows.

    def set_model(self, model: TranscriptModel) -> None:
        """Show a conversation, from its end."""
        self._news.watch(model)  # first: the other lays out at once
        self._watch.watch(model)
        self.show_from_end()

    def show_from_end(self) -> None:
        """The model holds another conversation."""
        self._cards.clear()
        self._sideways.clear()
        self._marking.clear_highlights()
        self._pointer.forget()
        self._held.clear()
        self._place.forget()
        self._layout.set_model(self._watch.model)
        self._news.forget()
        self._damage.forget()
        self.refresh()

    def reading_place(self) -> ReadingPlace | None:
        """Where the reader is, to come back to; None while the end is followed or in the view."""
        return self._place.here()

    def go_back(self, place: ReadingPlace) -> None:
        """Show the place again; the end if what was there is gone."""
        self._place.go_back(place)
        self.refresh()

    def set_looks(self, looks: Looks) -> None:
        """Another theme or zoom; what is read stays where it is."""
        is_same_size = looks.is_as_large_as(self._looks)
        if not is_same_size:
            self._place.keep()
        self._looks = looks
        self._exposure.set_looks(looks)
        self._pill.set_looks(looks)
        self._layout.documents.set_style(looks.style)
        self._fit_width()
        if not is_same_size:
            self._layout.rows.remeasure_all()
            self._place.restore()
        self._damage.forget()
        self.refresh()

    def set_card_factory(self, factory: CardFactory) -> None:
        """Who makes the widgets of cards and footers; see card_host."""
        self._cards.set_factory(factory)
        self._layout.rows.remeasure_all()
        self.refresh()

    def set_image_provider(self, provider: ImageProvider) -> None:
        """Who gives the bytes of images, by their keys."""
        self._images.set_provider(provider)

    def set_mouse_handler(self, handler: MouseHandler) -> None:
        """Who is asked first about the mouse on text: the selection."""
        self._pointer.set_handler(handler)

    def set_highlights(self, layer: str, highlights: Sequence[Highlight]) -> None:
        """Paint grounds behind text; later layers over earlier ones."""
        if self._marking.set_highlights(layer, highlights):
            self.schedule()

    def set_held(self, reason: str, *, is_held: bool) -> None:
        """While anything holds the view (a selection), it does not follow the end."""
        if is_held:
            self._held.add(reason)
            self._layout.follows_end = False
        else:
            self._held.discard(reason)
        self.schedule()

    def card(self, message: int, *, is_footer: bool = False) -> QWidget | None:
        """The widget of a message if it is there now."""
        return self._cards.card(self.model.key(message), is_footer=is_footer)

    # Moving.

    @property
    def is_at_end(self) -> bool:
        """The end is in the view."""
        return self._layout.is_at_end

    def scroll_by(self, pixels: int) -> None:
        """Move on (down, if positive)."""
        if pixels:
            self._place.forget()
            self._layout.scroll_by(pixels)
            self.refresh()

    def scroll_to(self, position: TextPosition) -> None:
        """Bring a place in the text into the view, a third from the top, unless it is there already."""
        line = self._geometry.line_top(position)
        if line is None:
            return
        placed = self._layout.place(position.message, position.segment)
        if placed is not None:
            drawn = self._layout.rows.gap(position.message, position.segment)
            y = placed.top - drawn + line
            if 0 <= y <= self.viewport().height() - self._looks.style.reading_line:
                return
        self._place.forget()
        self._layout.go_to(position.message, position.segment, self.viewport().height() // 3 - line)
        self.refresh()

    def scroll_to_message(self, message: int) -> None:
        """Bring the beginning of a message to the top."""
        self._place.forget()
        self._layout.go_to(message, 0, 0)
        self.refresh()

    def jump_to_latest(self) -> None:
        """Show the end and follow it, unless something holds the view."""
        self._place.forget()
        self._layout.follows_end = True
        self.refresh()

    # The layout pass.

    def light_caret(self) -> None:
        """Something was written: the caret shows."""
        self._caret.light()

    def schedule(self) -> None:
        """Lay out soon, once for all that changes until then."""
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def refresh(self) -> None:
        """Lay out, and bring the screen up to date."""
        self._refresh_timer.stop()
        layout = self._layout
        self._place.settle()
        layout.lay_out(self.viewport().height())
        if layout.may_follow and not self._held:
            layout.follows_end = True
            if layout.documents.holds_columns:
                self.schedule()
        elif self._held:
            layout.follows_end = False
        self._caret.place()
        self._damage.show(self._exposure.looks_of_parts())
        self._place_cards()
        self._sync_bar()
        self._show_pill()
        self._spare_time.begin()
        self.layoutChanged.emit()

    def _place_cards(self) -> None:
        places: dict[CardKey, QRect] = {}
        column, left = self._layout.documents.column, self._geometry.column_left
        for placed in self._layout.placed:
            if placed.kind in (PartKind.CARD, PartKind.FOOTER):
                key = (placed.key, placed.kind is PartKind.FOOTER)
                places[key] = QRect(left, placed.top, column, placed.height)
        self._cards.place(places)
        self._pill.place()

    def _sync_bar(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isSliderDown():
            return  # the reader holds it: what is known better now waits
        self._is_syncing = True
        bar.setPageStep(max(1, page_pixels(self.viewport().height())))
        bar.setSingleStep(LINE_PIXELS)
        bar.setRange(0, self._layout.greatest_value)
        bar.setValue(self._layout.value)
        self._is_syncing = False

    def _show_pill(self) -> None:
        is_at_end = self._layout.is_at_end
        if is_at_end != self._was_at_end:
            self._was_at_end = is_at_end
            self._pill.want(is_wanted=not is_at_end)
            self.atEndChanged.emit(is_at_end)
        if self._news.look(is_at_end=is_at_end):
            self._pill.show_lines(self._news.lines)
            self.newBelow.emit(self._news.lines)

    def _on_image_ready(self) -> None:
        self._layout.rows.remeasure_images()
        self.schedule()

    # Events.

    def viewportEvent(self, event: QEvent) -> bool:
        """A card's height changed; the mouse is the pointer's."""
        if self._is_made:
            if event.type() == QEvent.Type.LayoutRequest:
                self._on_cards_changed()
            if self._pointer.handle(event):
                return True
        return super().viewportEvent(event)

    def _on_cards_changed(self) -> None:
        if self._cards.changes_in_use():
            self._layout.follows_end = False  # what the reader opened must not move away
        for key in self._cards.ids():
            if (message := self.model.index_of(key)) is not None:
                self._layout.rows.remeasure_widgets(message)
        self.schedule()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The text at the top stays there, whatever the width."""
        self._fit_width()
        self._pill.place()
        self.refresh()

    def _fit_width(self) -> None:
        fit = ColumnFit.of(self._looks, self.viewport().width())
        self._geometry.column_left = fit.left
        self._geometry.lift = self._looks.scaled(2)
        if fit.column != self._layout.documents.column:
            self._place.keep()
        if self._layout.documents.set_widths(fit.column, fit.bubble):
            self._sideways.clear()
            self._layout.rows.remeasure_all()
            self._place.restore()
        self._damage.forget()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Only what is exposed."""
        painter = QPainter(self.viewport())
        try:
            self._exposure.paint(painter, event.region(), self.viewport().width())
        finally:
            painter.end()  # one that is left open takes the process down

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The reader moved the bar."""
        if not self._is_syncing:
            self._place.forget()
            self._layout.scroll_to_value(self.verticalScrollBar().value())
            self.refresh()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Touchpads say pixels, wheels say notches; sideways over code that is too wide."""
        self._pointer.wheel(event, _WHEEL_PIXELS, _WHEEL_NOTCH)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows, pages, beginning and end."""
        move = reading_move(Qt.Key(event.key()), self.viewport().height())
        if move is Move.TO_BEGINNING and len(self.model):
            self.scroll_to_message(0)
        elif move is Move.TO_END:
            self.jump_to_latest()
        elif isinstance(move, int):
            self.scroll_by(move)
        else:
            event.ignore()
