"""Says what recovery found out about a run as a sentence, and in the past once that is past.

Invariant: pure, no Qt; what is not known here stays as the core told it, with a capital.
"""

_RESUMABLE = "it was interrupted and can be resumed"
_PAST = (
    (_RESUMABLE, "it was interrupted"),
    ("it waits for your decision", "it waited for your decision"),
    ("everything is decided; it can be resumed", "everything was decided"),
    ("your message was not sent; it is in the composer again", "your message was not sent"),
    (" is taken over", " was taken over"),
    (" are taken over", " were taken over"),
    (" is uncertain", " was uncertain"),
    (" are uncertain", " were uncertain"),
    (" is not made yet", " was not made yet"),
    (" are not made yet", " were not made yet"),
)


def recovered_words(what: str, *, is_past: bool) -> str:
    """`what`: the words of a `recovered` event. `is_past`: the run went on, or another one began."""
    if is_past:
        for now, then in _PAST:
            what = what.replace(now, then)
    return what[:1].upper() + what[1:]


def is_said_by_banner(what: str) -> bool:
    """Whether the banner that offers Resume says the same, as long as it can be resumed."""
    return what.startswith(_RESUMABLE)
