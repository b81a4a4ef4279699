"""Lets go of what the thread holds by now, texts being stored once, and of what was deleted.

Invariant: a recorded result, or a run's input, is dropped only if a checkpoint holds it. Each checkpoint does
this at once (`announcer`); a kill between the two is made up for here. The tombstone goes last of all.
"""

from sophos_desktop.core.agent.graph_runner import Thread
from sophos_desktop.core.runs.stores import Stores


async def let_go_of_stored(stores: Stores, conversation_id: str, thread: Thread) -> None:
    """Raises SophosError STORE_*."""
    stored = thread.stored_messages()
    answered = {message.tool_call_id for message in stored if message.tool_call_id}
    kept = await stores.journal.calls_with_results(conversation_id)
    superfluous = [call for call in kept if call in answered]
    if superfluous:
        await stores.journal.drop_results(conversation_id, superfluous)
    ids = {message.id for message in stored}
    for record in await stores.runs.with_input(conversation_id):
        if record.input_message_id in ids:
            await stores.runs.input_arrived(record.id)


async def finish_deletion(stores: Stores, conversation_id: str) -> None:
    """Remove a conversation that has its tombstone: thread, attachments, rows; after a kill, again. Does
    nothing if the tombstone was taken back.

    Raises SophosError STORE_*."""
    if not await stores.conversations.make_final(conversation_id):
        return
    await stores.saver.adelete_thread(conversation_id)
    await stores.attachments.let_go(conversation_id)
    await stores.conversations.remove(conversation_id)
