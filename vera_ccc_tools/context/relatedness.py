"""Which chunks of neighbouring files have to do with a chunk; pure.

Two chunks are related when one says the name of the other: what is imported is named in the chunk,
and what imports names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from vera_ccc_tools import identifiers
from vera_ccc_tools.context.chunks import Chunk

Related = Callable[[Chunk], bool]


def used_by(target: Chunk) -> Related:
    """Whether *target* names a chunk."""
    words = frozenset(identifiers.runs(target.content))
    return lambda chunk: bool(names(chunk) & words)


def users_of(target: Chunk) -> Related:
    """Whether a chunk names *target*."""
    wanted = names(target)
    return lambda chunk: not wanted.isdisjoint(identifiers.runs(chunk.content))


def names(chunk: Chunk) -> frozenset[str]:
    """What other files call a chunk by: its own name, or a container's."""
    name = "" if chunk.outline is None else chunk.outline.name
    return frozenset(identifiers.runs(name))


def choose(files: Sequence[Sequence[Chunk]], related: Related, most: int) -> tuple[Chunk, ...]:
    """At most *most* chunks of *files*: of each file the first related one, then the next of each.

    Files with none come last; of one file the chunks that are not related come last.
    """
    ordered = [sorted(chunks, key=lambda chunk: not related(chunk)) for chunks in files if chunks]
    ordered.sort(key=lambda chunks: not related(chunks[0]))
    rounds = [chunk for each in zip_longest(*ordered) for chunk in each if chunk is not None]
    rounds.sort(key=lambda chunk: not related(chunk))
    return tuple(rounds[:most])
