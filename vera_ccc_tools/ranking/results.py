"""Results out of ranked chunks: neighbours joined, no file in the others' way, pages that tile.

ccc cuts a file into chunks of about a thousand characters that overlap a little, so that good hits
are often neighbours. Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.client import Hit

PER_FILE = 3
"""Results of one file before those of all others, unless the caller names the path."""
JOINED_RANKS = 10
"""Neighbours are joined when both are among so many best chunks; a worse one waits for its turn."""
JOINED_LINES = 120
"""Lines that a joint result may have; some three chunks, and a page of them fits the output."""

GIVEN_BACK = 500
"""Characters of a line that a chunk may get back. A line of generated code, or of data, may be a
whole file: it would take the place of all other results."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a search in the order that they are shown.

    Attributes:
        hits: Every line of the chunks once, each result's lines in one piece.
        first: How many of them, from the first on, neither crowd nor touch each other.
    """

    hits: tuple[Hit, ...]
    first: int


def arrange(ranked: Sequence[Hit], *, per_file: int | None = PER_FILE) -> Results:
    """Results out of chunks, best first; at most *per_file* of a file come before the rest.

    Of two neighbours that are both good one result is made, at the place of the better. What would
    crowd, or touch an earlier result without being good enough to join it, follows behind the rest
    with the lines that were not yet shown.
    """
    first: list[Hit] = []
    left: list[Hit] = []
    for rank, hit in enumerate(ranked):
        of_file = [each for each in first if each.file_path == hit.file_path]
        near = [each for each in of_file if _touch(each, hit)]
        joint = _joint([*near, hit])
        if not near and (per_file is None or len(of_file) < per_file):
            first.append(hit)
        elif near and joint is not None and _may_join(near[0], joint, rank):
            first[first.index(near[0])] = joint
            first = [each for each in first if each not in near[1:]]
        else:
            left.append(hit)
    hits = list(first)
    for hit in left:
        hits += unshown(hit, hits)
    return Results(tuple(hits), len(first))


def restore(hit: Hit, text: str) -> Hit:
    """Give the lines that ccc cut in the middle back whole, from the *text* of the hit's file.

    A chunk may begin behind its first line's indentation, and end before its last line does. Where
    the file no longer has the hit's lines, the hit stays as it is; and so does a part of a line
    that is longer by more than `GIVEN_BACK`.
    """
    lines = text.split("\n")[hit.start_line - 1 : hit.end_line]
    if not agrees(hit, lines):
        return hit
    parts = hit.content.split("\n")
    pairs = zip(parts, lines, strict=True)
    whole = (line if len(line) <= len(part) + GIVEN_BACK else part for part, line in pairs)
    return replace(hit, content="\n".join(whole))


def agrees(hit: Hit, lines: Sequence[str]) -> bool:
    """Whether *lines* are still those of *hit*, whose first and last may be parts of them."""
    found = hit.content.split("\n")
    return len(lines) == len(found) and all(
        "".join(part.split()) in "".join(line.split())
        for part, line in zip(found, lines, strict=True)
    )


def _may_join(best: Hit, joint: Hit, rank: int) -> bool:
    """Whether *joint* may replace *best*: it adds nothing, or is good and not too long."""
    lines = joint.end_line - joint.start_line + 1
    return joint.content == best.content or (rank < JOINED_RANKS and lines <= JOINED_LINES)


def _touch(one: Hit, other: Hit) -> bool:
    return one.start_line <= other.end_line + 1 and other.start_line <= one.end_line + 1


def _lines(hit: Hit) -> list[str] | None:
    """The lines of *hit*; None where there are more or fewer than its numbers say."""
    lines = hit.content.split("\n")
    return lines if len(lines) == hit.end_line - hit.start_line + 1 else None


def _joint(hits: Sequence[Hit]) -> Hit | None:
    """One hit of touching *hits*, the first of which is the best; None where no lines fit."""
    first, last = min(hit.start_line for hit in hits), max(hit.end_line for hit in hits)
    joint: list[str | None] = [None] * (last - first + 1)
    for hit in sorted(hits, key=lambda each: (each.start_line, each.end_line)):
        lines = _lines(hit)
        if lines is None:
            return None
        for at, line in enumerate(lines, hit.start_line - first):
            known = joint[at]
            joint[at] = line if known is None else _fuller(known, line)
    content = "\n".join(line or "" for line in joint)
    score = max(hit.score for hit in hits)
    return replace(hits[0], content=content, start_line=first, end_line=last, score=score)


def _fuller(one: str, other: str) -> str:
    """A line of which two chunks have parts: the larger, or both where either has its own."""
    if other in one or one in other:
        return max(one, other, key=len)
    common = next(size for size in range(len(other), -1, -1) if one.endswith(other[:size]))
    return one + other[common:]


def unshown(hit: Hit, shown: Sequence[Hit]) -> Iterator[Hit]:
    """The pieces of *hit* whose lines are not *shown* yet; without those that are blank."""
    lines = _lines(hit)
    if lines is None:
        yield hit
        return
    of_file = [each for each in shown if each.file_path == hit.file_path and _lines(each)]
    known = {at for each in of_file for at in range(each.start_line, each.end_line + 1)}
    numbers = [at for at in range(hit.start_line, hit.end_line + 1) if at not in known]
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        piece = [number for _, number in run]
        first, last = piece[0], piece[-1]
        content = "\n".join(lines[first - hit.start_line : last - hit.start_line + 1])
        if content.strip():
            yield replace(hit, content=content, start_line=first, end_line=last)
