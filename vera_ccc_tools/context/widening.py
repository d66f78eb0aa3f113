"""A search widened by the import graph; pure.

Every result is one of ccc's own hundred candidates. Of the last places some are given to candidates
in files that the best results import, or that import them, and only in place of a result that ccc
itself scored no higher: a better direct hit is never pushed out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from vera_ccc_tools.context.units import Served

SEEDS = 3
"""Files, of the best results, whose neighbours are looked at."""
SHARE = 4
"""One of so many places may be given to a neighbour."""


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
            if kept[-1].score > each.score:
                break
            kept.pop()
        taken.append(each)
    return (*kept, *taken)
