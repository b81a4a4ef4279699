"""What the scripted Ollama server knows and says: models, replies and the rule that picks a reply.

Invariant: everything here is data and pure functions; a reply's frames have the keys and the order that a
real server's have (`tests/support/wire/`). A script is JSON too, so that a process of its own can play it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

CREATED_AT = "2026-11-30T11:44:20.958067515Z"
CHARACTERS_PER_TOKEN = 4

Ending = Literal["complete", "cut", "clean", "error_line", "junk_line"]


@dataclass(frozen=True, slots=True)
class FakeModel:
    """A model that the server has. `knows_capabilities` False: the server is too old to tell them."""

    name: str
    capabilities: tuple[str, ...] = ("completion", "tools")
    context_length: int = 8192
    size: int = 98_363_032
    modified_at: str = "2026-11-30T11:43:23.830144974Z"
    digest: str = "4f92b093cd6be275a4302f54d423c98c8277c7225d11c8c29f0185c888d58875"
    family: str = "llama"
    template: str = "{{ .Messages }}"
    knows_capabilities: bool = True

    def tag(self) -> dict[str, Any]:
        """Its entry in `/api/tags`."""
        details = {
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": "135M",
        }
        entry: dict[str, Any] = {
            "name": self.name,
            "model": self.name,
            "modified_at": self.modified_at,
            "size": self.size,
            "digest": self.digest,
            "details": details,
        }
        if self.knows_capabilities:
            entry["details"] = {**details, "context_length": self.context_length}
            entry["capabilities"] = list(self.capabilities)
        return entry

    def show(self) -> dict[str, Any]:
        """The answer of `/api/show`."""
        answer: dict[str, Any] = {
            "modelfile": "",
            "template": self.template,
            "details": {"format": "gguf", "family": self.family, "families": [self.family]},
            "model_info": {
                "general.architecture": self.family,
                f"{self.family}.context_length": self.context_length,
            },
            "modified_at": self.modified_at,
        }
        if self.knows_capabilities:
            answer["capabilities"] = list(self.capabilities)
        return answer


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one chat request.

    `calls` are `{"name": …, "arguments": …}` (arguments of any JSON type); `lines` replaces all frames by
    these very lines; `hold_after` N: after N frames wait until the server is released.
    """

    pieces: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    calls_have_ids: bool = True
    calls_in_final_frame: bool = False
    done_reason: str = "stop"
    ending: Ending = "complete"
    error: str = "an error was encountered while running the model: unexpected EOF"
    status: int = 200
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    lines: tuple[str, ...] | None = None
    hold_after: int | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | str) -> "Reply":
        """A reply from a script file; a bare text is an answer in one piece."""
        if isinstance(value, str):
            return cls(pieces=(value,))
        known = {item.name for item in fields(cls)}
        if unknown := set(value) - known:
            raise ValueError(f"unknown keys in a reply: {sorted(unknown)}")
        values: dict[str, Any] = {
            key: tuple(item) if isinstance(item, list) else item for key, item in value.items()
        }
        return cls(**values)


@dataclass(slots=True)
class Script:
    """What the server plays.

    `queue` is used up, one reply a request. Then the reply is a function of the request alone: `by_text`
    picks the turns by a part of the last user message, else `turns`; within them, the number of assistant
    messages since the last user message counts, and the last turn repeats.
    """

    queue: list[Reply] = field(default_factory=list)
    turns: tuple[Reply, ...] = (Reply(pieces=("Hello", "!")),)
    by_text: dict[str, tuple[Reply, ...]] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Script":
        """A script from its file: `{"turns": […], "by_text": {"part": […]}}`."""
        script = cls()
        if "turns" in value:
            script.turns = tuple(Reply.from_json(item) for item in value["turns"])
        for part, turns in value.get("by_text", {}).items():
            script.by_text[part] = tuple(Reply.from_json(item) for item in turns)
        return script

    def pick(self, body: Mapping[str, Any]) -> Reply:
        """The reply to a chat request."""
        if self.queue:
            return self.queue.pop(0)
        messages: Sequence[Mapping[str, Any]] = body.get("messages") or ()
        last_user = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=-1)
        text = str(messages[last_user].get("content", "")) if last_user >= 0 else ""
        made: int = sum(message["role"] == "assistant" for message in messages[last_user + 1 :])
        turns = self.turns
        for part, others in self.by_text.items():
            if part in text:
                turns = others
        return turns[min(made, len(turns) - 1)]


def count_tokens(body: Mapping[str, Any]) -> int:
    """How many tokens this server counts in a request: four characters of content are one."""
    characters = sum(len(str(message.get("content", ""))) for message in body.get("messages") or ())
    return -(-characters // CHARACTERS_PER_TOKEN)


def frames(reply: Reply, body: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a 200 answer, the broken last one of a bad ending included."""
    if reply.lines is not None:
        yield from reply.lines
        return
    model = body["model"]
    yield from (_frame(model, {"content": "", "thinking": text}) for text in reply.thinking)
    yield from (_frame(model, {"content": text}) for text in reply.pieces)
    calls = [
        {
            **({"id": f"call_{index:08d}"} if reply.calls_have_ids else {}),
            "function": {**({"index": index} if reply.calls_have_ids else {}), **call},
        }
        for index, call in enumerate(reply.calls)
    ]
    if not reply.calls_in_final_frame:
        yield from (_frame(model, {"content": "", "tool_calls": [call]}) for call in calls)
    if reply.ending == "error_line":
        yield json.dumps({"error": reply.error})
    elif reply.ending == "junk_line":
        yield '{"model":"' + str(model) + '","message":{"ro'
    elif reply.ending == "complete":
        yield final_frame(reply, body, calls if reply.calls_in_final_frame else [])


def final_frame(
    reply: Reply, body: Mapping[str, Any], calls: Sequence[Mapping[str, Any]] = (), text: str = ""
) -> str:
    """The frame that says `done`, with the counts and durations (in nanoseconds)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    output = reply.output_tokens
    if output is None:
        output = len(reply.pieces) + len(reply.thinking) + 20 * len(reply.calls)
    # A real server leaves out what is zero.
    spent = {"eval_duration": 160_152_993} if output > 1 or reply.pieces else {}
    return _dump(
        {
            "model": body["model"],
            "created_at": CREATED_AT,
            "message": message,
            "done": True,
            "done_reason": reply.done_reason,
            "total_duration": 552_256_184,
            "load_duration": 39_783_722,
            "prompt_eval_count": count_tokens(body) if reply.prompt_tokens is None else reply.prompt_tokens,
            "prompt_eval_duration": 348_457_072,
            "eval_count": output,
            **spent,
        }
    )


def _frame(model: Any, message: Mapping[str, Any]) -> str:
    full = {"role": "assistant", **message}
    return _dump({"model": model, "created_at": CREATED_AT, "message": full, "done": False})


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
