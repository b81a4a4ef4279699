"""The commands that only read: list, show, runs, trace, approvals.

Invariant: they need no engine and start no tool server.
"""

from typing import Any

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.cli.output import Style, moment, one_line, short_ids, table
from sophos_desktop.cli.run_output import whole_arguments
from sophos_desktop.cli.views import trace_tree, transcript
from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus
from sophos_desktop.core.domain.durations import between, duration
from sophos_desktop.core.domain.run import RunRecord


async def list_conversations(call: Invocation) -> int:
    """The conversations, newest first."""
    chosen = call.arguments
    tags = list(dict.fromkeys(chosen.tag))
    async with call.core() as core:
        found = await core.conversations.find_all(
            statuses=[ConversationStatus(status) for status in chosen.status],
            query=chosen.query,
            tag=tags[0] if tags else "",
            limit=chosen.limit if len(tags) < 2 else None,
        )
        found = [entry for entry in found if set(tags) <= set(entry.tags)][: chosen.limit]
        every = await core.conversations.ids()
    if call.as_json:
        await call.print_json([entry.to_json() for entry in found])
        return 0
    if not found:
        await call.console.note("no conversations")
    names = short_ids([entry.id for entry in found], every)
    rows = [
        (
            names[entry.id],
            moment(entry.updated_at),
            entry.status.value,
            _last_run(entry),
            str(entry.message_count),
            one_line(entry.title),
        )
        for entry in found
    ]
    heading = ("ID", "UPDATED", "STATUS", "LAST RUN", "MESSAGES", "TITLE")
    await call.print_lines(table(heading, rows, Style(call.console.coloured)))
    return 0


def _last_run(entry: Conversation) -> str:
    if entry.last_run is None:
        return ""
    if entry.decided:
        return "decided; resume goes on"
    return f"{entry.last_run.status.value}{', resumable' if entry.resumable else ''}"


async def show(call: Invocation) -> int:
    """One conversation with its messages, partial answers included."""
    async with call.core() as core:
        conversation = await core.conversations.find(call.arguments.id)
        messages = await core.conversations.messages(conversation.id)
        records = await core.conversations.call_records(conversation.id)
        unsent = await core.attachments.of_draft(conversation.id)
    if call.as_json:
        await call.print_json(
            {
                **conversation.to_json(),
                "draft": conversation.draft,
                "draft_attachments": [ref.to_json() for ref in unsent],
                "messages": [message.to_json() for message in messages],
                "calls": {
                    asked.id: records[asked.id].to_json(asked.args)
                    for message in messages
                    for asked in message.tool_calls
                    if asked.id in records
                },
            }
        )
    else:
        style = Style(call.console.coloured)
        await call.print_lines(transcript(conversation, messages, records, unsent, style))
    return 0


async def runs(call: Invocation) -> int:
    """The runs of a conversation, oldest first."""
    async with call.core() as core:
        conversation = await core.conversations.find(call.arguments.id)
        records = await core.conversations.runs(conversation.id)
        every = await core.conversations.run_ids()
    if call.as_json:
        await call.print_json([_run_json(record) for record in records])
        return 0
    names = short_ids([record.id for record in records], every)
    rows = [
        (
            names[record.id],
            record.kind.value,
            record.status.value,
            "/".join(filter(None, (record.engine, record.model))),
            moment(record.started_at),
            duration(between(record.started_at, record.finished_at)),
            f"{record.error_code}: {one_line(record.error_message or '')}" if record.error_code else "",
        )
        for record in records
    ]
    heading = ("RUN", "KIND", "STATUS", "MODEL", "STARTED", "TOOK", "ERROR")
    await call.print_lines(table(heading, rows, Style(call.console.coloured)))
    return 0


def _run_json(record: RunRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "conversation_id": record.conversation_id,
        "kind": record.kind.value,
        "status": record.status.value,
        "error_code": record.error_code,
        "error_message": record.error_message,
        "engine": record.engine,
        "model": record.model,
        "prompt_sha256": record.prompt_sha256,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
    }


async def trace(call: Invocation) -> int:
    """What was stored of a run, in order."""
    async with call.core() as core:
        record = await core.conversations.find_run(call.arguments.id)
        events = await core.conversations.trace(record.id)
    if call.as_json:
        await call.print_json(events)
    else:
        await call.print_lines(trace_tree(record, events, Style(call.console.coloured)))
    return 0


async def approvals(call: Invocation) -> int:
    """The questions that runs wait on."""
    async with call.core() as core:
        pending = await core.decisions.pending()
        every = await core.conversations.ids()
    if call.as_json:
        await call.print_json([question.to_json() for question in pending])
        return 0
    if not pending:
        await call.console.note("no questions are open")
        return 0
    names = short_ids([question.conversation_id for question in pending], every)
    call_ids = [question.tool_call_id for question in pending]
    calls = short_ids(call_ids, call_ids, compact=False)
    rows = [
        (
            names[question.conversation_id],
            calls[question.tool_call_id],
            question.why,
            moment(question.asked_at),
            one_line(f"{question.server}.{question.tool}"),
        )
        for question in pending
    ]
    style = Style(call.console.coloured)
    heading, *lines = table(("CONVERSATION", "CALL", "WHY", "ASKED", "TOOL"), rows, style)
    shown = [heading]
    for line, question in zip(lines, pending, strict=True):
        shown += [line, f"  {whole_arguments(question.args)}"]
        if question.reason:
            shown.append(style.faint(f"  {question.reason}"))
    await call.print_lines(shown)
    return 0
