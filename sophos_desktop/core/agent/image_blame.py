"""Finds out which images a request failed over, and says what becomes of them.

Invariant: what a failed request is put down to is recorded before its error is raised, so that the next run,
and each resume after it, makes the same prompt.
"""

import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from sophos_desktop.core.agent.chat_errors import EngineRefusal
from sophos_desktop.core.agent.context import Prompt
from sophos_desktop.core.agent.messages import attachments_of, to_domain
from sophos_desktop.core.agent.prompt_attachments import place_of
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.image_refusals import ImagePlace, ImageRefusals
from sophos_desktop.core.domain.specs import ModelEndpoint

# Ollama says "image: unknown format", "invalid image input" or "unable to make llava embedding from image";
# llama.cpp's server "image input is not supported", or something of its mmproj.
_OF_AN_IMAGE = re.compile(
    r"\b(images?|pictures?|vision|multimodal|mmproj|pixels?|png|jpe?g|webp|gif)\b", re.I
)
_AGAIN = "Attach it again as PNG or JPEG, smaller if it is large, if the model should see it"


async def blamed_images(
    refusals: ImageRefusals,
    endpoint: ModelEndpoint,
    prompt: Prompt,
    history: Sequence[BaseMessage],
    error: EngineRefusal,
) -> SophosError:
    """The error that the run ends with: `error` itself if no image can be the reason, else one that names the
    images and says whether the next run does without them. Raises SophosError STORE_*."""
    is_certain = bool(_OF_AN_IMAGE.search(_without_names(error.words, endpoint)))
    suspects = _suspects(prompt, history, endpoint.model, is_certain=is_certain)
    if not suspects:
        return error
    are_left_out = await refusals.note(endpoint.engine, endpoint.model, list(suspects), is_certain=is_certain)
    names = _names(list(suspects.values()))
    if not are_left_out:
        again = f"Resume to try again; if that fails too, the next prompt does without {names}"
        return error.with_remedy(again)
    which = "it" if len(suspects) == 1 else "them"
    title = f"{endpoint.model} did not take {names}"
    remedy = f"Resume to go on without {which}. {_AGAIN}"
    return SophosError(error.code, title, remedy, details=error.details)


def left_out_notice(model: str, refused: Sequence[AttachmentRef]) -> str:
    """What of the thread a prompt leaves out since the model would not take it, as a sentence."""
    was = "was" if len(refused) == 1 else "were"
    return f"{_names(refused)} {was} left out, since {model} did not take {'it' if was == 'was' else 'them'}"


def _suspects(
    prompt: Prompt, history: Sequence[BaseMessage], model: str, *, is_certain: bool
) -> dict[ImagePlace, AttachmentRef]:
    """The images of the prompt that this model never answered over. Where it answered over all of them, it is
    one of them only if the engine says so."""
    shown = set(prompt.shown)
    unproven: dict[ImagePlace, AttachmentRef] = {}
    everything: dict[ImagePlace, AttachmentRef] = {}
    is_proven = False
    for message in reversed(history):
        if isinstance(message, AIMessage):
            is_proven = is_proven or to_domain(message).model == model
        for ref in attachments_of(message):
            place = place_of(ref, message)
            if place in shown:
                everything[place] = ref
                if not is_proven:
                    unproven[place] = ref
    return unproven or (everything if is_certain else {})


def _without_names(words: str, endpoint: ModelEndpoint) -> str:
    """A model's name often says that it sees."""
    for name in (endpoint.model, endpoint.model.partition(":")[0], endpoint.base_url):
        words = words.replace(name, "")
    return words


def _names(refs: Sequence[AttachmentRef]) -> str:
    return " and ".join(dict.fromkeys(f"“{ref.name}”" for ref in refs))
