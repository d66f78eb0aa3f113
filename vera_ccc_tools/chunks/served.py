"""Which chunks were served, so that one can be asked for again: in a new process, in a new text.

What is kept is only a cache, in a file beside ccc's index. It never fails a call: what cannot be
written is kept in memory.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import get_args

from vera_ccc_tools.chunks import syntax, units
from vera_ccc_tools.chunks.chunk import Chunk, Type
from vera_ccc_tools.chunks.units import Read
from vera_ccc_tools.system.cache_db import CacheDatabase, Unusable

FILE = ".vera-served-chunks.sqlite"
VERSION = 2
KEPT = 5000
"""Chunks that are remembered, the latest ones."""
_TABLES = "CREATE TABLE served (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT);\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk was when it was served, and how to know it again.

    Attributes:
        path: Relative to the project's root, with forward slashes.
        start_line, end_line: Counted from 1, both included.
        type, kind: As in `Chunk`.
        name, signature: A unit's own; empty for other text.
        language: What a unit was parsed as, by ccc's name; empty for other text.
        digest: Of the content.
        content: Of a chunk that is no unit, as nothing else distinguishes it from other text.
    """

    path: str
    start_line: int
    end_line: int
    type: Type
    kind: str
    name: str
    signature: str
    language: str
    digest: str
    content: str


def place(chunk: Chunk) -> Place:
    """What to remember of *chunk*."""
    outline = chunk.outline
    return Place(
        chunk.path,
        chunk.start_line,
        chunk.end_line,
        chunk.type,
        chunk.kind,
        outline.name if outline else "",
        "\n".join(outline.signature) if outline else "",
        outline.language if outline else "",
        _digest(chunk.content),
        "" if chunk.is_unit else chunk.content,
    )


def current(was: Place, read: Read) -> Chunk | None:
    """The chunk as its file has it now, moved or edited as it may be; None when it is gone.

    A unit is known by its kind and its name; of several, by its content or its signature.
    """
    source = read(was.path)
    if source is None:
        return None
    if was.content:
        return _found(was, syntax.decode(source))
    named = [
        chunk
        for chunk in units.every_unit(was.path, was.language, source)
        if (chunk.type, chunk.kind) == (was.type, was.kind)
        and chunk.outline is not None
        and chunk.outline.name == was.name
    ]
    same = [chunk for chunk in named if _digest(chunk.content) == was.digest]
    if same:
        return min(same, key=lambda chunk: abs(chunk.start_line - was.start_line))
    alike = [chunk for chunk in named if place(chunk).signature == was.signature]
    return _only(alike) or _only(named)


def _only(chunks: Sequence[Chunk]) -> Chunk | None:
    return chunks[0] if len(chunks) == 1 else None


def _found(was: Place, text: str) -> Chunk | None:
    """The same text, where it stands now; of several places, the nearest to the old one."""
    starts: list[int] = []
    at = text.find(was.content)
    while at >= 0 and len(starts) < KEPT:
        starts.append(text.count("\n", 0, at) + 1)
        at = text.find(was.content, at + 1)
    if not starts:
        return None
    start = min(starts, key=lambda line: abs(line - was.start_line))
    end = start + was.content.count("\n")
    return Chunk(was.path, start, end, was.type, was.kind, was.content)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


class ServedChunks:
    """The chunks of one project that any process has served, the latest `KEPT` of them."""

    def __init__(self, index: Path) -> None:
        """Beside the *index* of the project."""
        self._database = CacheDatabase(index.with_name(FILE), _TABLES, VERSION)
        self._memory: dict[str, Place] = {}
        self._lock = threading.Lock()

    def remember(self, chunks: Iterable[Chunk]) -> None:
        places = {chunk.id: place(chunk) for chunk in chunks}
        with self._lock:
            for chunk_id, each in places.items():
                self._memory.pop(chunk_id, None)
                self._memory[chunk_id] = each
            while len(self._memory) > KEPT:
                del self._memory[next(iter(self._memory))]
        # JSON is ASCII, while the name of a file need not be UTF-8.
        rows = [(chunk_id, json.dumps(astuple(each))) for chunk_id, each in places.items()]
        with suppress(Unusable), self._database.writing() as database:
            database.executemany("INSERT OR REPLACE INTO served (id, place) VALUES (?, ?)", rows)
            database.execute(
                "DELETE FROM served WHERE n <= (SELECT max(n) FROM served) - ?", [KEPT]
            )

    def find(self, chunk_id: str) -> Place | None:
        with self._lock:
            known = self._memory.get(chunk_id)
        if known is not None:
            return known
        with suppress(Unusable), self._database.reading() as database:
            found = database.execute("SELECT place FROM served WHERE id = ?", [chunk_id])
            return _read(found.fetchone())
        return None

    def close(self) -> None:
        self._database.close()


def _read(row: tuple[object] | None) -> Place | None:
    """A row as a place; None where it holds what was never written: anyone may have made it."""
    try:
        found = Place(*json.loads(str(row and row[0])))
    except (ValueError, TypeError):
        return None
    wanted = (int if field.name.endswith("_line") else str for field in fields(Place))
    if not all(isinstance(each, of) for each, of in zip(astuple(found), wanted, strict=True)):
        return None
    return found if found.type in get_args(Type) else None
