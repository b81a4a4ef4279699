"""What every sitting, and recovery, reads and writes.

Invariant: frozen; made once, by assembly.
"""

from dataclasses import dataclass

from sophos_desktop.core.agent.graph_runner import GraphRunner
from sophos_desktop.core.store.attachments import AttachmentStore
from sophos_desktop.core.store.checkpoints import CheckpointStore
from sophos_desktop.core.store.children import ChildStore
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.drafts import DraftStore
from sophos_desktop.core.store.journal import JournalStore
from sophos_desktop.core.store.permissions import PermissionStore
from sophos_desktop.core.store.queue import QueueStore
from sophos_desktop.core.store.runs import RunStore
from sophos_desktop.core.store.trace import TraceStore
from sophos_desktop.foundation.clock import Clock


@dataclass(frozen=True, slots=True)
class Stores:
    """The tables, the checkpointer and the graph over it."""

    conversations: ConversationStore
    drafts: DraftStore
    runs: RunStore
    journal: JournalStore
    attachments: AttachmentStore
    trace: TraceStore
    children: ChildStore
    permissions: PermissionStore
    queue: QueueStore
    saver: CheckpointStore
    graph: GraphRunner
    clock: Clock
