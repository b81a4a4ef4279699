"""Makes palette and style sheet from the tokens.

Invariant: the same tokens give the same style; nothing else of the window sets colours of standard parts.
"""

from PySide6.QtGui import QColor, QPalette

from sophos_desktop.shell.theme.tokens import BUTTON_HEIGHT, SMALL_SIZE, TINY_SIZE, Tokens


def palette(tokens: Tokens) -> QPalette:
    """The palette of a theme, for what style sheets do not reach."""
    roles = {
        QPalette.ColorRole.Window: tokens.window,
        QPalette.ColorRole.WindowText: tokens.text,
        QPalette.ColorRole.Base: tokens.paper,
        QPalette.ColorRole.AlternateBase: tokens.window,
        QPalette.ColorRole.Text: tokens.text,
        QPalette.ColorRole.Button: tokens.raised,
        QPalette.ColorRole.ButtonText: tokens.text,
        QPalette.ColorRole.Highlight: tokens.accent,
        QPalette.ColorRole.HighlightedText: tokens.on_accent,
        QPalette.ColorRole.Link: tokens.accent,
        QPalette.ColorRole.LinkVisited: tokens.accent,
        QPalette.ColorRole.PlaceholderText: tokens.text_3,
        QPalette.ColorRole.ToolTipBase: tokens.tip,
        QPalette.ColorRole.ToolTipText: tokens.on_tip,
    }
    made = QPalette()
    for role, colour in roles.items():
        made.setColor(role, QColor(colour))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.disabled))
    return made


def style_sheet(tokens: Tokens) -> str:
    """The style sheet of a theme, to be set on the window."""
    return "\n".join(
        (
            _regions(tokens),
            _controls(tokens),
            _banners(tokens),
            _bars(tokens),
            _trace(tokens),
            _dialogs(tokens),
        )
    )


def _regions(t: Tokens) -> str:
    return f"""
QMainWindow, QDialog {{ background: {t.window}; color: {t.text}; }}
QMenuBar {{ background: {t.window}; color: {t.text}; border-bottom: 1px solid {t.border}; padding: 1px 4px; }}
QMenuBar::item {{ background: transparent; padding: 4px 8px; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {t.hover}; }}
QMenuBar::item:pressed {{ background: {t.selected}; }}
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_strong}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {t.hover}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QMenu::separator {{ height: 1px; background: {t.border}; margin: 4px 8px; }}
QSplitter::handle {{ background: {t.border}; }}
#listPanel {{ background: {t.window}; }}
#chatView {{ background: {t.paper}; }}
#conversationList {{ background: {t.window}; border: none; outline: none; }}
#conversationList QLineEdit {{ border-radius: 4px; padding: 2px 6px; }}
#transcript {{ background: {t.paper}; color: {t.text}; border: none; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
#emptyTitle {{ color: {t.text}; font-size: 20px; font-weight: 600; }}
#emptyNote {{ color: {t.text_2}; }}
QToolTip {{ background: {t.tip}; color: {t.on_tip}; border: none; padding: 4px 6px; }}
"""


def _controls(t: Tokens) -> str:
    return f"""
QLineEdit {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_control};
  border-radius: 6px; padding: 5px 8px;
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit, QPlainTextEdit {{ placeholder-text-color: {t.text_3}; }}
QLineEdit:focus {{ border: 2px solid {t.accent}; padding: 4px 7px; }}
QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border_strong};
  border-radius: 6px; padding: 0 10px; min-height: {BUTTON_HEIGHT - 2}px; font-weight: 500; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.pressed}; }}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent}; padding: 0 9px;
  min-height: {BUTTON_HEIGHT - 4}px; }}
QPushButton:disabled, QToolButton:disabled {{ background: {t.window}; color: {t.disabled};
  border-color: {t.border}; }}
QPushButton[primary="true"] {{ background: {t.accent}; color: {t.on_accent}; border-color: {t.accent}; }}
QPushButton[primary="true"]:hover {{ background: {t.accent_hover}; border-color: {t.accent_hover}; }}
QPushButton[primary="true"]:pressed {{ background: {t.accent_pressed}; }}
QPushButton[primary="true"]:focus {{ border: 2px solid {t.text}; }}
QPushButton[primary="true"]:disabled {{ background: {t.pressed}; color: {t.text_3};
  border-color: {t.pressed}; }}
QPushButton[danger="true"] {{ color: {t.danger}; border-color: {t.danger_line}; }}
QPushButton[danger="true"]:hover {{ background: {t.danger_soft}; }}
QToolButton[quiet="true"] {{ background: transparent; border: 1px solid transparent; padding: 0;
  min-height: 0; }}
QToolButton[quiet="true"]:hover {{ background: {t.hover}; }}
QToolButton[quiet="true"]:checked {{ background: {t.selected}; }}
QToolButton[segment="true"] {{ background: {t.pressed}; border: 1px solid {t.pressed}; border-radius: 6px;
  padding: 0 8px; min-height: 22px; color: {t.text_2}; font-size: {SMALL_SIZE}px; }}
QToolButton[segment="true"]:checked {{ background: {t.raised}; border-color: {t.border_strong};
  color: {t.text}; }}
QToolButton[segment="true"]:focus {{ border: 2px solid {t.accent}; padding: 0 7px; min-height: 20px; }}
QToolButton[quiet="true"]:focus {{ border: 2px solid {t.accent}; }}
#composerFrame {{ background: {t.raised}; border: 1px solid {t.border_control}; border-radius: 10px; }}
#composerFrame[focused="true"] {{ border-color: {t.accent}; }}
#composer {{ background: transparent; color: {t.text}; border: none; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
#composerHint {{ color: {t.text_3}; font-size: {SMALL_SIZE}px; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {t.border_control}; min-height: 32px; border-radius: 2px;
  margin: 2px 4px; }}
QScrollBar::handle:vertical:hover {{ border-radius: 4px; margin: 2px 2px; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle:horizontal {{ background: {t.border_control}; min-width: 32px; border-radius: 2px;
  margin: 4px 2px; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
  background: none; border: none; width: 0; height: 0; }}
"""


def _banners(t: Tokens) -> str:
    tones = {
        "danger": (t.danger_soft, t.danger_line),
        "warning": (t.warning_soft, t.warning_line),
        "notice": (t.accent_soft, t.accent_line),
        "resume": (t.plum_soft, t.plum_line),
    }
    rules = [
        f'QFrame[tone="{name}"] {{ background: {ground}; border: 1px solid {line}; border-radius: 8px; }}'
        for name, (ground, line) in tones.items()
    ]
    rules.append(
        f"""
QFrame[tone] QLabel {{ background: transparent; border: none; color: {t.text_2}; }}
QFrame[tone] QLabel[part="title"] {{ color: {t.text}; font-weight: 600; }}
QFrame[tone] QLabel[part="code"] {{ color: {t.text_2}; font-size: {TINY_SIZE}px; }}
"""
    )
    return "\n".join(rules)


def _bars(t: Tokens) -> str:
    return f"""
QStatusBar {{ background: {t.window}; color: {t.text_2}; border-top: 1px solid {t.border}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QLabel {{ color: {t.text_2}; font-size: {SMALL_SIZE}px; }}
"""


def _trace(t: Tokens) -> str:
    return f"""
QMainWindow::separator {{ background: {t.border}; width: 1px; height: 1px; }}
QDockWidget {{ background: {t.window}; color: {t.text}; }}
#traceTitleBar, #traceBodyPanel, #traceDetails, #traceFigures {{ background: {t.window}; }}
#traceTitle {{ font-weight: 600; color: {t.text}; }}
#traceEmpty {{ color: {t.text_2}; font-size: {SMALL_SIZE}px; }}
#traceTree {{ background: {t.window}; color: {t.text}; border: none; outline: none;
  border-top: 1px solid {t.border}; selection-background-color: {t.selected}; selection-color: {t.text};
  show-decoration-selected: 1; }}
#traceTree::item {{ border: none; }}
#traceTree::item:hover {{ background: {t.hover}; }}
#traceTree::item:selected {{ background: {t.selected}; }}
#traceDetailsTitle {{ color: {t.text}; font-weight: 500; }}
#traceBody {{ background: {t.sunken}; color: {t.code_text}; border: 1px solid {t.border}; border-radius: 6px;
  padding: 4px; selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLabel[part="figureLabel"] {{ color: {t.text_2}; font-size: {TINY_SIZE}px; }}
QLabel[part="figure"] {{ color: {t.text}; font-weight: 500; }}
QLabel[part="label"] {{ color: {t.text_2}; }}
QLabel[part="value"] {{ color: {t.text}; }}
"""


def _dialogs(t: Tokens) -> str:
    return f"""
QWidget[part="dialogBody"] {{ background: {t.paper}; border-bottom: 1px solid {t.border}; }}
QDialog QScrollArea, QDialog QScrollArea > QWidget > QWidget {{ background: {t.paper}; }}
QDialog QLabel {{ color: {t.text}; }}
QDialog QLabel[part="note"] {{ color: {t.text_2}; font-size: {SMALL_SIZE}px; }}
QDialog QLabel[part="problem"] {{ color: {t.danger}; font-size: {SMALL_SIZE}px; }}
QLabel[part="section"] {{ font-weight: 600; padding: 10px 0 4px 0; }}
QLabel[part="dialogTitle"] {{ font-size: 17px; font-weight: 600; }}
QDialog QListWidget {{ background: {t.paper}; color: {t.text}; border: 1px solid {t.border};
  border-radius: 8px; outline: none; padding: 4px; }}
QDialog QListWidget::item {{ padding: 6px; border-radius: 6px; color: {t.text}; }}
QDialog QListWidget::item:hover {{ background: {t.hover}; }}
QDialog QListWidget::item:selected {{ background: {t.selected}; color: {t.text}; }}
QDialog QListWidget:focus {{ border: 1px solid {t.accent}; }}
QDialog QPlainTextEdit {{ background: {t.sunken}; color: {t.code_text}; border: 1px solid {t.border};
  border-radius: 8px; padding: 6px; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
QLineEdit[invalid="true"] {{ border: 2px solid {t.danger}; padding: 4px 7px; }}
QLineEdit:read-only {{ background: {t.window}; color: {t.text_2}; }}
"""
