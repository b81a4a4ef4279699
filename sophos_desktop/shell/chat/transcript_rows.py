"""Says how the items of a conversation look as entries of the painted transcript.

Invariant: pure; an item gives the same entries whenever it is shown, each with an id of its own. Calls that
follow each other and need nothing share one card; one that somebody is asked about has its own, in its place.
"""

from collections.abc import Sequence

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.core.domain.errors import ErrorCode
from sophos_desktop.shell.chat.item_kinds import (
    UNRESOLVED,
    AnswerItem,
    ErrorItem,
    Item,
    NoticeItem,
    NoticeTone,
    ToolItem,
    UserItem,
)
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.cards.meta_line import CONTINUE
from sophos_desktop.shell.transcript.cards.notice_line import NoticeFacts, NoticeKind
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts
from sophos_desktop.shell.transcript.cards.tool_card import AskedCall, ToolGroup, card_id
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageImage,
    MessageKind,
    MessageMeta,
    TranscriptMessage,
)
from sophos_desktop.shell.transcript.view.attached_files import is_picture

_MOST_CALLS = 40  # in one card: each is a widget
_NO_TEXT = "No text"
_ANEW = "Stopped by you; Continue writes it anew"  # the model is asked again: DURABILITY.md, rule 11
_TONES = {
    NoticeTone.PLAIN: NoticeKind.PLAIN,
    NoticeTone.CUT: NoticeKind.CUT,
    NoticeTone.RECOVERED: NoticeKind.RECOVERED,
    NoticeTone.FAILED: NoticeKind.FAILED,
}


def rows_of(items: Sequence[Item]) -> tuple[list[TranscriptMessage], list[int]]:
    """The entries, and for each item how many entries stand before it; calls of one card count alike."""
    rows: list[TranscriptMessage] = []
    starts: list[int] = []
    group: list[ToolItem] = []
    for item in items:
        if not isinstance(item, ToolItem) or len(group) == _MOST_CALLS or item.stands_alone:
            rows += _calls(group, rows)
            group = []
        starts.append(len(rows))
        if isinstance(item, ToolItem) and not item.stands_alone:
            group.append(item)
        else:
            rows += rows_of_one(item)
    return rows + _calls(group, rows), starts


def is_boundary(item: Item) -> bool:
    """True for an item whose entries do not depend on its neighbours."""
    return not isinstance(item, ToolItem)


def rows_of_one(item: Item) -> list[TranscriptMessage]:
    """The entries of one item that stands alone."""
    if isinstance(item, UserItem):
        return [_user(item)]
    if isinstance(item, AnswerItem):
        return [*_thinking(item), *_answer(item)]
    if isinstance(item, ToolItem):
        return [_alone(item)] if item.stands_alone else _calls([item])
    if isinstance(item, NoticeItem):
        return [TranscriptMessage(item.key, MessageKind.CARD, payload=_notice(item))]
    return [TranscriptMessage(item.key, MessageKind.CARD, payload=_error(item), stands_apart=True)]


def _user(item: UserItem) -> TranscriptMessage:
    if not item.attachments:
        return TranscriptMessage(item.key, MessageKind.USER, item.text)
    pictures = tuple(
        MessageImage(attachment.sha256, attachment.name, is_thumbnail=True)
        for attachment in item.attachments
        if is_picture(attachment)
    )
    return TranscriptMessage(
        item.key,
        MessageKind.USER,
        item.text,
        payload=item.attachments,
        has_footer=True,
        images=pictures,
    )


def _thinking(item: AnswerItem) -> list[TranscriptMessage]:
    if not item.thinking:
        return []
    key = f"{item.key}/thinking"
    is_running = item.live and not item.text
    facts = ThinkingFacts(key, item.thinking.strip(), item.figures.thinking_ms, is_running=is_running)
    return [TranscriptMessage(key, MessageKind.CARD, payload=facts)]


def _answer(item: AnswerItem) -> list[TranscriptMessage]:
    is_cut = item.state is not MessageState.COMPLETE
    is_empty = not item.text and not item.live and not is_cut and not item.asks
    if not item.text and not is_cut and not is_empty:
        return []
    meta = MessageMeta(
        model=item.model,
        at=item.at,
        tokens=item.figures.tokens,
        tokens_per_second=item.figures.tokens_per_second,
        reason=_NO_TEXT if is_empty else _ANEW if item.can_continue else "",
        can_continue=item.can_continue,
    )
    return [
        TranscriptMessage(
            item.key,
            MessageKind.ANSWER,
            item.text,
            is_open=item.live,
            state=item.state,
            meta=meta,
            has_footer=is_cut or not item.asks,
            ends_turn=is_cut or not item.asks,
        )
    ]


def _calls(group: Sequence[ToolItem], before: Sequence[TranscriptMessage] = ()) -> list[TranscriptMessage]:
    """One card, and the images that its calls returned. `before`: the entries before them."""
    if not group:
        return []
    key = card_id(group[0].key)
    card = ToolGroup(tuple(_call(item) for item in group))
    stands_apart = bool(before) and _needs_somebody(before[-1])
    rows = [TranscriptMessage(key, MessageKind.CARD, payload=card, stands_apart=stands_apart)]
    images = tuple(MessageImage(image.key, image.name) for item in group for image in item.images)
    if images:
        rows.append(TranscriptMessage(f"{key}/images", MessageKind.ANSWER, images=images))
    return rows


def _needs_somebody(message: TranscriptMessage) -> bool:
    group = message.payload
    return isinstance(group, ToolGroup) and any(call.needs_user for call in group.calls)


def _alone(item: ToolItem) -> TranscriptMessage:
    """A call that nobody is asked about yet has a card that only tells, and gets another when it is asked."""
    group = (AskedCall if item.is_asked else ToolGroup)((_call(item),))
    return TranscriptMessage(card_id(item.key), MessageKind.CARD, payload=group, stands_apart=True)


def _call(item: ToolItem) -> CallFacts:
    return CallFacts(
        item.key,
        item.server,
        item.tool,
        item.arguments or "{}",
        _state(item.status),
        item.duration_ms,
        item.running_since,
        item.result,
        is_edited=item.is_edited,
    )


def _state(status: str | None) -> CallState:
    if status is None:
        return CallState.WAITING
    if status == UNRESOLVED:
        return CallState.UNCERTAIN
    known = {state.value: state for state in CallState}
    return known.get(status, CallState.INTERRUPTED)


def _notice(item: NoticeItem) -> NoticeFacts:
    return NoticeFacts(item.text, _TONES[item.tone], can_continue=item.can_continue)


def _error(item: ErrorItem) -> ErrorFacts:
    words = "Continue" if item.code == ErrorCode.RECURSION_LIMIT.value else "Try again"
    action, name = (words, CONTINUE) if item.can_continue else ("", "")
    return ErrorFacts(item.title, item.remedy, item.code, action, name)
