"""What an entry of a menu looks like: mark or tick, words, key, and the line between two groups.

Invariant: it paints from the palette that it is handed and measures by the font, so it knows no theme; all
words of a menu begin at the same place, with a mark before them or without.
"""

from math import ceil
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyleOptionMenuItem

from sophos_desktop.shell.theme import palette as roles
from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE, grown

_Kind = QStyleOptionMenuItem.MenuItemType
_Role = QPalette.ColorRole
_SIDE: Final = 8
_ICON: Final = 16
_ICON_GAP: Final = 8
_KEY_GAP: Final = 24
_ARROW: Final = 14
_LINE_ROOM: Final = 9  # of a line between groups, with what is around it


def item_size(option: QStyleOptionMenuItem) -> QSize:
    """How much room an entry needs."""
    if option.menuItemType == _Kind.Separator:
        return QSize(_text_left(option), _LINE_ROOM)
    metrics = QFontMetricsF(option.font)
    words, key = _parts(option)
    width = _text_left(option) + metrics.horizontalAdvance(_without_mnemonic(words)) + _SIDE + 4
    if key:
        width += _KEY_GAP  # Qt adds the widest key of the menu itself
    if option.menuItemType == _Kind.SubMenu:
        width += _KEY_GAP + _grown(_ARROW, option)
    return QSize(ceil(width), grown(MEASURES.menu_item, TYPE.interface.size, _scale(option)))


def _scale(option: QStyleOptionMenuItem) -> float:
    size = option.font.pixelSize()
    return size / TYPE.interface.size if size > 0 else 1.0


def _grown(side: int, option: QStyleOptionMenuItem) -> int:
    """The side of a mark beside words of this size."""
    return max(1, round(side * _scale(option)))


def _text_left(option: QStyleOptionMenuItem) -> int:
    return _SIDE + _grown(_ICON, option) + _ICON_GAP


def paint_item(painter: QPainter, option: QStyleOptionMenuItem) -> None:
    """An entry, or the line between two groups."""
    rect = QRectF(option.rect)
    palette = option.palette
    if option.menuItemType == _Kind.Separator:
        line = QRectF(rect.left() + _SIDE, rect.center().y() - 0.5, rect.width() - 2 * _SIDE, 1)
        painter.fillRect(line, palette.color(roles.LINE))
        return
    is_enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
    painter.save()
    if option.state & QStyle.StateFlag.State_Selected and is_enabled:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.color(roles.HOVER))
        painter.drawRoundedRect(rect, MEASURES.menu_item_radius, MEASURES.menu_item_radius)
    group = QPalette.ColorGroup.Active if is_enabled else QPalette.ColorGroup.Disabled
    ink = palette.color(group, _Role.Text)
    faint = palette.color(_Role.PlaceholderText) if is_enabled else ink
    _paint_mark(painter, option, rect, faint if is_enabled else ink)
    words, key = _parts(option)
    painter.setFont(option.font)
    painter.setPen(ink)
    area = rect.adjusted(_text_left(option), 0, -_SIDE - 4, 0)
    shows_mnemonic = Qt.TextFlag.TextShowMnemonic
    painter.drawText(
        area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft) | shows_mnemonic, words
    )
    if key:
        painter.setPen(faint)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), key)
    if option.menuItemType == _Kind.SubMenu:
        arrow = _grown(_ARROW, option)
        middle = QPointF(rect.right() - _SIDE - arrow / 2, rect.center().y())
        paint_mark(painter, Mark.SHUT, _box(middle, arrow), ink)
    painter.restore()


def _paint_mark(painter: QPainter, option: QStyleOptionMenuItem, rect: QRectF, ink: QColor) -> None:
    """A tick where the entry can be ticked, else its icon."""
    side = _grown(_ICON, option)
    middle = QPointF(rect.left() + _SIDE + side / 2, rect.center().y())
    box = _box(middle, side)
    if option.checkType != QStyleOptionMenuItem.CheckType.NotCheckable:
        if option.checked:
            paint_mark(painter, Mark.DONE, box, ink)
    elif not option.icon.isNull():
        is_enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
        mode = QIcon.Mode.Normal if is_enabled else QIcon.Mode.Disabled
        option.icon.paint(painter, box.toRect(), Qt.AlignmentFlag.AlignCenter, mode)


def _box(middle: QPointF, side: int) -> QRectF:
    return QRectF(round(middle.x() - side / 2), round(middle.y() - side / 2), side, side)


def _parts(option: QStyleOptionMenuItem) -> tuple[str, str]:
    """The words and the key, which Qt puts behind a tab."""
    words, _, key = option.text.partition("\t")
    return words, key


def _without_mnemonic(words: str) -> str:
    return words.replace("&&", "\0").replace("&", "").replace("\0", "&")
