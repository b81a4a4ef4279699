"""The commands that look after the installation: config, doctor, models, delete.

Invariant: `config` needs no database and `doctor` gives its checks also where the store cannot be opened.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, one_line, size, table, visible
from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import EngineKind, ModelInfo

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core
    from sophos_desktop.core.runs.doctor import Check
    from sophos_desktop.core.runs.memory_facts import MemoryFact
    from sophos_desktop.core.settings.service import SettingsService

SERVERS_SECONDS = 30.0

# Which check speaks for a store that cannot be opened.
_CHECK_OF = {
    ErrorCode.STORE_CORRUPT: "store_integrity",
    ErrorCode.STORE_BUSY: "store_integrity",
    ErrorCode.STORE_TOO_NEW: "store_schema",
    ErrorCode.STORE_UNSUPPORTED: "file_system",
    ErrorCode.STORE_FULL: "disk_space",
    ErrorCode.STORE_READ_ONLY: "data_dir",
    ErrorCode.STORE_UNREACHABLE: "data_dir",
}
_STORE_CHECKS = {"data_dir", "file_system", "disk_space", "store_integrity", "store_schema", "search_index"}


async def config(call: Invocation) -> int:
    """The settings in force and where each comes from; with a value, change one."""
    from sophos_desktop.core.settings.service import SettingsService

    chosen = call.arguments
    settings = SettingsService(call.paths, call.environ)
    if chosen.value is not None:
        settings.set(chosen.key, chosen.value)
    for notice in settings.notices:
        await call.console.note(f"notice {notice.code}: {notice.text}")
    keys = [item.key for item in settings.items()] if chosen.key is None else [chosen.key]
    values = {key: settings.value_of(key) for key in keys}
    if call.as_json:
        await call.print_json(
            {key: {"value": value, "source": settings.source_of(key)} for key, value in values.items()}
        )
    elif chosen.key is None:
        rows = [(key, _shown(value), settings.source_of(key)) for key, value in values.items()]
        await call.print_lines(table(("SETTING", "VALUE", "FROM"), rows, Style(call.console.coloured)))
    else:
        await call.print_lines([_shown(values[chosen.key])])
    await _warn_of_overriding(call, settings)
    return 0


async def _warn_of_overriding(call: Invocation, settings: "SettingsService") -> None:
    chosen = call.arguments
    if chosen.value is None or not chosen.value.strip():
        return
    source = settings.source_of(chosen.key)
    if source != str(settings.path):
        await call.console.note(f"notice: {settings.path} has it now, but {source} counts more")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


async def doctor(call: Invocation) -> int:
    """Every check with its remedy; 0 if all is well, 7 if the store is not, else 3."""
    from sophos_desktop.core.runs.doctor import Check

    checks: Sequence[Check]
    try:
        async with call.core(tool_servers=True, restarts=False) as core:
            await core.tool_host.settle(SERVERS_SECONDS)
            checks = await core.doctor.examine()
    except SophosError as error:
        if error.code not in _CHECK_OF:
            raise
        checks = [Check(_CHECK_OF[error.code], False, error.title, error.remedy)]
    wrong = {check.id for check in checks if not check.ok}
    if call.as_json:
        await call.print_json({"ok": not wrong, "checks": [check.to_json() for check in checks]})
    else:
        await call.print_lines(_check_lines(checks, Style(call.console.coloured)))
    if wrong & _STORE_CHECKS:
        return 7
    return 3 if wrong else 0


def _check_lines(checks: "Sequence[Check]", style: Style) -> list[str]:
    widest = max(len(check.id) for check in checks)
    return [
        f"{style.good('ok   ') if check.ok else style.bad('wrong')}  {check.id:<{widest}}  "
        + visible(f"{check.text.rstrip('.')}. {check.remedy}" if check.remedy else check.text)
        for check in checks
    ]


async def models(call: Invocation) -> int:
    """What both engines have. Raises SophosError if neither has anything."""
    async with call.core() as core:
        found, failure = await _all_models(core)
    if failure is not None and not found:
        raise failure
    if failure is not None:
        await call.console.note(f"notice {failure.code}: {failure.message}")
    if call.as_json:
        await call.print_json([model.to_json() for model in found])
        return 0
    rows = [
        (
            model.engine.value,
            model.name,
            size(model.size_bytes),
            str(model.context_length or ""),
            ", ".join(sorted(model.capabilities)),
            "loaded" if model.loaded else "",
        )
        for model in found
    ]
    heading = ("ENGINE", "MODEL", "SIZE", "CONTEXT", "CAN", "")
    await call.print_lines(table(heading, rows, Style(call.console.coloured)))
    return 0


async def _all_models(core: "Core") -> tuple[list[ModelInfo], SophosError | None]:
    found: list[ModelInfo] = []
    failure: SophosError | None = None
    for kind in EngineKind:
        try:
            found += await core.engines.models(kind)
        except SophosError as error:
            failure = error
    return found, failure


async def delete(call: Invocation) -> int:
    """Delete a conversation, after asking; with `--facts remove` what it added to the memory, too."""
    from sophos_desktop.core.runs.memory_facts import MEMORY

    removes_facts = call.arguments.facts == "remove"
    async with call.core(only_server=MEMORY if removes_facts else None) as core:
        conversation = await core.conversations.find(call.arguments.id)
        named = f"“{one_line(conversation.title)}” ({conversation.message_count} messages)"
        facts = await core.conversations.memory_facts(conversation.id)
        if not call.arguments.yes and not await _confirmed(call, named, facts, removes_facts=removes_facts):
            await call.console.note("nothing was deleted")
            return 0
        if removes_facts and facts:
            _refuse_while_running(conversation)
            # First: once the conversation is gone nobody knows any more which facts were its own.
            facts = await core.conversations.remove_facts(facts, core.direct_calls)
        await core.conversations.delete(conversation.id)
    lines = [f"deleted {conversation.id} {named}"]
    if facts:
        lines.append(
            "removed from the memory:" if removes_facts else "what it added to the memory stays there:"
        )
        lines += [f"  {one_line(fact.words)}" for fact in facts]
    await call.print_lines(lines)
    return 0


def _refuse_while_running(conversation: Conversation) -> None:
    """So that nothing is removed where the deletion would be refused."""
    run = conversation.last_run
    if run is not None and run.status is RunStatus.RUNNING:
        raise SophosError(
            ErrorCode.SESSION_IN_PROGRESS,
            "An answer is being written in this conversation",
            "Stop it first, then delete",
        )


async def _confirmed(
    call: Invocation, named: str, facts: "Sequence[MemoryFact]", *, removes_facts: bool
) -> bool:
    if not call.console.can_ask:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            "There is no terminal to ask on whether to delete it",
            "Say so with --yes",
        )
    about = ""
    if facts:
        what = "1 fact that it added" if len(facts) == 1 else f"{len(facts)} facts that it added"
        about = f" {what} to the memory stay there; --facts remove takes them out."
        if removes_facts:
            about = f" {what} to the memory will be taken out."
    answer = await call.console.ask(f"Delete {named} for ever?{about} [y/N] ")
    return (answer or "").strip().lower() in ("y", "yes")
