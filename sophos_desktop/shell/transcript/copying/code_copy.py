"""Gives the code of a painted box, all of it, however many segments it was cut into.

Invariant: exactly the lines of the code and nothing that follows it, without what a list or a quote has put
before them and without a last line end. No Qt.
"""

from dataclasses import replace
from itertools import pairwise

from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.text.drawable_text import as_written

_LINE_ENDS = ("\n", "\r")


def whole_code(model: TranscriptModel, message: int, part: int, source: str, *, is_last: bool) -> str:
    """The code of a box that begins in the segment `part`, where it says `source`. `is_last`: nothing is
    drawn below the box in that segment."""
    segments = model.segments(message)
    pieces = [segments[part]]
    if is_last:
        for segment in segments[part + 1 :]:
            if segment.kind is not SegmentKind.CODE or not segment.continues:
                break
            pieces.append(segment)
    if pieces[0].kind is not SegmentKind.CODE:
        source = as_written(source)  # it is what the parser was given
    if len(pieces) == 1:
        return source
    text = "".join(piece.text for piece in pieces)
    whole = replace(pieces[0], text=text, has_end=pieces[-1].has_end)
    if whole.kind is SegmentKind.CODE and whole.fence is not None:
        return whole.code
    environment = model.environment(message)
    tokens = [] if environment is None else environment.read(whole)
    codes = [token.content for token in tokens if token.type in ("fence", "code_block")]
    code = as_written(codes[-1].removesuffix("\n")) if codes else ""
    return code if codes and code.startswith(source) else _pieced_together(source, pieces)


def _pieced_together(source: str, pieces: list[Segment]) -> str:
    """What the pieces say one by one."""
    code = source
    for before, piece in pairwise(pieces):
        code += ("\n" if before.text.endswith(_LINE_ENDS) else "") + piece.code
    return code
