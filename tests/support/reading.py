"""What a person reads in a transcript, as text."""

from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import LOOKS, CallFacts
from sophos_desktop.shell.transcript.cards.meta_words import meta_facts
from sophos_desktop.shell.transcript.cards.notice_line import NoticeFacts
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts
from sophos_desktop.shell.transcript.cards.tool_card import ToolGroup
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptMessage


def transcript_text(transcript: Transcript) -> str:
    """Texts as they are spoken, cards and the lines below answers in words; a line each."""
    lines: list[str] = []
    model = transcript.model
    for index in range(len(model)):
        message = model.message(index)
        if message.kind is MessageKind.CARD:
            lines += card_words(message)
        else:
            lines.append(transcript.accessibility.texts.of(index).text(0, -1))
        if message.has_footer:
            lines.append(" · ".join(meta_facts(message).parts))
    return "\n".join(lines)


def card_words(message: TranscriptMessage) -> list[str]:
    """What a card says; of a call its result too, whether it is open or not."""
    payload = message.payload
    if isinstance(payload, ToolGroup):
        return [words for call in payload.calls for words in _call_words(call)]
    if isinstance(payload, ThinkingFacts):
        return [payload.words]
    if isinstance(payload, ErrorFacts):
        return [f"{payload.title} {payload.code}", payload.remedy]
    return [payload.text] if isinstance(payload, NoticeFacts) else []


def _call_words(call: CallFacts) -> list[str]:
    head = f"{call.server} {call.tool}\t{LOOKS[call.state].word}"
    return [head, call.result] if call.result else [head]
