"""Loaded by Orca itself: writes what it speaks to a file, a JSON string a line.

Orca before 45 does not know announcements; newer ones speak what they hold, and so does this.
"""
# mypy: ignore-errors

import json
import os

import pyatspi
from orca import speech

_spoken = open(os.environ["ORCA_SPOKEN"], "a", buffering=1)  # noqa: PTH123, SIM115
_speak, _speak_character = speech._speak, speech.speakCharacter


def write(words):
    _spoken.write(json.dumps(words) + "\n")


def speak(text, acss, interrupt):
    write(text)
    return _speak(text, acss, interrupt)


def speak_character(character, acss=None):
    write(character)
    return _speak_character(character, acss)


speech._speak, speech.speakCharacter = speak, speak_character
pyatspi.Registry.registerEventListener(
    lambda event: write(f"announced: {event.any_data}"), "object:announcement"
)
write("listening")
