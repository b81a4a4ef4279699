"""Lets go of what the thread holds by now: texts are stored once.

Invariant: a recorded result, or a run's input, is dropped only if a checkpoint holds it. Each checkpoint does
this at once (`announcer`); a kill between the two is made up for here.
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
