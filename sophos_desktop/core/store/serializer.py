"""Packs checkpoints: strict about what comes back, compressed where it pays.

Invariant: what is read is data of LangGraph's own safe types and LangChain messages, or an error; no row
makes code run (DURABILITY.md, rule 15). Blobs over `COMPRESS_FROM_BYTES` go through zlib, marked in the type.
"""

import zlib
from threading import get_ident
from typing import Any

from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

COMPRESS_FROM_BYTES = 200
_MARK = "+zlib"
# A blob that unpacks to more than this is no checkpoint of ours.
LARGEST_BLOB_BYTES = 1 << 30
_KINDS = frozenset({"null", "bytes", "bytearray", "msgpack", "empty"})


class UnreadableCheckpoint(Exception):
    """A stored blob is not what this program writes."""


class StrictSerializer:
    """LangGraph's serializer protocol over its msgpack serializer in strict mode."""

    def __init__(self) -> None:
        """No fallback to pickle, no types beyond LangGraph's own safe list."""
        self._inner = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The type's name and the bytes."""
        kind, data = self._inner.dumps_typed(obj)
        if len(data) > COMPRESS_FROM_BYTES:
            packed = zlib.compress(data, 6)
            if len(packed) < len(data):
                return kind + _MARK, packed
        return kind, data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Raises UnreadableCheckpoint for anything this program does not write."""
        kind, blob = data
        if kind.endswith(_MARK):
            kind = kind.removesuffix(_MARK)
            unpacker = zlib.decompressobj()
            try:
                blob = unpacker.decompress(blob, LARGEST_BLOB_BYTES)
            except zlib.error as error:
                raise UnreadableCheckpoint(str(error)) from error
            if not unpacker.eof:
                raise UnreadableCheckpoint("a blob is cut or too large")
        if kind not in _KINDS:
            raise UnreadableCheckpoint(f"a blob of the unknown kind {kind!r}")
        # The library hands a blocked type back as plain data and only says so to listeners, to all of them:
        # exports read in threads of their own, and what one refuses is nothing to the others.
        refused: list[SerdeEvent] = []
        thread = get_ident()

        def note(event: SerdeEvent) -> None:
            if get_ident() == thread:
                refused.append(event)

        unregister = register_serde_event_listener(note)
        try:
            value = self._inner.loads_typed((kind, blob))
        except (ValueError, TypeError, KeyError) as error:
            raise UnreadableCheckpoint(str(error)) from error
        finally:
            unregister()
        if refused:
            raise UnreadableCheckpoint(f"it holds a {refused[0]['module']}.{refused[0]['name']}")
        return value
