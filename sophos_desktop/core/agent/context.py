"""Fits the prompt, never the thread, to the model's context.

Invariant: the newest user message is always in the prompt, a call and its result stay together, and
whatever is left out or clipped is counted (DURABILITY.md, rule 18). Sizes in tokens are estimates from
characters, calibrated by what the engine says it read.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from sophos_desktop.core.agent.history_repair import is_note, repair_history
from sophos_desktop.core.agent.messages import attachment_of, for_engine, text_of
from sophos_desktop.core.agent.prompt_attachments import (
    IMAGE_TOKENS,
    NO_ATTACHMENTS,
    PromptAttachments,
    image_count,
    place_of,
)
from sophos_desktop.core.agent.tool_schemas import offered_tools, tool_size
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.image_refusals import ImagePlace
from sophos_desktop.core.domain.specs import ToolSpec
from sophos_desktop.core.domain.tool_parts import words_of_size

DEFAULT_NUM_CTX = 8192
FIRST_TOKENS_PER_CHARACTER = 0.30
MOST_TOKENS_PER_CHARACTER = 1.5
LEAST_TOKENS_PER_CHARACTER = 0.15
"""No text is read in longer pieces for long; an engine that counts fewer left out what it had read before."""
MESSAGE_OVERHEAD_TOKENS = 8
LARGEST_ANSWER_RESERVE_TOKENS = 1024
SHARE_OF_ONE_RESULT = 0.25
SHARE_OF_TOOLS = 0.25
LEAST_FOR_TOOLS_TOKENS = 3072
_SMALLEST_RESULT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Prompt:
    """What goes to the engine, and what does not. `estimated_tokens` counts all that goes; `tools` have
    schemas that engines take; `repairs` says what of the thread an engine would have refused; `images` are
    shown, `unseen_images` are not, since the model sees none; `shown` are their places, `refused` are left
    out since the model would not take them."""

    messages: tuple[BaseMessage, ...]
    tools: tuple[ToolSpec, ...]
    left_out_tools: int
    left_out_messages: int
    clipped_results: int
    characters: int
    estimated_tokens: int
    single_message: bool
    repairs: str = ""
    images: int = 0
    unseen_images: int = 0
    shown: tuple[ImagePlace, ...] = ()
    refused: tuple[AttachmentRef, ...] = ()

    @property
    def is_trimmed(self) -> bool:
        """True if the engine does not see all of the thread; tools are said apart (`tools_notice`)."""
        return bool(self.left_out_messages or self.clipped_results)

    def notice(self) -> str:
        """What was left out, as a sentence."""
        parts = []
        if self.left_out_messages:
            plural = "message was" if self.left_out_messages == 1 else "messages were"
            parts.append(f"{self.left_out_messages} earlier {plural} left out")
        if self.clipped_results:
            plural = "result was" if self.clipped_results == 1 else "results were"
            parts.append(f"{self.clipped_results} long tool {plural} shortened")
        return f"{' and '.join(parts)}, since the model's context is full; nothing is lost here"

    def tools_notice(self) -> str:
        """Which share of the tools the engine gets, as a sentence; empty if all."""
        if not self.left_out_tools:
            return ""
        known = len(self.tools) + self.left_out_tools
        return (
            f"Only {len(self.tools)} of {known} tools were offered to the model, since more do not fit its "
            "context; switch off servers that you do not need, or raise answer.num_ctx"
        )


class TokenGauge:
    """Learns how many tokens a model makes of a character. Lives as long as the core."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}

    def ratio(self, model: str) -> float:
        """Tokens per character for a model; a guess before its first answer."""
        return self._ratios.get(model, FIRST_TOKENS_PER_CHARACTER)

    def learn(self, model: str, characters: int, tokens: int) -> None:
        """The engine read `tokens` for `characters`. Short prompts say little and are passed over."""
        if characters >= 400 and tokens > 0:
            self._ratios[model] = _within_bounds(tokens / characters)

    def refused(self, model: str) -> None:
        """The engine found a prompt too long that seemed to fit: there are more tokens than thought."""
        more = max(FIRST_TOKENS_PER_CHARACTER, self.ratio(model) * 1.5)
        self._ratios[model] = _within_bounds(more)


def _within_bounds(ratio: float) -> float:
    return max(LEAST_TOKENS_PER_CHARACTER, min(MOST_TOKENS_PER_CHARACTER, ratio))


def fit_prompt(
    history: Sequence[BaseMessage],
    system: str,
    tools: Sequence[ToolSpec],
    num_ctx: int,
    tokens_per_character: float,
    attachments: PromptAttachments = NO_ATTACHMENTS,
) -> Prompt:
    """The newest turns that fit into `num_ctx` tokens beside system prompt, tools and room for an answer.
    `attachments`: what may be shown of what the user attached."""
    reserve = min(LARGEST_ANSWER_RESERVE_TOKENS, num_ctx // 4)
    offered = offered_tools(tools, int(_tokens_for_tools(num_ctx) / tokens_per_character))
    fixed = len(system) + sum(tool_size(tool) for tool in offered)
    budget = int((num_ctx - reserve) / tokens_per_character) - fixed
    result_limit = max(_SMALLEST_RESULT_CHARACTERS, int(num_ctx * SHARE_OF_ONE_RESULT / tokens_per_character))
    clipper = _Clipper(result_limit, attachments)
    repaired = repair_history(history)
    history = [message for message in repaired.messages if _says_something(message)]
    turns = [[clipper.clip(message) for message in turn] for turn in _turns(history)]
    kept = _newest_that_fit(turns, budget, tokens_per_character)
    if len(kept) == 1 and _size(kept[0], tokens_per_character) > budget:
        kept = [_shrink_turn(kept[0], budget, tokens_per_character, clipper)]
    flat = [message for turn in kept for message in turn]
    characters = fixed + sum(_message_size(message) for message in flat)
    prefix: list[BaseMessage] = [SystemMessage(system)] if system else []
    overhead = MESSAGE_OVERHEAD_TOKENS * (len(flat) + len(prefix))
    clipped = sum(1 for message in flat if id(message) in clipper.clipped)
    images = sum(image_count(message) for message in flat)
    originals = [clipper.users[id(message)][1] for message in flat if id(message) in clipper.users]
    return Prompt(
        messages=(*prefix, *flat),
        tools=offered,
        left_out_tools=len(tools) - len(offered),
        left_out_messages=len(history) - len(flat),
        clipped_results=clipped,
        characters=characters,
        estimated_tokens=int(characters * tokens_per_character) + overhead + images * IMAGE_TOKENS,
        single_message=len(flat) == 1,
        repairs=repaired.repairs.notice(),
        images=images,
        unseen_images=sum(attachments.unseen_in(message) for message in originals),
        shown=tuple(place_of(ref, message) for message in originals for ref in attachments.shown_in(message)),
        refused=tuple(ref for message in originals for ref in attachments.refused_in(message)),
    )


def _tokens_for_tools(num_ctx: int) -> int:
    """A quarter of the context; of a small one as much as the built-in servers need, but never over half."""
    return max(int(num_ctx * SHARE_OF_TOOLS), min(LEAST_FOR_TOOLS_TOKENS, num_ctx // 2))


class _Clipper:
    """Copies messages for the engine, with what is attached to them, and shortens tool results that are too
    long."""

    def __init__(self, limit: int, attachments: PromptAttachments) -> None:
        self._limit = limit
        self._attachments = attachments
        self.users: dict[int, tuple[BaseMessage, BaseMessage]] = {}
        """The copies of what the user wrote, by identity, each with its original."""
        self.clipped: dict[int, tuple[BaseMessage, BaseMessage]] = {}
        """The clipped copies, by identity, each with its original."""

    def clip(self, message: BaseMessage, limit: int | None = None) -> BaseMessage:
        limit = self._limit if limit is None else limit
        if id(message) in self.clipped:
            message = self.clipped[id(message)][1]
        if isinstance(message, HumanMessage):
            shown = self._attachments.copy_of(message)
            self.users[id(shown)] = shown, message
            return shown
        text = text_of(message)
        if not isinstance(message, ToolMessage) or len(text) <= limit:
            return for_engine(message)
        copy = for_engine(message, f"{text[:limit]}\n{_left_out(message, len(text) - limit)}")
        self.clipped[id(copy)] = copy, message
        return copy


def _left_out(message: ToolMessage, characters: int) -> str:
    attachment = attachment_of(message)
    if attachment is None:
        return f"[… {characters} more characters were left out …]"
    # The text is itself only the head of the result, and its own word on that was cut off.
    size = words_of_size(attachment.size_bytes)
    return f"[… the rest was left out; the whole result has {size} and is kept for the user …]"


def _says_something(message: BaseMessage) -> bool:
    """False for an answer that was cut while the model still thought: an engine has no use for it."""
    return not isinstance(message, AIMessage) or bool(text_of(message) or message.tool_calls)


def _turns(history: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    """A turn begins with what a user wrote."""
    turns: list[list[BaseMessage]] = []
    for message in history:
        if (isinstance(message, HumanMessage) and not is_note(message)) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _newest_that_fit(turns: list[list[BaseMessage]], budget: int, ratio: float) -> list[list[BaseMessage]]:
    kept: list[list[BaseMessage]] = []
    used = 0
    for turn in reversed(turns):
        used += _size(turn, ratio)
        if kept and used > budget:
            break
        kept.insert(0, turn)
    return kept


def _shrink_turn(turn: list[BaseMessage], budget: int, ratio: float, clipper: _Clipper) -> list[BaseMessage]:
    """The last turn alone is too long: shorten its results further, then leave out its oldest calls."""
    limit = _SMALLEST_RESULT_CHARACTERS
    results = sum(isinstance(message, ToolMessage) for message in turn)
    if results:
        others = sum(_message_size(m, ratio) for m in turn if not isinstance(m, ToolMessage))
        limit = max(limit, (budget - others) // results - int(MESSAGE_OVERHEAD_TOKENS / ratio) - 60)
        turn = [
            clipper.clip(message, limit) if isinstance(message, ToolMessage) else message for message in turn
        ]
    split = 1 if isinstance(turn[0], HumanMessage) else 0
    head, rest = turn[:split], turn[split:]
    while rest and _size(head + rest, ratio) > budget:
        following = next((i for i, m in enumerate(rest[1:], 1) if isinstance(m, AIMessage)), len(rest))
        if following == len(rest) and not head:
            break  # of a turn that no user began
        rest = rest[following:]
    return head + rest


def _size(messages: Sequence[BaseMessage], ratio: float) -> int:
    return sum(_message_size(message, ratio) for message in messages)


def _message_size(message: BaseMessage, ratio: float | None = None) -> int:
    """In characters; with `ratio` including the markup that an engine puts around a message."""
    size = len(text_of(message))
    if isinstance(message, AIMessage):
        size += sum(len(call["name"]) + len(json.dumps(call["args"])) for call in message.tool_calls)
    if ratio is None:
        return size
    return size + int((MESSAGE_OVERHEAD_TOKENS + IMAGE_TOKENS * image_count(message)) / ratio)
