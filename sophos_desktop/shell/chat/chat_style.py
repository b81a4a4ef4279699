"""The rules of the window's style sheet for the conversation and what is written to it.

Invariant: a pure function of the tokens; each rule names the part that it is for, since they hold for the
whole window.
"""

from sophos_desktop.shell.chat.cards.card_style import asking_style, card_style, queued_style
from sophos_desktop.shell.chat.cards.waiting_pill import pill_style
from sophos_desktop.shell.chat.composing.composer_frame import composer_style
from sophos_desktop.shell.chat.composing.model_popup import popup_style
from sophos_desktop.shell.chat.empty_page import empty_style
from sophos_desktop.shell.theme.tokens import Tokens


def _transcript(_tokens: Tokens) -> str:
    """The bar always has its room, so that the column stays; it shows nothing while all is in the view."""
    return "#transcript QScrollBar::handle:vertical:disabled { background: transparent; }"


def chat_style(tokens: Tokens) -> str:
    """For `Theme`."""
    asking = (card_style, pill_style, asking_style, queued_style)
    parts = (_transcript, empty_style, *asking, composer_style, popup_style)
    return "\n".join(part(tokens) for part in parts)
