"""The style sheet's rules for single parts of the window: list, conversation, banners, trace, dialogs.

Invariant: pure functions of the tokens; each rule is bound to an object name or a property of the part.
"""

from sophos_desktop.shell.theme.tokens import Tokens

_TONES = {
    "danger": ("danger_soft", "danger_line"),
    "warning": ("warning_soft", "warning_line"),
    "notice": ("accent_soft", "accent_line"),
}


def lists(t: Tokens) -> str:
    """The list of conversations and the rail."""
    m = t.measures
    return f"""
#listPanel {{ background: {t.window}; }}
#conversationList {{ background: {t.window}; border: none; outline: none; }}
#conversationList QLineEdit {{ padding: 0 6px; min-height: {m.field_in_row - 4}px; border-width: 2px;
  border-color: {t.accent}; }}
#unopenedNote QLabel {{ color: {t.text_2}; }}
#unopenedNote QLabel[part="title"] {{ color: {t.text}; font-weight: 600; }}
#unopenedNote QLabel[part="code"] {{ font-size: {t.type.badge.size}px; }}
#undoBar {{ background: transparent; border: none; }}
#undoDeletion, #undoFacts {{ background: {t.tip}; border: none; border-radius: {m.tip_radius}px; }}
#undoText, #undoSeconds, #undoFactsText {{ background: transparent; border: none; color: {t.on_tip};
  font-size: {t.type.small.size}px; }}
#undoDelete, #undoFactsRemove {{ background: transparent; border: 1px solid transparent; color: {t.on_tip};
  min-height: {m.icon_button_in_bar - 2}px; padding: 0 6px; font-size: {t.type.small.size}px;
  text-decoration: underline; }}
#undoDelete:hover, #undoFactsRemove:hover, #undoDelete:pressed, #undoFactsRemove:pressed {{
  background: transparent; border-color: {t.on_tip}; }}
#undoFactsKeep {{ background: transparent; border: 1px solid transparent; padding: 0; }}
#undoFactsKeep:hover {{ background: transparent; border-color: {t.on_tip}; }}
#findField {{ font-size: {t.type.interface.size}px; }}
#railLine {{ background: {t.border}; }}
#listRail QToolButton[count="waiting"] {{ color: {t.warning}; font-size: {t.type.small.size}px; }}
#listRail QToolButton[count="running"] {{ color: {t.accent}; font-size: {t.type.small.size}px; }}
"""


def chat(t: Tokens) -> str:
    """The conversation around the transcript."""
    m = t.measures
    return f"""
#chatView {{ background: {t.paper}; }}
#transcript {{ background: {t.paper}; color: {t.text}; border: none; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
#emptyTitle {{ color: {t.text}; font-size: {t.type.heading_1.size}px; font-weight: 600; }}
#emptyNote {{ color: {t.text_2}; }}
#composerFrame {{ background: {t.raised}; border: 1px solid {t.border_control};
  border-radius: {m.composer_radius}px; }}
#composerFrame[focused="true"] {{ border-color: {t.accent}; }}
#composer {{ background: transparent; color: {t.text}; border: none;
  font-size: {t.type.reading.size}px; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
#approvalArguments, #uncertainArguments, #resultField {{ font-size: {t.type.code.size}px; }}
#composerHint {{ color: {t.text_3}; font-size: {t.type.small.size}px; }}
"""


def banners(t: Tokens) -> str:
    """Messages with buttons, in the tone of what they say."""
    m = t.measures
    rules = [
        f'Banner[tone="{name}"] {{ background: {getattr(t, ground)}; border: 1px solid {getattr(t, line)};'
        f" border-radius: {m.card_radius}px; }}"
        for name, (ground, line) in _TONES.items()
    ]
    rules.append(
        f"""
Banner[tone="resume"] {{ background: {t.window}; border: none; border-bottom: 1px solid {t.border};
  border-left: {m.resume_bar_width}px solid {t.plum}; border-radius: 0; }}
Banner QLabel {{ background: transparent; border: none; color: {t.text_2}; }}
Banner QLabel[part="title"] {{ color: {t.text}; font-weight: 600; }}
Banner QLabel[part="code"] {{ color: {t.text_2}; font-size: {t.type.badge.size}px; }}
"""
    )
    return "\n".join(rules)


def trace(t: Tokens) -> str:
    """The trace dock."""
    m = t.measures
    return f"""
QMainWindow::separator {{ background: {t.border}; width: 1px; height: 1px; }}
QDockWidget {{ background: {t.window}; color: {t.text}; }}
#traceTitleBar, #traceBodyPanel, #traceDetails, #traceFigures {{ background: {t.window}; }}
#traceTitleBar {{ min-height: {m.dock_title}px; max-height: {m.dock_title}px; }}
#traceTitle {{ font-weight: 600; color: {t.text}; }}
#traceEmpty {{ color: {t.text_2}; font-size: {t.type.small.size}px; }}
#traceTree {{ background: {t.window}; color: {t.text}; border: none; outline: none;
  border-top: 1px solid {t.border}; selection-background-color: {t.selected}; selection-color: {t.text};
  show-decoration-selected: 1; }}
#traceTree::item {{ border: none; }}
#traceTree::item:hover {{ background: {t.hover}; }}
#traceTree::item:selected {{ background: {t.selected}; }}
#traceDetailsTitle {{ color: {t.text}; font-weight: 500; font-size: {t.type.small.size}px; }}
#traceBody, #traceResult {{ background: {t.sunken}; color: {t.code_text}; border: 1px solid {t.border};
  font-size: {t.type.code.size}px;
  border-radius: {m.button_radius}px; padding: 4px; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
"""


def dialogs(t: Tokens) -> str:
    """The windows beside the main window."""
    m = t.measures
    return f"""
#dialogBody {{ background: {t.paper}; border-bottom: 1px solid {t.border}; }}
QDialog QScrollArea, QDialog QScrollArea > QWidget > QWidget {{ background: {t.paper}; }}
QDialog QLabel {{ color: {t.text}; }}
QDialog QLabel[part="note"] {{ color: {t.text_2}; font-size: {t.type.small.size}px; }}
QDialog QLabel[part="problem"] {{ color: {t.danger}; font-size: {t.type.small.size}px; }}
QLabel[part="section"] {{ font-weight: 600; padding: 10px 0 4px 0; }}
QLabel[part="dialogTitle"] {{ font-size: {t.type.heading_2.size}px; font-weight: 600; }}
QDialog QListWidget {{ background: {t.paper}; color: {t.text}; border: 1px solid {t.border};
  border-radius: {m.card_radius}px; outline: none; padding: 4px; }}
QDialog QListWidget::item {{ padding: 6px; border-radius: {m.button_radius}px; color: {t.text}; }}
QDialog QListWidget::item:hover {{ background: {t.hover}; }}
QDialog QListWidget::item:selected {{ background: {t.selected}; color: {t.text}; }}
QDialog QListWidget:focus {{ border: 1px solid {t.accent}; }}
QDialog QPlainTextEdit {{ background: {t.sunken}; color: {t.code_text};
  font-size: {t.type.code.size}px; border: 1px solid {t.border};
  border-radius: {m.card_radius}px; padding: 6px; selection-background-color: {t.accent};
  selection-color: {t.on_accent}; }}
"""
