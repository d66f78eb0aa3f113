"""Results out of ranked chunks: neighbours joined, no file in the others' way, pages that tile.

ccc cuts a file into chunks of about a thousand characters that overlap a little, so that good hits
are often neighbours. Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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


def merge(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Join all chunks of a file that overlap or touch; the best score and the best place stay."""
    layer = _Layer(hits, _Limits())
    return (*layer.hits, *layer.left)


def arrange(ranked: Sequence[Hit], *, per_file: int | None = PER_FILE) -> Results:
    """Results out of chunks, best first; at most *per_file* of a file come before the rest.

    Of two neighbours that are both good one result is made. What would crowd, or touch an earlier
    result without being good enough to join it, follows behind the rest with the lines that were
    not yet shown.
    """
    layer = _Layer(ranked, _Limits(per_file, JOINED_RANKS, JOINED_LINES))
    first, hits = len(layer.hits), list(layer.hits)
    while layer.left:
        shown = _numbers(hits)
        pieces = [piece for hit in layer.left for piece in _unshown(hit, shown)]
        layer = _Layer(pieces, _Limits(None, JOINED_RANKS, JOINED_LINES))
        hits += layer.hits
    return Results(tuple(hits), first)


def beyond(offset: int, limit: int, *, results: int, candidates: int) -> tuple[int, int] | None:
    """What a page still needs of ccc's own order, as its offset and limit; None for nothing.

    The order as a whole is the *results* that were made of ccc's first *candidates*, and then its
    other chunks as they come.
    """
    wanted = min(limit, offset + limit - results)
    return (candidates + max(0, offset - results), wanted) if wanted > 0 else None


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


# --- one layer -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Limits:
    """When a chunk joins its neighbours; None is no limit."""

    per_file: int | None = None
    ranks: int | None = None
    lines: int | None = None

    def let_join(self, joint: Hit, rank: int) -> bool:
        lines = joint.end_line - joint.start_line + 1
        return _within(rank + 1, self.ranks) and _within(lines, self.lines)

    def let_in(self, of_file: int) -> bool:
        return _within(of_file + 1, self.per_file)


def _within(value: int, limit: int | None) -> bool:
    return limit is None or value <= limit


class _Layer:
    """Results that do not touch each other, and the chunks that found no place among them."""

    def __init__(self, ranked: Iterable[Hit], limits: _Limits) -> None:
        self._limits = limits
        self._results: dict[int, Hit] = {}  # by the rank of the best chunk, which is the order
        self._of_file: dict[str, list[int]] = {}  # the ranks of its results, best first
        self.left = [hit for rank, hit in enumerate(ranked) if not self._take(rank, hit)]

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(self._results.values())

    def _take(self, rank: int, hit: Hit) -> bool:
        ranks = self._of_file.setdefault(hit.file_path, [])
        near = [each for each in ranks if _touch(self._results[each], hit)]
        if near:
            return self._join(near, rank, hit)
        if not self._limits.let_in(len(ranks)):
            return False
        ranks.append(rank)
        self._results[rank] = hit
        return True

    def _join(self, near: Sequence[int], rank: int, hit: Hit) -> bool:
        """Make one result of *hit* and those that it touches, at the place of the best."""
        joint = _joint([*(self._results[each] for each in near), hit])
        if joint is None:
            return False
        grows = joint.content != self._results[near[0]].content
        if grows and not self._limits.let_join(joint, rank):
            return False
        for each in near[1:]:
            self._of_file[hit.file_path].remove(each)
            del self._results[each]
        self._results[near[0]] = joint
        return True


# --- lines ---------------------------------------------------------------------------------------


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


def _numbers(shown: Iterable[Hit]) -> dict[str, set[int]]:
    """The numbers of the lines that are shown of each file."""
    numbers: dict[str, set[int]] = {}
    for hit in shown:
        if _lines(hit) is not None:
            of_file = numbers.setdefault(hit.file_path, set())
            of_file.update(range(hit.start_line, hit.end_line + 1))
    return numbers


def _unshown(hit: Hit, shown: Mapping[str, Container[int]]) -> Iterator[Hit]:
    """The pieces of *hit* whose lines are not *shown* yet; without those that are blank."""
    lines = _lines(hit)
    if lines is None:
        yield hit
        return
    known = shown.get(hit.file_path, ())
    numbers = [at for at in range(hit.start_line, hit.end_line + 1) if at not in known]
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        piece = [number for _, number in run]
        first, last = piece[0], piece[-1]
        content = "\n".join(lines[first - hit.start_line : last - hit.start_line + 1])
        if content.strip():
            yield replace(hit, content=content, start_line=first, end_line=last)
