"""From ccc's hits, which are windows of about a thousand characters, to whole units; pure.

What is served is the smallest function, class or section that holds most of a hit. Where there is
none, the window stays, of the type ``module``: outside of any unit, in a file without a
grammar, in one that changed since it was indexed, and where the unit or the file is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import grammars, outlines, syntax
from vera_ccc_tools.chunks.chunk import MODULE, Chunk, Type
from vera_ccc_tools.chunks.grammars import Grammar
from vera_ccc_tools.chunks.syntax import Syntax, Text, Unit
from vera_ccc_tools.ranking import results

Read = Callable[[str], bytes | None]

MAX_FILE = 256 * 1024
"""Bytes of a file that is parsed; a larger one is generated, nearly always, and slow to parse."""
MAX_UNIT = 16 * 1024
"""Bytes of a unit that is served: sixteen windows. In a larger one the hit itself says more."""
_MAX_READ = 1024 * 1024
"""Bytes of a file of which a window's lines are shown whole."""
_MAX_COMMENT = 200
"""Lines below a hit among which the unit is looked for that its last comment belongs to."""


@dataclass(frozen=True, slots=True)
class Served:
    """One result: a whole unit, or a window, with the best score of the hits in it."""

    chunk: Chunk
    score: float


def serve(hits: Sequence[Hit], read: Read) -> tuple[Served, ...]:
    """The units that hold most of each of the *hits*, in their order, each once.

    *read* gives the bytes of a file by its path in the project, None where it cannot be read.
    """
    files: dict[tuple[str, str], _File | None] = {}
    served: dict[Chunk, float] = {}
    for hit in hits:
        key = hit.file_path, hit.language
        if key not in files:
            files[key] = _opened(hit, read)
        file = files[key]
        chunk = _as_found(hit) if file is None else file.chunk(hit)
        served[chunk] = max(served.get(chunk, hit.score), hit.score)
    return tuple(Served(chunk, score) for chunk, score in served.items())


def units_of(path: str, language: str | None, source: bytes) -> tuple[Chunk, ...]:
    """All of a file as chunks in order, no line twice: its outermost units, and what is between.

    A unit that is too large is taken apart, and what is not in units is cut at line ends.
    """
    file = _File(path, language, source)
    chunks: list[Chunk] = []
    row = 0
    for unit in file.units():
        if unit.first < row or not file.is_servable(unit):
            continue
        chunks += [*file.pieces(row, unit.first - 1), file.unit_chunk(unit)]
        row = unit.last + 1
    return (*chunks, *file.pieces(row, file.text.count - 1))


def every_unit(path: str, language: str | None, source: bytes) -> Iterator[Chunk]:
    """All units of a file that may be served, those in other units too, as they begin."""
    file = _File(path, language, source)
    return (file.unit_chunk(unit) for unit in file.units() if file.is_servable(unit))


def _opened(hit: Hit, read: Read) -> _File | None:
    source = read(hit.file_path)
    if source is None or len(source) > _MAX_READ:
        return None
    return _File(hit.file_path, hit.language, source)


def _as_found(hit: Hit) -> Chunk:
    return Chunk(hit.file_path, hit.start_line, hit.end_line, MODULE, MODULE, hit.content)


class _File:
    """One file; it is parsed when its units are first asked for."""

    def __init__(self, path: str, language: str | None, source: bytes) -> None:
        self._path = path
        known = language in grammars.GRAMMARS
        self._language = language if known else grammars.language_of(path)
        self.text = Text(source)
        self._syntax: Syntax | None = None

    def units(self, start: int = 0, end: int | None = None) -> Iterator[Unit]:
        """The units that reach into these bytes; none where the file is not parsed."""
        if self._syntax is None and self._language and len(self.text.data) <= MAX_FILE:
            self._syntax = syntax.parse(self._language, self.text)
        return iter(()) if self._syntax is None else self._syntax.units(start, end)

    def chunk(self, hit: Hit) -> Chunk:
        """The unit that holds most of *hit*, or the window with its lines whole."""
        first, last = hit.start_line - 1, hit.end_line - 1
        if (
            not 0 <= first <= last < self.text.count
            or self.text.size(first, last) > MAX_UNIT  # in lines without end
            or not results.agrees(hit, self.text.lines(first, last).split("\n"))
        ):
            return _as_found(hit)
        unit = self._holder(first, last)
        return self._window(first, last) if unit is None else self.unit_chunk(unit)

    def _holder(self, first: int, last: int) -> Unit | None:
        """The smallest unit with more than half of the bytes between two rows."""
        start, end = self.text.start(first), self.text.start(last + 1)
        holders = [
            unit
            for unit in self.units(start, self.text.start(self._below(last)))
            if 2 * (min(unit.end, end) - max(unit.start, start)) > end - start
        ]
        smallest = min(holders, key=lambda unit: unit.last - unit.first, default=None)
        return smallest if smallest is not None and self.is_servable(smallest) else None

    def _below(self, row: int) -> int:
        """The row behind the first blank one: a comment at a hit's end belongs to what follows."""
        for below in range(row + 1, min(self.text.count, row + _MAX_COMMENT)):
            if not self.text.row(below).strip():
                return below
        return min(self.text.count, row + _MAX_COMMENT)

    def is_servable(self, unit: Unit) -> bool:
        return self.text.size(unit.first, unit.last) <= MAX_UNIT

    def unit_chunk(self, unit: Unit) -> Chunk:
        assert self._syntax is not None
        return Chunk(
            self._path,
            unit.first + 1,
            unit.last + 1,
            _type(unit, self._syntax.grammar),
            unit.node.type,
            self.text.lines(unit.first, unit.last),
            outlines.outline(unit, self._syntax),
        )

    def _window(self, first: int, last: int) -> Chunk:
        """The lines of these rows, by what the parser saw on them."""
        content = self.text.lines(first, last)
        seen = None if self._syntax is None else outlines.window(first, last, self._syntax)
        return Chunk(self._path, first + 1, last + 1, MODULE, MODULE, content, seen)

    def pieces(self, first: int, last: int) -> Iterator[Chunk]:
        """What stands between two rows, without the blank ones around it, in servable pieces."""
        while first <= last and not self.text.row(first).strip():
            first += 1
        while last >= first and not self.text.row(last).strip():
            last -= 1
        while first <= last:
            end = first
            while end < last and self.text.size(first, end + 1) <= MAX_UNIT:
                end += 1
            yield self._window(first, end)
            first = end + 1


def _type(unit: Unit, grammar: Grammar) -> Type:
    if unit.node.type in grammar.functions:
        return "function"
    return "class" if unit.node.type in grammar.classes else MODULE
