"""The agent node: one call of the model.

Invariant: it returns a complete answer or raises; what arrived of an incomplete one was already handed to
the sink piece by piece, and no call of it ever runs.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from sophos_desktop.core.agent.chat_errors import EngineRefusal, broke_off
from sophos_desktop.core.agent.chat_pieces import CallPiece, FinalPiece, TextPiece, ThinkingPiece
from sophos_desktop.core.agent.context import DEFAULT_NUM_CTX, Prompt, fit_prompt
from sophos_desktop.core.agent.image_blame import blamed_images, left_out_notice
from sophos_desktop.core.agent.messages import answer
from sophos_desktop.core.agent.prompt_attachments import (
    IMAGE_TOKENS,
    PromptAttachments,
    largest_text,
    read_attachments,
)
from sophos_desktop.core.agent.run_context import RunContext, current_step
from sophos_desktop.core.agent.state import AgentState
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, NoticeCode, SophosError
from sophos_desktop.core.domain.events import ModelCallFinished, Notice, StepEvent, TextDelta, ThinkingDelta
from sophos_desktop.core.domain.specs import Capability, EngineKind, ModelEndpoint, ToolSpec
from sophos_desktop.core.domain.tool_parts import words_of_size
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.ids import new_id

TRIES_TO_FIT = 3


async def agent(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Ask the model for the next message. Raises SophosError for everything that ends a run."""
    context = runtime.context
    step = current_step()
    await context.sink.emit(StepEvent(step=step, node="agent", phase="started"))
    began = context.clock.monotonic()
    endpoint = await context.endpoint()
    # Asking where the starter answers starts it, which loads its model; Ollama says itself how long it took.
    is_starter = endpoint.engine is EngineKind.STARTER
    load_ms = round((context.clock.monotonic() - began) * 1000) if is_starter else None
    tools = await _offered_tools(context, endpoint)
    system = await context.system_prompt()
    sees = Capability.VISION in endpoint.capabilities
    attachments: PromptAttachments | None = None
    # The thread is read whole here; fitting 10,000 messages takes a moment that the window should not feel.
    for attempt in range(1, TRIES_TO_FIT + 1):
        # No engine gives a model more than the model's own context, whatever is asked for.
        wanted = context.options.num_ctx or DEFAULT_NUM_CTX
        num_ctx = min(wanted, endpoint.context_length or wanted)
        ratio = context.gauge.ratio(endpoint.model)
        if attachments is None:
            attachments = await read_attachments(
                state["messages"],
                context.read_attachment,
                int(num_ctx / ratio),
                int(IMAGE_TOKENS / ratio),
                sees_images=sees,
                refused=await context.refusals.left_out(endpoint.engine, endpoint.model) if sees else (),
            )
            await _say_unread(context, attachments.unread)
        prompt = await asyncio.to_thread(
            fit_prompt, state["messages"], system, tools, num_ctx, ratio, attachments
        )
        if prompt.unseen_images:
            await _say_unseen(context, endpoint, prompt.unseen_images, attachments.newest_image)
        if prompt.refused:
            text = left_out_notice(endpoint.model, prompt.refused)
            await _say_once(context, NoticeCode.IMAGE_REFUSED, f"{context.run_id}:{text}", text)
        call = _ModelCall(context, endpoint, prompt, tools, step, num_ctx, load_ms)
        try:
            message = await call.run()
        except SophosError as error:
            if isinstance(error, EngineRefusal) and not call.received:
                blamed = await blamed_images(context.refusals, endpoint, prompt, state["messages"], error)
                raise blamed from error
            if error.code is not ErrorCode.CONTEXT_EXCEEDED or call.received:
                raise
            if prompt.single_message or attempt == TRIES_TO_FIT:
                raise _too_long(prompt, num_ctx, error, largest_text(state["messages"])) from error
            context.gauge.refused(endpoint.model)
            continue
        context.produced.append(message)
        return {"messages": [message]}
    raise AssertionError("the last try either returns or raises")


async def _offered_tools(context: RunContext, endpoint: ModelEndpoint) -> tuple[ToolSpec, ...]:
    if Capability.TOOLS not in endpoint.capabilities:
        if context.catalog.tools():
            await _say_once(
                context,
                NoticeCode.MODEL_LACKS_TOOLS,
                endpoint.model,
                f"{endpoint.model} cannot use tools; it answers without them",
            )
        return ()
    starting = await context.catalog.settle(context.tool_start_wait_seconds)
    if starting:
        await _say_starting(context, starting)
    return tuple(await context.gate.offers(context.catalog.tools()))


async def _say_starting(context: RunContext, servers: Sequence[str]) -> None:
    """Once a run: what is ready at a later step is offered then."""
    names = ", ".join(servers)
    what = "server is" if len(servers) == 1 else "servers are"
    text = f"The tool {what} still starting: {names}. Until then the model answers without those tools"
    await _say_once(context, NoticeCode.TOOLS_STARTING, f"{context.run_id}:{names}", text)


async def _say_unseen(context: RunContext, endpoint: ModelEndpoint, count: int, newest: str) -> None:
    """Once for each message that brings an image, not at each step."""
    what = "an image" if count == 1 else f"{count} images"
    text = f"{endpoint.model} cannot see images; it was told that {what} could not be shown to it"
    await _say_once(context, NoticeCode.MODEL_LACKS_VISION, f"{endpoint.model}:{newest}", text)


async def _say_unread(context: RunContext, unread: Sequence[AttachmentRef]) -> None:
    for ref in unread:
        text = (
            f"The attachment “{ref.name}” is missing or damaged, and the model was told so; attach it again "
            "if you need it"
        )
        about = f"{context.conversation_id}:{ref.sha256}"
        await _say_once(context, NoticeCode.ATTACHMENT_UNREADABLE, about, text)


async def _say_once(context: RunContext, code: NoticeCode, about: str, text: str) -> None:
    key = f"{code}:{about}"
    if key not in context.said:
        context.said.add(key)
        await context.sink.emit(Notice(code.value, text))


def _too_long(
    prompt: Prompt, num_ctx: int, error: SophosError, attached: AttachmentRef | None
) -> SophosError:
    # More bytes than half of the characters: without it the message might well fit.
    if attached is not None and attached.size_bytes * 2 > prompt.characters:
        about = f"“{attached.name}” ({words_of_size(attached.size_bytes)})"
        return SophosError(
            ErrorCode.CONTEXT_EXCEEDED,
            f"With what is attached the message has about {prompt.estimated_tokens:,} tokens, the model's "
            f"context {num_ctx:,}: {about} does not fit",
            "Attach a part of it alone, or raise answer.num_ctx in the settings if the model allows it",
            details=error.details,
        )
    what = "message" if prompt.single_message else "conversation, even cut short,"
    counted = f"about {prompt.estimated_tokens:,} tokens"
    if prompt.estimated_tokens >= num_ctx:
        title = f"The {what} has {counted}, the model's context {num_ctx:,}"
    else:
        title = f"The engine finds the {what} too long for its context of {num_ctx:,} tokens: {counted}"
    return SophosError(
        ErrorCode.CONTEXT_EXCEEDED,
        title,
        "Shorten the message, or raise answer.num_ctx in the settings if the model allows it",
        details=error.details,
    )


class _ModelCall:
    """One request to the engine and what came of it."""

    def __init__(
        self,
        context: RunContext,
        endpoint: ModelEndpoint,
        prompt: Prompt,
        tools: tuple[ToolSpec, ...],
        step: int,
        num_ctx: int,
        load_ms: int | None,
    ) -> None:
        self._context = context
        self._endpoint = endpoint
        self._prompt = prompt
        self._tools = tools
        self._step = step
        self._num_ctx = num_ctx
        self._load_ms = load_ms
        self._message_id = new_id()
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[CallPiece] = []
        self._final: FinalPiece | None = None
        self._began = context.clock.monotonic()
        self._first_text: float | None = None
        self._first_thought: float | None = None

    @property
    def received(self) -> bool:
        """True once any part of an answer came."""
        return bool(self._text or self._thinking or self._calls)

    async def run(self) -> AIMessage:
        """The complete answer."""
        context = self._context
        if self._prompt.repairs:
            await _say_once(context, NoticeCode.HISTORY_REPAIRED, context.run_id, self._prompt.repairs)
        if self._prompt.is_trimmed:
            await context.sink.emit(Notice(NoticeCode.CONTEXT_TRIMMED.value, self._prompt.notice()))
        options = await self._options()
        prompt = self._prompt
        if prompt.left_out_tools:
            await _say_once(context, NoticeCode.CONTEXT_TRIMMED, self._endpoint.model, prompt.tools_notice())
        stream = context.stream_chat(self._endpoint, options, prompt.messages, prompt.tools)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                self._take(piece)
        message = self._assemble()
        await self._report()
        return message

    async def _options(self) -> Any:
        options = self._context.options
        thinks = Capability.THINKING in self._endpoint.capabilities
        if options.thinking and not thinks:
            await _say_once(
                self._context,
                NoticeCode.MODEL_LACKS_THINKING,
                self._endpoint.model,
                f"{self._endpoint.model} cannot think before it answers; it answers at once",
            )
        return type(options)(
            num_ctx=self._num_ctx,
            temperature=options.temperature,
            thinking=options.thinking if thinks else None,
            keep_alive=options.keep_alive,
        )

    def _take(self, piece: object) -> None:
        now = self._context.clock.monotonic()
        if isinstance(piece, TextPiece):
            self._first_text = self._first_text or now
            self._text.append(piece.text)
            self._context.sink.delta(TextDelta(self._message_id, piece.text))
        elif isinstance(piece, ThinkingPiece):
            self._first_thought = self._first_thought or now
            self._thinking.append(piece.text)
            self._context.sink.delta(ThinkingDelta(self._message_id, piece.text))
        elif isinstance(piece, CallPiece):
            self._calls.append(piece)
        elif isinstance(piece, FinalPiece):
            self._final = piece

    def _assemble(self) -> AIMessage:
        text = "".join(self._text)
        thinking = "".join(self._thinking)
        if self._final is None:
            raise broke_off("the stream ended without its final piece")
        if not self._calls and not text.strip():
            raise self._empty(thinking)
        own = {
            "at": to_text(self._context.clock.now()),
            "run_id": self._context.run_id,
            "model": self._endpoint.model,
        }
        by_name = {tool.name: tool for tool in self._tools}
        return answer(self._message_id, text, thinking, self._calls, by_name, own)

    def _empty(self, thinking: str) -> SophosError:
        if self._final is not None and self._final.done_reason == "length":
            why = "the context was full before an answer began"
            remedy = "Raise answer.num_ctx in the settings, or begin a new chat"
        elif thinking:
            why = "it only thought"
            remedy = "Resume to ask again, or switch thinking off in the settings"
        else:
            why = "it ended at once"
            remedy = "Resume to ask again, or take another model"
        return SophosError(ErrorCode.EMPTY_ANSWER, f"{self._endpoint.model} gave no answer: {why}", remedy)

    async def _report(self) -> None:
        final = self._final
        assert final is not None
        if final.prompt_tokens and not self._prompt.images:
            self._context.gauge.learn(self._endpoint.model, self._prompt.characters, final.prompt_tokens)
        now = self._context.clock.monotonic()
        thought_until = self._first_text or now
        events: list[ModelCallFinished | Notice] = [
            ModelCallFinished(
                step=self._step,
                message_id=self._message_id,
                load_ms=self._load_ms if final.load_ms is None else final.load_ms,
                prompt_ms=final.prompt_ms,
                thinking_ms=_milliseconds(self._first_thought, thought_until),
                answer_ms=_milliseconds(self._first_text, now) if self._first_text else final.answer_ms,
                prompt_tokens=final.prompt_tokens,
                output_tokens=final.output_tokens,
                context_tokens=self._num_ctx,
            )
        ]
        if final.done_reason == "length":
            text = "The answer was cut: it reached the end of the model's context or its length limit"
            events.append(Notice(NoticeCode.ANSWER_CUT.value, text))
        await self._context.sink.emit(*events)


def _milliseconds(since: float | None, until: float) -> int | None:
    return None if since is None else round((until - since) * 1000)
