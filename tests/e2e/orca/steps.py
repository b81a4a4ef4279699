"""What is pressed and what must be heard then, session by session."""

CALL = {"name": "lines__append_line"}
SLOW_CALL = {"name": "lines__slow_append"}
KILL = "kill"  # the program, in the middle of a slow call; then start it again
AGAIN = "again"  # the keys after it, until what is waited for is heard
WRITTEN = "written.txt"  # what the slow call writes before it takes its time

Steps = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]

_TALK: Steps = (
    ((), ("Message text",)),
    (
        ("type please append", "Return"),
        ("announced: Message sent", "announced: lines · append_line wants to run"),
    ),
    (("shift+Tab",), ("lines · append_line wants to run panel", "Deny push button")),
    (("shift+Tab",), ("Always allow this tool push button",)),
    (("shift+Tab",), ("Allow once push button",)),
    (("Return",), ("announced: Answer finished",)),
    (("ctrl+l",), ("please append",)),
    (("Tab",), ("Answer: Result",)),
    (("Up",), ("Tool call: lines append_line",)),
    (("Up",), ("Answer: I append",)),
    (("Up",), ("You: please append",)),
    (("End",), ("Answer: Result",)),
    (("Return",), ("Answer, read with the keyboard", "Result")),
    (("Down",), ("It is done.",)),
    (("Down",), ("a; b",)),
    (("Down",), ("1; 2",)),
    (("Down",), ("The sum is a squared. The end.",)),
    (("Escape",), ("Answer: Result",)),
    (("ctrl+m",), ("Message text",)),
    (("type now it is broken", "Return"), ("announced: Message sent", "announced: Error: ")),
)

# Files, models, an uncertain call, finding, dialogs, the trace, the list.
_WINDOW: Steps = (
    ((), ("Message text",)),
    (("Tab",), ("Attach files push button",)),
    (("space",), ("File name",)),
    (("type {folder}/notes.txt", "Return"), ("announced: Attached notes.txt, 10 bytes",)),
    # What is attached may be told before the window has the keyboard back.
    ((AGAIN, "ctrl+m", "Tab", "Tab", "space"), ("File name",)),
    (
        ("type {folder}/dot.png", "Return"),
        ("announced: Attached dot.png", "announced: smol:latest cannot see images"),
    ),
    ((AGAIN, "ctrl+m", "Tab", "Tab"), ("Attachment dot.png", "Remove dot.png push button")),
    (("space",), ("Attachment notes.txt", "Remove notes.txt push button")),
    (("Tab",), ("Attach files push button",)),
    (("Tab",), ("Model: smol:latest, Ollama push button",)),
    (("Return",), ("Filter models text", "As in the settings (smol:latest)")),
    (("Down",), ("Models", "smol:latest, Ollama")),
    (("Escape",), ("Message text",)),
    (
        ("type slowly please", "Return"),
        ("announced: Message sent", "announced: lines · slow_append wants to run"),
    ),
    (("shift+Tab", "shift+Tab", "shift+Tab"), ("Allow once push button",)),
    (("Return", KILL), ("Message text",)),
    ((AGAIN, "ctrl+m", "ctrl+l"), ("slowly please, Interrupted",)),
    (("ctrl+r",), ("announced: lines · slow_append: nobody knows whether it ran",)),
    (("ctrl+m",), ("Message text",)),
    (("shift+Tab",), ("lines · slow_append: nobody knows whether it ran panel", "Enter result push button")),
    (("shift+Tab",), ("Skip push button", "The model is told that the outcome is unknown")),
    (("shift+Tab",), ("Run again push button", "it may do the same thing twice")),
    (("Tab", "Tab"), ("Enter result push button",)),
    (("Return",), ("What did it return? The model gets this text as the result. text",)),
    (("type it did", "Tab"), ("Use as result push button",)),
    (("Return",), ("announced: Answer finished",)),
    (("ctrl+f",), ("Find in conversation text",)),
    (("type so it",), ("1 of 1. So it was.",)),
    (("Tab",), ("Previous match push button",)),
    (("Escape",), ("Answer: So it was.",)),
    (("ctrl+comma",), ("Settings — Sophos Desktop dialog", "Address read only text", "Where Ollama answers")),
    (("Escape",), ("Answer: So it was.",)),
    (("F1",), ("Keyboard Shortcuts — Sophos Desktop dialog", "Send the message")),
    (("Escape",), ("Answer: So it was.",)),
    (("ctrl+t",), ("Tool Servers — Sophos Desktop dialog", "fetch  ·  stopped")),
    (("Tab",), ("Connection: stdio",)),
    (("Escape",), ("Answer: So it was.",)),
    (("ctrl+m",), ("Message text",)),
    (("alt+f",), ("New Chat",)),
    (("Escape",), ("File.",)),
    (("Escape",), ("Message text",)),
    (("Tab", "Tab", "Tab"), ("Trace panel", "Choose what the trace shows push button")),
    (("Tab", "Tab", "Tab", "Tab"), ("Runs, steps and events tree",)),
    (("Down", "Down"), ("slow_append, ",)),
    (("Tab", "Tab"), ("Show details as Text", "Left and Right choose")),
    (("ctrl+l",), ("slowly please",)),
    (("F2",), ("slowly please",)),
    (("type renamed", "Return"), ("renamed, ",)),
    (("Delete",), ("Delete this conversation? — Sophos Desktop dialog", "Cancel push button")),
    (("Tab",), ("Delete push button",)),
    (("Return",), ("announced: Deleted “renamed”. Undo takes it back",)),
    (("ctrl+z",), ("renamed, ",)),
    (("shift+Tab",), ("New chat push button",)),
    (("shift+Tab",), ("Filter conversations text",)),
    (("type zebra",), ("announced: No title holds that",)),
)

STEPS = {"talk": _TALK, "window": _WINDOW}
