"""Shows how the last run of a conversation ended.

Invariant: only the resume banner and the end of the conversation change; the words are those of `run_words`.
"""

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.run_words import error_of_run, resume_sentences


def show_outcome(
    view: ChatView, items: TranscriptItems, conversation: Conversation, *, is_waiting: bool
) -> bool:
    """Show or hide the banner and the error; gives whether there is something to resume."""
    run = conversation.last_run
    # Killed after the last decision and before the run went on: nothing is asked, and work is left.
    is_decided = run is not None and run.status is RunStatus.WAITING
    is_resumable = (conversation.resumable or is_decided) and not is_waiting
    has_failed = run is not None and run.status is RunStatus.FAILED
    error = error_of_run(run.error_code, run.error_message) if run is not None and has_failed else None
    items.end_with(error, can_continue=is_resumable)
    if run is not None and is_resumable:
        view.resume_banner.show_message(*resume_sentences(run.status))
    else:
        view.resume_banner.hide()
    return is_resumable
