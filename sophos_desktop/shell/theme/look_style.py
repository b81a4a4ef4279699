"""The base style: Fusion, with the look's own switches, boxes, dots, choosers and menus.

Invariant: it paints from the palette that it is handed, so it knows no theme and never needs to be told of
another one. Everything that a style sheet can draw is left to the style sheet.
"""

from typing import cast

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComboBox,
    QStyleOptionComplex,
    QStyleOptionMenuItem,
    QWidget,
)

from sophos_desktop.shell.theme import palette as roles
from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.menu_items import item_size, paint_item

_Element = QStyle.PrimitiveElement
_Role = QPalette.ColorRole
_State = QStyle.StateFlag
_ENTRY = QStyle.ContentsType.CT_MenuItem
_NOT_DRAWN = frozenset({_Element.PE_FrameFocusRect, _Element.PE_FrameMenu})
_TIP_DELAY = QStyle.StyleHint.SH_ToolTip_WakeUpDelay  # looked up once: Qt asks for hints all the time
_TIP_DELAY_MILLISECONDS = 500
_RADIO_DOT = 6
_CHOOSER_PADDING = 5  # besides Fusion's own
_CHEVRON = 14


class LookStyle(QProxyStyle):
    """Belongs to the application once it is set."""

    def __init__(self) -> None:
        """Over Fusion."""
        super().__init__("Fusion")

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,
    ) -> int:
        """Tooltips after half a second."""
        if hint is _TIP_DELAY:
            return _TIP_DELAY_MILLISECONDS
        return super().styleHint(hint, option, widget, returnData)

    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Indicators; and no dotted focus rectangle, since the look has its own."""
        if element in _NOT_DRAWN:
            return
        if element == _Element.PE_IndicatorCheckBox:
            rect = QRectF(option.rect)
            if rect.width() > rect.height() * 1.5:
                _paint_switch(painter, option, rect)
            else:
                _paint_check(painter, option, rect)
        elif element == _Element.PE_IndicatorItemViewItemCheck:
            _paint_check(painter, option, QRectF(option.rect))
        elif element == _Element.PE_IndicatorRadioButton:
            _paint_radio(painter, option, QRectF(option.rect))
        elif element == _Element.PE_PanelMenu:
            _paint_menu(painter, option, widget)
        else:
            super().drawPrimitive(element, option, painter, widget)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Entries of menus; the words of a chooser begin where those of a field do."""
        if element == QStyle.ControlElement.CE_MenuItem and isinstance(option, QStyleOptionMenuItem):
            paint_item(painter, option)
        elif element == QStyle.ControlElement.CE_ComboBoxLabel and isinstance(option, QStyleOptionComboBox):
            inside = QStyleOptionComboBox(option)
            inside.rect = option.rect.adjusted(_CHOOSER_PADDING, 0, 0, 0)
            super().drawControl(element, inside, painter, widget)
        elif element != QStyle.ControlElement.CE_MenuEmptyArea:
            super().drawControl(element, option, painter, widget)

    def sizeFromContents(
        self,
        kind: QStyle.ContentsType,
        option: QStyleOption,
        size: QSize,
        /,
        widget: QWidget | None = None,
    ) -> QSize:
        """Entries of menus are as high as the look has them."""
        if kind is _ENTRY and isinstance(option, QStyleOptionMenuItem):
            return item_size(option)
        return super().sizeFromContents(kind, option, size, cast(QWidget, widget))  # may be None in Qt

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """A chooser is a field with a chevron."""
        if control == QStyle.ComplexControl.CC_ComboBox:
            _paint_chooser(painter, option)
        else:
            super().drawComplexControl(control, option, painter, widget)


def _colour(option: QStyleOption, role: QPalette.ColorRole) -> QColor:
    return option.palette.color(role)


def _has(option: QStyleOption, flag: QStyle.StateFlag) -> bool:
    return bool(option.state & flag)


def _paint_menu(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    """The ground of a menu that does not float: square, since what is behind its corners would be black."""
    if widget is not None and widget.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground):
        return  # it painted its own
    painter.save()
    painter.setPen(QPen(_colour(option, roles.FRAME), 1))
    painter.setBrush(_colour(option, roles.FIELD))
    painter.drawRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5))
    painter.restore()


def _fill(
    painter: QPainter, option: QStyleOption, rect: QRectF, radius: float, *, is_on: bool
) -> tuple[bool, QColor]:
    """The ground of a control; gives whether it is enabled and the colour of what stands on it."""
    is_enabled = _has(option, _State.State_Enabled)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if not is_enabled:
        painter.setPen(QPen(_colour(option, roles.LINE), 1))
        painter.setBrush(_colour(option, _Role.Window))
        mark = _colour(option, _Role.Text)
    elif is_on:
        painter.setPen(QPen(_colour(option, _Role.Highlight), 1))
        painter.setBrush(_colour(option, _Role.Highlight))
        mark = _colour(option, _Role.HighlightedText)
    else:
        painter.setPen(QPen(_colour(option, roles.CONTROL_FRAME), 1))
        is_hovered = _has(option, _State.State_MouseOver)
        painter.setBrush(_colour(option, roles.HOVER if is_hovered else roles.FIELD))
        mark = _colour(option, roles.CONTROL_FRAME)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    return is_enabled, mark


def _paint_switch(painter: QPainter, option: QStyleOption, rect: QRectF) -> None:
    is_on = _has(option, _State.State_On)
    painter.save()
    _, mark = _fill(painter, option, rect, rect.height() / 2 - 0.5, is_on=is_on)
    size = MEASURES.switch_knob_on if is_on else MEASURES.switch_knob_off
    margin = (rect.height() - size) / 2
    left = rect.right() - margin - size if is_on else rect.left() + margin
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mark)
    painter.drawEllipse(QRectF(left, rect.top() + margin, size, size))
    painter.restore()


def _paint_check(painter: QPainter, option: QStyleOption, rect: QRectF) -> None:
    is_partly = _has(option, _State.State_NoChange)
    is_on = _has(option, _State.State_On) or is_partly
    painter.save()
    _, mark = _fill(painter, option, rect, MEASURES.check_radius, is_on=is_on)
    if is_on:
        inner = rect.adjusted(2, 2, -2, -2)
        paint_mark(painter, Mark.MINUS if is_partly else Mark.DONE, inner, mark)
    painter.restore()


def _paint_radio(painter: QPainter, option: QStyleOption, rect: QRectF) -> None:
    is_on = _has(option, _State.State_On)
    painter.save()
    _, mark = _fill(painter, option, rect, rect.height() / 2, is_on=is_on)
    if is_on:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        dot = QRectF(0, 0, _RADIO_DOT, _RADIO_DOT)
        dot.moveCenter(rect.center())
        painter.drawEllipse(dot)
    painter.restore()


def _paint_chooser(painter: QPainter, option: QStyleOptionComplex) -> None:
    rect = QRectF(option.rect)
    painter.save()
    is_enabled, mark = _fill(painter, option, rect, MEASURES.button_radius, is_on=False)
    if is_enabled and _has(option, _State.State_HasFocus):
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_colour(option, _Role.Highlight), 2))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), MEASURES.button_radius, MEASURES.button_radius)
    box = QRectF(0, 0, _CHEVRON, _CHEVRON)
    box.moveCenter(QPointF(rect.right() - 8 - _CHEVRON / 2, rect.center().y()))
    paint_mark(painter, Mark.OPEN, box, _colour(option, _Role.Text) if is_enabled else mark)
    painter.restore()
