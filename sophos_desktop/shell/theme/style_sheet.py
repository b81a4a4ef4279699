"""Makes the style sheet from the tokens: regions, menus, controls, bars.

Invariant: the same tokens give the same style; nothing else of the window sets colours of standard parts.
What belongs to one part of the window alone is in `style_parts`.
"""

from sophos_desktop.shell.theme.style_parts import banners, chat, dialogs, lists, trace
from sophos_desktop.shell.theme.tokens import Tokens


def style_sheet(tokens: Tokens) -> str:
    """The style sheet of a theme, to be set on the window."""
    parts = (_regions, _buttons, _fields, _boxes, _scroll_bars, banners, _bars, lists, chat, trace, dialogs)
    return "\n".join(part(tokens) for part in parts)


def _regions(t: Tokens) -> str:
    m = t.measures
    return f"""
QMainWindow, QDialog {{ background: {t.window}; color: {t.text}; }}
QMenuBar {{ background: {t.window}; color: {t.text}; border-bottom: 1px solid {t.border};
  padding: 2px 4px 1px 4px; spacing: 0; }}
QMenuBar::item {{ background: transparent; padding: 4px 8px;
  height: {m.menu_bar - 12}px; border-radius: {m.menu_item_radius}px; }}
QMenuBar::item:selected {{ background: {t.hover}; }}
QMenuBar::item:pressed {{ background: {t.selected}; }}
QMenuBar::item:disabled {{ color: {t.disabled}; }}
QSplitter::handle {{ background: {t.border}; }}
QToolTip {{ background: {t.tip}; color: {t.on_tip}; border: none; border-radius: {m.tip_radius}px;
  padding: 4px 6px; font-size: {t.type.small.size}px; }}
"""


def _buttons(t: Tokens) -> str:
    m = t.measures
    inner, inner_in_row = m.button - 2, m.button_in_row - 2
    return f"""
QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_strong};
  border-radius: {m.button_radius}px; font-weight: {t.type.name.weight}; }}
QPushButton {{ padding: 0 {m.button_padding}px; min-height: {inner}px; }}
QToolButton {{ padding: 3px {m.button_padding_in_row - 1}px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.pressed}; }}
QPushButton:disabled, QToolButton:disabled {{ background: {t.window}; color: {t.disabled};
  border-color: {t.border}; }}
Banner QPushButton, QPushButton[row="true"] {{ min-height: {inner_in_row}px;
  padding: 0 {m.button_padding_in_row}px; }}
QPushButton[primary="true"] {{ background: {t.accent}; color: {t.on_accent}; border-color: {t.accent}; }}
QPushButton[primary="true"]:hover {{ background: {t.accent_hover}; border-color: {t.accent_hover}; }}
QPushButton[primary="true"]:pressed {{ background: {t.accent_pressed}; border-color: {t.accent_pressed}; }}
QPushButton[primary="true"]:disabled {{ background: {t.pressed}; color: {t.text_3};
  border-color: {t.pressed}; }}
QPushButton[danger="true"] {{ color: {t.danger}; border-color: {t.danger_line}; }}
QPushButton[danger="true"]:hover {{ background: {t.danger_soft}; }}
QPushButton[danger="true"]:pressed {{ background: {t.danger_soft}; border-color: {t.danger}; }}
QPushButton[danger="true"][primary="true"] {{ background: {t.danger}; color: {t.on_danger};
  border-color: {t.danger}; }}
QPushButton[danger="true"][primary="true"]:hover {{ background: {t.danger_hover};
  border-color: {t.danger_hover}; }}
QPushButton[quiet="true"] {{ background: transparent; border-color: transparent; color: {t.text_2}; }}
QPushButton[quiet="true"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[quiet="true"]:pressed {{ background: {t.pressed}; color: {t.text}; }}
QPushButton[quiet="true"]:disabled {{ color: {t.disabled}; }}
QPushButton[link="true"] {{ background: transparent; border-color: transparent; color: {t.accent};
  padding: 0; font-weight: 400; text-decoration: underline; }}
QPushButton[link="true"]:hover {{ color: {t.accent}; background: transparent; }}
QPushButton[link="true"]:disabled {{ color: {t.disabled}; }}
QToolButton[quiet="true"] {{ background: transparent; border: 1px solid transparent; padding: 0; }}
QToolButton[quiet="true"]:hover {{ background: {t.hover}; }}
QToolButton[quiet="true"]:pressed {{ background: {t.pressed}; }}
QToolButton[quiet="true"]:checked {{ background: {t.selected}; }}
QToolButton[segment="true"] {{ background: {t.hover}; border: 1px solid {t.hover}; padding: 0 8px;
  min-height: 22px; margin: 0; border-radius: {m.button_radius - 2}px; color: {t.text_2};
  font-size: {t.type.small.size}px; }}
QToolButton[segment="true"]:checked {{ background: {t.raised}; border-color: {t.border_strong};
  color: {t.text}; }}
"""


def _fields(t: Tokens) -> str:
    m = t.measures
    padding = m.field_padding - 1
    return f"""
QLineEdit {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_control};
  border-radius: {m.button_radius}px; padding: 0 {padding}px; min-height: {m.field - 2}px;
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit, QPlainTextEdit, QTextEdit {{ placeholder-text-color: {t.text_3}; }}
QLineEdit:focus {{ border: 2px solid {t.accent}; padding: 0 {padding - 1}px; min-height: {m.field - 4}px; }}
QLineEdit QToolButton {{ background: transparent; border: none; padding: 0; }}
QLineEdit:disabled {{ background: {t.window}; color: {t.disabled}; border-color: {t.border}; }}
QLineEdit:read-only {{ background: {t.window}; color: {t.text_2}; }}
QLineEdit[row="true"] {{ min-height: {m.field_in_row - 2}px; }}
QLineEdit[row="true"]:focus {{ min-height: {m.field_in_row - 4}px; }}
QLineEdit[invalid="true"] {{ border: 2px solid {t.danger}; padding: 0 {padding - 1}px;
  min-height: {m.field - 4}px; }}
QAbstractSpinBox {{ background: {t.raised}; color: {t.text}; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; padding: 0; min-height: 0;
  background: transparent; }}
QComboBox {{ min-height: {m.field - 2}px; padding: 0 4px 0 8px; }}
QComboBox[row="true"] {{ min-height: {m.field_in_row - 2}px; }}
QComboBox QAbstractItemView {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_strong};
  padding: 3px; outline: none; selection-background-color: {t.hover}; selection-color: {t.text}; }}
QComboBox QAbstractItemView::item {{ min-height: {m.menu_item}px; border-radius: {m.menu_item_radius}px;
  padding: 0 8px; }}
QComboBox QAbstractItemView::item:selected {{ background: {t.hover}; color: {t.text}; }}
"""


def _boxes(t: Tokens) -> str:
    """Switches and boxes get their size here and their look from `LookStyle`; a slider is all here."""
    m = t.measures
    return f"""
QCheckBox, QRadioButton {{ color: {t.text}; spacing: 8px; background: transparent; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.disabled}; }}
QCheckBox::indicator, QRadioButton::indicator {{ width: {m.check}px; height: {m.check}px; }}
QCheckBox[switch="true"]::indicator {{ width: {m.switch_width}px; height: {m.switch}px; }}
QSlider {{ background: transparent; min-height: {m.check + 2}px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {t.pressed}; }}
QSlider::sub-page:horizontal {{ height: 4px; border-radius: 2px; background: {t.accent}; }}
QSlider::handle:horizontal {{ width: {m.check - 2}px; height: {m.check - 2}px; margin: -6px 0;
  border-radius: {m.check // 2}px; background: {t.raised}; border: 1px solid {t.border_control}; }}
QProgressBar {{ background: {t.pressed}; border: none; border-radius: 3px; max-height: 6px; min-height: 6px;
  color: transparent; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.border}; }}
QTabBar {{ background: transparent; }}
QTabBar::tab {{ background: transparent; color: {t.text_2}; height: 34px; padding: 0; margin: 0 20px 0 0;
  border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom: 2px solid {t.accent}; font-weight: 600; }}
QTabBar::tab:hover {{ color: {t.text}; }}
"""


def _scroll_bars(t: Tokens) -> str:
    m = t.measures
    inset, wide = m.scroll_bar_inset, m.scroll_bar_hovered_width
    room = m.scroll_bar_width + 2 * inset
    rest = (room - wide) // 2
    return f"""
QScrollBar:vertical {{ background: transparent; width: {room}px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {t.border_control}; min-height: 32px; border-radius: 2px;
  margin: 2px {inset}px; }}
QScrollBar::handle:vertical:hover {{ border-radius: 4px; margin: 2px {rest}px; }}
QScrollBar:horizontal {{ background: transparent; height: {room}px; margin: 0; }}
QScrollBar::handle:horizontal {{ background: {t.border_control}; min-width: 32px; border-radius: 2px;
  margin: {inset}px 2px; }}
QScrollBar::handle:horizontal:hover {{ border-radius: 4px; margin: {rest}px 2px; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
  background: none; border: none; width: 0; height: 0; }}
"""


def _bars(t: Tokens) -> str:
    m = t.measures
    return f"""
#statusBar {{ background: {t.window}; color: {t.text_2}; border-top: 1px solid {t.border};
  min-height: {m.status_bar - 1}px; max-height: {m.status_bar - 1}px; }}
QStatusBar::item {{ border: none; }}
QStatusBar QLabel {{ color: {t.text_2}; font-size: {t.type.small.size}px; }}
QStatusBar QLabel[tone] {{ background: transparent; border: none; border-radius: 0; }}
QStatusBar QLabel[tone="warning"] {{ color: {t.warning}; }}
QStatusBar QLabel[tone="danger"] {{ color: {t.danger}; }}
SegmentLine {{ background: {t.border}; border: none;
  min-height: {m.status_bar - 9}px; max-height: {m.status_bar - 9}px; }}
"""
