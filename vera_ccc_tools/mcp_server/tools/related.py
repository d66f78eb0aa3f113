"""Which chunks of neighbouring files have to do with a chunk; pure.

Two chunks are related when one says the name of the other: what is imported is named in the chunk,
and what imports names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, zip_longest

from vera_ccc_tools.chunks.chunk import Chunk
from vera_ccc_tools.ranking.words import runs

Related = Callable[[Chunk], bool]


def used_by(target: Chunk) -> Related:
    """Whether *target* names a chunk."""
    words = frozenset(runs(target.content))
    return lambda chunk: bool(names(chunk) & words)


def users_of(target: Chunk) -> Related:
    """Whether a chunk names *target*."""
    wanted = names(target)
    return lambda chunk: not wanted.isdisjoint(runs(chunk.content))


def either(one: Related, other: Related) -> Related:
    """Whether a chunk is related in one way or in the other."""
    return lambda chunk: one(chunk) or other(chunk)


def names(chunk: Chunk) -> frozenset[str]:
    """What other files call a chunk by: its own name, or a container's."""
    name = "" if chunk.outline is None else chunk.outline.name
    return frozenset(runs(name))


def choose(files: Sequence[Sequence[Chunk]], related: Related, most: int) -> tuple[Chunk, ...]:
    """At most *most* chunks of *files*: of each file the first related one, then the next of each.

    Files with none come last; of one file the chunks that are not related come last.
    """
    ordered = [sorted(chunks, key=lambda chunk: not related(chunk)) for chunks in files if chunks]
    ordered.sort(key=lambda chunks: not related(chunks[0]))
    rounds = [chunk for each in zip_longest(*ordered) for chunk in each if chunk is not None]
    rounds.sort(key=lambda chunk: not related(chunk))
    return tuple(rounds[:most])


def share(groups: Sequence[Sequence[Chunk]], most: int) -> list[Sequence[Chunk]]:
    """The beginnings of *groups*, *most* chunks in all: places go round, none to who needs none."""
    turns = (
        at
        for each in zip_longest(*([at] * len(group) for at, group in enumerate(groups)))
        for at in each
        if at is not None
    )
    places = Counter(islice(turns, most))
    return [group[: places[at]] for at, group in enumerate(groups)]
