"""From ccc's hits in our order to the units of an answer.

Only as many files are read and parsed as that takes: it is what a search spends beside ccc.

An answer is widened by the import graph. Every result is one of ccc's own hundred candidates. Of
the last places some are given to candidates in files that the best results import, or that import
them, and only in place of a result that ccc itself scored no higher: a better direct hit is never
pushed out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.chunks import units
from vera_ccc_tools.chunks.units import Read, Served
from vera_ccc_tools.ranking import results

SEEDS = 3
"""Files, of the best results, whose neighbours are looked at."""
SHARE = 4
"""One of so many places may be given to a neighbour."""

Neighbours = Callable[[str], Collection[str]]


def select(
    hits: Sequence[Hit], top_k: int, read: Read, neighbours: Neighbours | None = None
) -> tuple[Served, ...]:
    """The best *top_k* units of *hits*, widened where the *neighbours* of a file are known."""
    direct = _direct(hits, top_k, read)
    if neighbours is None or not places(top_k):
        return direct
    around = near(direct, neighbours)
    return widen(direct, _of_neighbours(hits, around, top_k, read), top_k)


def _direct(hits: Sequence[Hit], top_k: int, read: Read) -> tuple[Served, ...]:
    """The units in their order, with at most three of a file before those of others."""
    looked = top_k
    while True:
        front, back = _spread(units.serve(hits[:looked], read))
        if looked >= len(hits) or len(front) >= top_k:
            break
        looked *= 2
    chosen = (*front, *back)[:top_k]
    files = {each.chunk.path for each in chosen}
    rest = [hit for hit in hits[looked:] if hit.file_path in files]
    best = {each.chunk: each.score for each in units.serve([*hits[:looked], *rest], read)}
    return tuple(Served(each.chunk, best[each.chunk]) for each in chosen)


def _spread(served: Sequence[Served]) -> tuple[list[Served], list[Served]]:
    """Let further units of a file wait behind the first three of each, as ``ccc_search`` does."""
    front: list[Served] = []
    back: list[Served] = []
    before: Counter[str] = Counter()
    for each in served:
        (front if before[each.chunk.path] < results.PER_FILE else back).append(each)
        before[each.chunk.path] += 1
    return front, back


def _of_neighbours(
    hits: Sequence[Hit], near: frozenset[str], top_k: int, read: Read
) -> tuple[Served, ...]:
    """The best unit of each of the best files among *near*."""
    inside = [hit for hit in hits if hit.file_path in near]
    files = list(dict.fromkeys(hit.file_path for hit in inside))[: places(top_k)]
    best: dict[str, Served] = {}
    for each in units.serve([hit for hit in inside if hit.file_path in files], read):
        best.setdefault(each.chunk.path, each)
    return tuple(best[file] for file in files)


def places(top_k: int) -> int:
    """How many results may come from neighbours."""
    return top_k // SHARE


def near(direct: Sequence[Served], neighbours: Callable[[str], Collection[str]]) -> frozenset[str]:
    """The files next to those of the best results, without those that are shown anyway."""
    files = list(dict.fromkeys(each.chunk.path for each in direct))
    around = frozenset(path for file in files[:SEEDS] for path in neighbours(file))
    return around - frozenset(files)


def widen(direct: Sequence[Served], further: Sequence[Served], top_k: int) -> tuple[Served, ...]:
    """*direct* with the first of *further*, those of neighbouring files, in its last places."""
    kept, taken = list(direct[:top_k]), list[Served]()
    for each in further[: places(top_k)]:
        if len(kept) + len(taken) == top_k:
            # Of one that only its words led to nobody knows that it is worse.
            if not math.isfinite(kept[-1].score) or kept[-1].score > each.score:
                break
            kept.pop()
        taken.append(each)
    return (*kept, *taken)
