"""Shows a conversation as it was read, and how its last run ended.

Invariant: one way to go on is offered: by the end of the conversation if that has a button of its own (an
error, an answer that was stopped), else by the banner. The words are those of `run_words`.
"""

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.run_words import error_of_run, resume_sentences
from sophos_desktop.shell.chat.stored_conversation import StoredConversation
from sophos_desktop.shell.facade import PendingDecision


def show_stored(
    view: ChatView,
    items: TranscriptItems,
    stored: StoredConversation,
    asked: list[PendingDecision],
    *,
    is_new: bool,
) -> bool:
    """Show it, where it was left if it `is_new` on the screen; gives whether there is something to resume.
    `asked`: the questions that are open."""
    items.reset(stored.messages)
    items.show_failures(stored.failures)
    items.ask({question.tool_call_id: question.why for question in asked})
    is_resumable = _show_outcome(view, items, stored, is_waiting=bool(asked))
    if is_new:
        view.transcript.open_items(items.items, stored.conversation.id)
    else:
        view.transcript.show_items(items.items)
    if items.items:
        view.show_transcript()
    else:
        view.show_empty()
    return is_resumable


def _show_outcome(
    view: ChatView, items: TranscriptItems, stored: StoredConversation, *, is_waiting: bool
) -> bool:
    run = stored.conversation.last_run
    # Killed after the last decision and before the run went on: nothing is asked, and work is left.
    is_decided = run is not None and run.status is RunStatus.WAITING
    is_resumable = (stored.conversation.resumable or is_decided) and not is_waiting
    has_failed = run is not None and run.status is RunStatus.FAILED
    error = error_of_run(run.error_code, run.error_message) if run is not None and has_failed else None
    items.end_with(error, can_continue=is_resumable, run_id=None if run is None else run.id)
    if run is not None and is_resumable and not items.offers_to_go_on:
        sentences = resume_sentences(run.status, uncertain=stored.unresolved, has_half=items.has_half_answer)
        view.resume_banner.show_message(*sentences)
    else:
        view.resume_banner.hide()
    return is_resumable
