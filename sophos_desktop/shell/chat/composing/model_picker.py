"""The button below the composer's field that says which model answers next, and opens the list of models.

Invariant: it shows what it was told last and decides nothing; its name, marks and warning are also words, in
the tooltip and for screen readers.
"""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionToolButton, QToolButton, QWidget

from sophos_desktop.shell.chat.composing.model_rows import LOOKING, PickedModel
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height, wide
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.plain_tip import plain_tip

_PADDING = 8
_MARK = 14
_GAP = 4
_NAME_GAP = 8
_WIDEST_NAME = 200
_NARROWEST = 64
_KEYPAD = Qt.KeyboardModifier.KeypadModifier
_OPENS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up)


class ModelPicker(QToolButton):
    """Lives as long as its window."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says that it looks, and cannot be pressed."""
        super().__init__(parent)
        self.setObjectName("modelPicker")
        self.setProperty("quiet", "true")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(_NARROWEST)
        self._theme = theme
        self._picked = PickedModel(LOOKING)
        self.setEnabled(False)
        self.show_model(self._picked)
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()

    @property
    def shown(self) -> PickedModel:
        """What it says."""
        return self._picked

    def show_model(self, picked: PickedModel) -> None:
        """Say which model answers next, and why that one."""
        self._picked = picked
        engine = f", {picked.engine.label}" if picked.engine is not None else ""
        about = "\n".join(part for part in (picked.reason, picked.abilities.capitalize()) if part)
        self.setText(picked.name)
        self.setAccessibleName(f"Model: {picked.name}{engine}")
        self.setAccessibleDescription(about)
        self.setToolTip(plain_tip("\n".join(part for part in (f"{picked.name}{engine}", about) if part)))
        self.updateGeometry()
        self.update()

    def _marks(self) -> tuple[tuple[Mark, str], ...]:
        """What stands right of the name, with each one's colour."""
        if self._picked.is_gone:
            return ((Mark.WARNING, "warning"),)
        return tuple((mark, "text_2") for mark in self._picked.marks)

    @property
    def _mark(self) -> int:
        return mark_size(_MARK)

    def _beside(self) -> int:
        """The width of all that is not the name."""
        marks = len(self._marks())
        own = marks * (self._mark + _GAP) - _GAP + _NAME_GAP if marks else 0
        return 2 * _PADDING + own + _NAME_GAP + self._mark

    def sizeHint(self) -> QSize:
        """The name in full as far as that is reasonable, its marks, the chevrons."""
        name = min(wide(_WIDEST_NAME), QFontMetrics(self.font()).horizontalAdvance(self._picked.name))
        return QSize(name + 2 + self._beside(), row_height(MEASURES.icon_button))

    def minimumSizeHint(self) -> QSize:
        """A name of a few letters."""
        return QSize(_NARROWEST, row_height(MEASURES.icon_button))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens as other lists of choices do."""
        if event.key() in _OPENS and not event.modifiers() & ~_KEYPAD:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The ground as the style has it, then name, marks and chevrons."""
        painter = QPainter(self)
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = ""
        self.style().drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option, painter, self)
        tokens, metrics = self._theme.tokens, QFontMetrics(self.font())
        inside = self.rect().adjusted(_PADDING, 0, -_PADDING, 0)
        room = inside.width() - (self._beside() - 2 * _PADDING)
        has_marks = room >= self._mark * 2
        if not has_marks:  # the name comes first
            room = inside.width() - _NAME_GAP - self._mark
        name = metrics.elidedText(self._picked.name, Qt.TextElideMode.ElideMiddle, room)
        painter.setFont(self.font())
        painter.setPen(QColor(tokens.text if self.isEnabled() else tokens.text_3))
        used = min(room, metrics.horizontalAdvance(name))
        place = QRect(inside.left(), inside.top(), used + 2, inside.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        left = inside.left() + used + _NAME_GAP
        for mark, colour in self._marks() if has_marks else ():
            paint_mark(painter, mark, self._box(left), QColor(getattr(tokens, colour)))
            left += self._mark + _GAP
        if self._marks() and has_marks:
            left += _NAME_GAP - _GAP
        chevrons = QColor(tokens.text_2 if self.isEnabled() else tokens.disabled)
        paint_mark(painter, Mark.CHOOSE, self._box(left), chevrons)
        painter.end()

    def _box(self, left: int) -> QRectF:
        return QRectF(left, (self.height() - self._mark) / 2, self._mark, self._mark)

    def _on_sizes_changed(self) -> None:
        self.setFont(role_font(TYPE.name))
        self.updateGeometry()
        self.update()
