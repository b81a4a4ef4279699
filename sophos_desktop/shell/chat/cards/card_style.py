"""The style sheet of questions and of what stands between transcript and composer.

Invariant: a pure function of the tokens; the rules reach only into the parts that they name.
"""

from sophos_desktop.shell.theme.tokens import Tokens


def card_style(t: Tokens) -> str:
    """The rules of a card that asks."""
    m, type_ = t.measures, t.type
    code = f"font-size: {type_.code.size}px;"
    return f"""
Card {{ background: {t.raised}; border: 1px solid {t.warning_line};
  border-radius: {m.card_radius}px; }}
#cardHead {{ background: {t.warning_soft}; border: none;
  border-bottom: 1px solid {t.warning_line};
  border-top-left-radius: {m.card_radius - 1}px; border-top-right-radius: {m.card_radius - 1}px; }}
#cardHead[shut="true"] {{ border-bottom: none;
  border-bottom-left-radius: {m.card_radius - 1}px; border-bottom-right-radius: {m.card_radius - 1}px; }}
Card QLabel {{ background: transparent; border: none; color: {t.text}; }}
Card QLabel[part="server"] {{ color: {t.text_2}; }}
Card QLabel[part="tool"] {{ {code} font-weight: {type_.tool_name.weight}; }}
Card QLabel[part="state"] {{ color: {t.warning}; font-size: {type_.small.size}px; }}
Card QLabel[part="question"] {{ font-weight: {type_.title.weight}; }}
Card QLabel[part="note"] {{ color: {t.text_2}; }}
Card QLabel[part="address"] {{ color: {t.text_2}; font-size: {type_.small.size}px; }}
Card QLabel[part="small"] {{ color: {t.text_2}; font-size: {type_.small.size}px; }}
Card QLabel[part="problem"] {{ color: {t.danger}; font-size: {type_.small.size}px; }}
Card QTextEdit {{ background: {t.raised}; color: {t.code_text};
  border: 1px solid {t.border_control}; border-radius: {m.button_radius}px; padding: 2px 8px 6px 8px;
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
Card QTextEdit:focus {{ border: 2px solid {t.accent}; padding: 1px 7px 5px 7px; }}
Card QTextEdit[invalid="true"] {{ border: 2px solid {t.danger};
  padding: 1px 7px 5px 7px; }}
Card QTextEdit:read-only {{ background: {t.window}; color: {t.text_2};
  border-color: {t.border}; }}
Card QTextEdit[plain="true"] {{ background: {t.raised}; color: {t.code_text};
  border: 2px solid transparent; padding: 0; margin-left: -2px; }}
Card QTextEdit[plain="true"]:focus {{ border-color: {t.accent}; }}
Card QPushButton {{ min-height: {m.button_in_row - 2}px;
  padding: 0 {m.button_padding_in_row}px; }}
Card QPushButton[link="true"] {{ background: transparent; border: none; color: {t.accent};
  font-size: {type_.small.size}px; font-weight: 400; text-decoration: underline; padding: 0; }}
"""


def asking_style(t: Tokens) -> str:
    """A question above the composer: raised, with the line of what it is about."""
    return f"""
#waitingQuestion[tone="warning"] {{ background: {t.raised}; border: 1px solid {t.warning_line};
  border-radius: {t.measures.card_radius}px; }}
#waitingQuestion[tone="warning"] QLabel[part="title"] {{ color: {t.text}; font-weight: 400; }}
"""


def queued_style(t: Tokens) -> str:
    """The message that waits for its turn."""
    return f"""
#queuedMessage {{ background: transparent; border: 1px dashed {t.border_control};
  border-radius: {t.measures.card_radius}px; }}
#queuedMessage QLabel {{ background: transparent; border: none; color: {t.text_2}; }}
"""
