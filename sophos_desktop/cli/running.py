"""The commands that execute a run: ask, resume, decide.

Invariant: a run that this process began ends with its outcome recorded, whatever becomes of the terminal;
the exit code is that of the outcome.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from sophos_desktop.cli.approving import SERVERS_SECONDS, Approver
from sophos_desktop.cli.attachments import read_attachments
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.parser import PROGRAM
from sophos_desktop.cli.run_output import error_line, printer
from sophos_desktop.cli.signals import Request
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SittingEnded, ToolDecided
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import EngineKind
from sophos_desktop.foundation.tasks import TaskOwner

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core
    from sophos_desktop.core.runs.registry import RunHandle, RunRegistry

_log = logging.getLogger(__name__)

# Whoever sends SIGTERM often waits ten seconds before SIGKILL.
DRAIN_SECONDS = 5.0

# How a run answers to somebody who decided while another process went on with it.
_GOES_ON_ELSEWHERE = (
    ErrorCode.SESSION_IN_PROGRESS,
    ErrorCode.APPROVAL_PENDING,
    ErrorCode.RUN_NOT_RESUMABLE,
)

Begin = Callable[[], Awaitable["RunHandle"]]

_EXIT_CODES = {
    RunStatus.COMPLETED: 0,
    RunStatus.FAILED: 3,
    RunStatus.WAITING: 4,
    RunStatus.CANCELLED: 130,
    RunStatus.INTERRUPTED: 143,
}


def exit_code(status: str, error_code: str | None) -> int:
    """What a run's outcome exits with."""
    if status == RunStatus.FAILED.value and error_code in {code.value for code in ErrorCode}:
        # Of the errors that end a run, only the store's have a code of their own.
        return 7 if ErrorCode(error_code).exit_code == 7 else 3
    return _EXIT_CODES.get(RunStatus(status), 3)


async def ask(call: Invocation) -> int:
    """Send a message and print the answer."""
    chosen = call.arguments
    text = await call.console.read_all() if chosen.text == "-" else chosen.text
    engine = EngineKind(chosen.engine) if chosen.engine else None
    if call.console.input_had_no_text:
        await call.console.note("notice: standard input is not UTF-8 text; what is none was replaced by “�”")
    read = await read_attachments(chosen.attach)
    for note in read.notes:
        await call.console.note(f"notice: {note}")
    async with call.core(tool_servers=True) as core:
        conversation_id = None
        if chosen.conversation is not None:
            conversation_id = (await core.conversations.find(chosen.conversation)).id

        async def begin() -> "RunHandle":
            return await core.runs.start(
                conversation_id, text, engine=engine, model=chosen.model, attachments=read.attachments
            )

        return await _Execution(call, core, conversation_id).run(begin)


async def resume(call: Invocation) -> int:
    """Go on with what is left to do; a run that waits is asked about first."""
    async with call.core(tool_servers=True) as core:
        conversation_id = (await core.conversations.find(call.arguments.id)).id
        await Approver(core, call.console, call.arguments.approve).answer(conversation_id)
        return await _Execution(call, core, conversation_id).run(lambda: core.runs.resume(conversation_id))


async def decide(call: Invocation) -> int:
    """Record a decision, then go on as `resume` does."""
    chosen = call.arguments
    # What holds for good, and arguments, are held against the definition, which only its server knows.
    needs_definition = chosen.always or chosen.args is not None
    async with call.core(tool_servers=needs_definition or not chosen.no_run) as core:
        conversation_id = (await core.conversations.find(chosen.id)).id
        if needs_definition:
            await core.tool_host.settle(SERVERS_SECONDS)
        decided = await core.decisions.decide(
            conversation_id,
            chosen.call,
            chosen.decision,
            args=chosen.args,
            reason=chosen.reason,
            result=chosen.result,
            always=chosen.always,
        )
        if chosen.args is not None and decided.input_schema is None:
            await call.console.note(f"{decided.server} is not there, so the arguments were not checked")
        if chosen.no_run:
            return await _report_decision(call, decided.tool_call_id)
        try:
            return await _Execution(call, core, conversation_id).run(
                lambda: core.runs.proceed(conversation_id)
            )
        except SophosError as error:
            if error.code not in _GOES_ON_ELSEWHERE:
                raise
            await call.console.note("the run goes on in another process, which takes the decision")
            return await _report_decision(call, decided.tool_call_id)


async def _report_decision(call: Invocation, tool_call_id: str) -> int:
    chosen = call.arguments
    if call.as_json:
        await call.print_json(
            {"tool_call_id": tool_call_id, "decision": chosen.decision, "always": chosen.always}
        )
    else:
        always = " for good" if chosen.always else ""
        await call.print_lines([f"decided {tool_call_id}: {chosen.decision}{always}"])
    return 0


class _Execution:
    """One command's run, over as many sittings as it is answered for."""

    def __init__(self, call: Invocation, core: "Core", conversation_id: str | None) -> None:
        self._call = call
        self._core = core
        self._conversation_id = conversation_id
        self._approver = Approver(core, call.console, call.arguments.approve)
        self._printer = printer(
            call.console, as_json=call.as_json, tells_questions=not self._approver.asks_a_person
        )

    async def run(self, begin: Begin) -> int:
        """Execute it and print it; gives the exit code. Raises SophosError if it does not begin."""
        await self._tell_what_the_start_found()
        first, conversation_id = True, self._conversation_id
        while True:
            try:
                handle, ended = await self._sit(begin, is_first=first)
            except SophosError as error:
                if first or error.code not in _GOES_ON_ELSEWHERE:
                    raise
                # Somebody else answered too, and was faster; `end` is printed, so the output is whole.
                await self._call.console.note(error_line(error.code.value, error.message))
                await self._call.console.note(f"see what became of it: `{PROGRAM} follow {conversation_id}`")
                return error.exit_code
            first = False
            conversation_id = handle.conversation_id
            waits = ended.status == RunStatus.WAITING.value
            stopped = self._call.signals.requested is not None
            if not waits or stopped or not await self._approver.answer(conversation_id):
                for notice in self._core.definitions.changes():
                    await self._call.console.note(f"notice {notice.code}: {notice.text}")
                if not self._call.console.reader_has_left:
                    await self._printer.ended(conversation_id, ended)
                    await self._tell_of_draft(conversation_id, ended)
                return exit_code(ended.status, ended.error_code)
            begin = partial(self._core.runs.proceed, conversation_id)

    async def _tell_of_draft(self, conversation_id: str, ended: SittingEnded) -> None:
        """What the thread did not take was handed back, and there is nothing to resume then."""
        if self._call.as_json or ended.resumable or ended.status == RunStatus.COMPLETED.value:
            return
        if await self._core.conversations.draft(conversation_id):
            await self._call.console.note(
                f"{ended.status}: what was not sent is kept as the draft; see it with "
                f"`{PROGRAM} show {conversation_id}`, send it with `{PROGRAM} ask -c {conversation_id} TEXT`"
            )

    async def _sit(self, begin: Begin, *, is_first: bool) -> "tuple[RunHandle, SittingEnded]":
        async with _Steering(self._core.runs) as steering:
            with (
                self._call.signals.given_to(steering.ask),
                self._call.console.telling_of_loss(lambda: steering.ask(Request.STOP)),
            ):
                handle = await begin()
                steering.took(handle)
                try:
                    if is_first:
                        await self._printer.began(handle.conversation_id)
                    await self._print(handle, is_first=is_first)
                except BrokenPipeError:
                    # Nobody reads any more: as if the reader had pressed Stop.
                    steering.ask(Request.STOP)
                except SophosError:
                    steering.ask(Request.STOP)
                    await handle.wait()
                    raise
                return handle, await handle.wait()

    async def _print(self, handle: "RunHandle", *, is_first: bool) -> None:
        has_begun = not is_first
        async with aclosing(handle.events()) as events:  # type: ignore[type-var]  # it is a generator
            async for event in events:
                # The output begins with `run_started`; what was decided before is in the trace.
                has_begun = has_begun or not isinstance(event.event, ToolDecided)
                if has_begun:
                    await self._printer.show(event)

    async def _tell_what_the_start_found(self) -> None:
        for notice in self._core.notices:
            await self._call.console.note(f"notice {notice.code}: {notice.text}")
        for recovered in self._core.recovered:
            if recovered.conversation_id == self._conversation_id:
                await self._call.console.note(f"recovered: {recovered.what}")


class _Steering:
    """Passes signals on to a run, also those that come while it begins. Lives for one sitting."""

    def __init__(self, runs: "RunRegistry") -> None:
        self._runs = runs
        self._handle: RunHandle | None = None
        self._request: Request | None = None
        self._failure: BaseException | None = None
        self._tasks = TaskOwner(self._failed)

    async def __aenter__(self) -> "_Steering":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.close()

    def took(self, handle: "RunHandle") -> None:
        """The run began."""
        self._handle = handle
        self._act()

    def ask(self, request: Request) -> None:
        """Stop or drain it, as soon as it has begun."""
        self._request = request
        self._act()

    def _act(self) -> None:
        if self._handle is None or self._request is None:
            return
        if self._request is Request.STOP:
            self._runs.stop(self._handle.conversation_id)
        else:
            self._tasks.spawn(self._runs.drain(DRAIN_SECONDS), "drain")

    def _failed(self, error: BaseException) -> None:
        # A drain that failed must not leave the run going on for ever.
        _log.error("a drain failed", exc_info=error)
        if self._handle is not None:
            self._runs.stop(self._handle.conversation_id)
