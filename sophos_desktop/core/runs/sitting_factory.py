"""Makes sittings: joins a claimed row with everything that its run needs.

Invariant: settings are read when a sitting begins and stay the same for it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sophos_desktop.core.agent.chat_models import StreamChat
from sophos_desktop.core.agent.chat_pieces import AnswerOptions
from sophos_desktop.core.agent.context import TokenGauge
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.image_refusals import ImageRefusals
from sophos_desktop.core.domain.model_choices import Preference, chosen_model
from sophos_desktop.core.domain.ports import EngineDirectory, ToolCatalog, ToolGate
from sophos_desktop.core.domain.run import RunRecord
from sophos_desktop.core.domain.specs import EngineKind
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.model_choice import ModelChoice, of_choice, preferred
from sophos_desktop.core.runs.partials import PartialKeeper
from sophos_desktop.core.runs.sitting import Sitting
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.settings.models import Settings
from sophos_desktop.core.settings.system_prompt import SystemPrompt
from sophos_desktop.core.store.model_choices import ModelChoiceStore


@dataclass(frozen=True, slots=True)
class SittingFactory:
    """Lives as long as the core. `refusals`: those of a conversation; `said`: notices that are given once a
    process."""

    stores: Stores
    engines: EngineDirectory
    catalog: ToolCatalog
    gate: ToolGate
    stream_chat: StreamChat
    settings: Callable[[], Settings]
    system_prompt: SystemPrompt
    gauge: TokenGauge
    choices: ModelChoiceStore
    refusals: Callable[[str], ImageRefusals]
    said: set[str]

    def preference(
        self,
        conversation: Conversation,
        engine: EngineKind | None,
        model: str | None,
        *,
        goes_on: bool = False,
    ) -> tuple[EngineKind | None, str | None]:
        """What the caller named, else what the conversation prefers. `goes_on`: see `preferred`."""
        if engine is not None or model is not None:
            return engine, model
        found = preferred(conversation, self.settings().engine.kind, goes_on=goes_on)
        return found.engine, found.model

    def preferred(self, conversation: Conversation) -> Preference:
        """What the next run of a conversation takes, as far as that is decided before an engine is asked."""
        return preferred(conversation, self.settings().engine.kind)

    async def preferred_for_new_chat(self) -> Preference:
        """What the first run of the chat that does not exist yet takes. Raises SophosError STORE_*."""
        return of_choice(chosen_model(await self.choices.of_new_chat()))

    def make(
        self, record: RunRecord, engine: EngineKind | None, model: str | None, first_seq: int
    ) -> Sitting:
        """A sitting for a row that this process has claimed."""
        stores, settings = self.stores, self.settings()
        stream = EventStream(record.id, stores.trace, stores.clock, first_seq)
        choice = ModelChoice(self.engines, stores.runs, record.id, engine, model)

        async def system_prompt() -> str:
            text, digest = await asyncio.to_thread(self.system_prompt.read)
            problem = self.system_prompt.notice
            if problem is not None and problem.text not in self.said:
                self.said.add(problem.text)
                await stream.emit(Notice(problem.code, problem.text))
            if digest != noted[0]:
                noted[0] = digest
                await stores.runs.note_prompt(record.id, digest)
            return text

        noted: list[str | None] = [None]
        context = RunContext(
            run_id=record.id,
            conversation_id=record.conversation_id,
            sink=stream,
            journal=stores.journal.of(record.conversation_id),
            catalog=self.catalog,
            gate=self.gate,
            stream_chat=self.stream_chat,
            endpoint=choice.endpoint,
            system_prompt=system_prompt,
            options=AnswerOptions(
                num_ctx=settings.answer.num_ctx,
                temperature=settings.answer.temperature,
                thinking=settings.answer.thinking,
                keep_alive=settings.engine.keep_alive or None,
            ),
            gauge=self.gauge,
            clock=stores.clock,
            tool_start_wait_seconds=settings.tools.start_wait_seconds,
            read_attachment=stores.attachments.content,
            refusals=self.refusals(record.conversation_id),
            said=self.said,
        )
        partials = PartialKeeper(stores.trace, stores.clock, record.conversation_id, record.id)
        return Sitting(stores, record, context, stream, choice, partials, settings.answer.step_limit)
