"""How a run is printed: the answer as it streams, or one event a line.

Invariant: in text, stdout gets the answer and nothing else, and ends with a line end; in JSON, stdout gets
every event and nothing else.
"""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.output import json_line, visible
from sophos_desktop.cli.parser import PROGRAM
from sophos_desktop.core.domain.conversation import Role
from sophos_desktop.core.domain.events import (
    DELTAS,
    ApprovalNeeded,
    MessageStored,
    Notice,
    Recovered,
    RunEvent,
    SittingEnded,
    TextDelta,
)


class RunPrinter(Protocol):
    """Prints the events of one command, over several sittings if the run waits in between."""

    async def began(self, conversation_id: str) -> None:
        """The run is claimed."""

    async def show(self, event: RunEvent) -> None:
        """An event, in order."""

    async def ended(self, conversation_id: str, ended: SittingEnded) -> None:
        """The run is over, or waits for a decision that nobody here gives."""


def printer(console: Console, *, as_json: bool, tells_questions: bool = True) -> RunPrinter:
    """The one that the command line asks for. `tells_questions` False: a person is asked them anyway."""
    return _JsonPrinter(console) if as_json else _TextPrinter(console, tells_questions=tells_questions)


class _JsonPrinter:
    """One event a line; stderr gets errors alone."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def began(self, conversation_id: str) -> None:
        pass

    async def show(self, event: RunEvent) -> None:
        line = json_line(event.to_json()) + "\n"
        if isinstance(event.event, DELTAS):
            await self._console.out_piece(line)
        else:
            await self._console.out(line)

    async def ended(self, conversation_id: str, ended: SittingEnded) -> None:
        if ended.error_code is not None:
            await self._console.note(error_line(ended.error_code, ended.error_message))


class _TextPrinter:
    """The text of the answers; all else that a person should know goes to stderr."""

    def __init__(self, console: Console, *, tells_questions: bool) -> None:
        self._console = console
        self._tells_questions = tells_questions
        self._printing: str | None = None
        self._printed: set[str] = set()
        self._line_is_open = False

    async def began(self, conversation_id: str) -> None:
        await self._console.note(f"conversation {conversation_id}")

    async def show(self, event: RunEvent) -> None:
        kind = event.event
        if isinstance(kind, TextDelta):
            await self._print(kind.message_id, kind.text)
        elif isinstance(kind, MessageStored):
            message = kind.message
            # An answer that an earlier process received is announced without its deltas.
            if message.role is Role.ASSISTANT and message.text and message.id not in self._printed:
                await self._print(message.id, message.text)
        elif isinstance(kind, Notice):
            await self._note(f"notice {kind.code}: {kind.text}")
        elif isinstance(kind, Recovered):
            await self._note(f"recovered: {kind.what}")
        elif isinstance(kind, ApprovalNeeded) and self._tells_questions:
            await self._note(question(kind.server, kind.tool, kind.args, kind.why, kind.reason))
        elif isinstance(kind, SittingEnded):
            await self._end_line()
            await self._console.flush()

    async def ended(self, conversation_id: str, ended: SittingEnded) -> None:
        if ended.error_code is not None:
            await self._note(error_line(ended.error_code, ended.error_message))
        if ended.status == "waiting":
            await self._note(f"waiting: see `{PROGRAM} approvals`, answer with `{PROGRAM} decide`")
        elif ended.resumable:
            await self._note(f"{ended.status}: go on with `{PROGRAM} resume {conversation_id}`")

    async def _print(self, message_id: str, text: str) -> None:
        if self._printing != message_id:
            await self._end_line()
            if self._printed:
                await self._console.out("\n")
            self._printing = message_id
            self._printed.add(message_id)
        self._line_is_open = not text.endswith("\n") if text else self._line_is_open
        await self._console.out_piece(text)

    async def _end_line(self) -> None:
        if self._line_is_open:
            self._line_is_open = False
            await self._console.out("\n")

    async def _note(self, text: str) -> None:
        if self._line_is_open and self._console.stdout_is_terminal:
            await self._end_line()
        await self._console.note(text)


def question(server: str, tool: str, args: Mapping[str, Any], why: str, reason: str = "") -> str:
    """What a run asks, in a sentence, and the call it asks about."""
    if why == "approval":
        asked = f"question: may this call be made? {reason}".rstrip()
    else:
        asked = "question: this call was interrupted, and whether it took effect is unknown:"
    return f"{asked}\n  {server}.{tool} {whole_arguments(args)}"


def whole_arguments(args: Mapping[str, Any]) -> str:
    """All arguments of a call that somebody decides on, as JSON on one line."""
    return visible(json.dumps(dict(args), ensure_ascii=False))


def error_line(code: str, message: str | None) -> str:
    """An error as stderr shows it. `message`: title and remedy."""
    return f"error {code}: {message}" if message else f"error {code}"
