"""Text cut into windows of the size of ccc's chunks, at blank lines where there are some; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SIZE = 1000
"""Characters of a window at most, where lines allow: as ccc's chunks."""
LEAST = 250
"""Characters that a window has before it ends at a blank line."""
MOST = 1500
"""Characters of a paragraph that is left whole."""
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a file.

    Attributes:
        content: The lines; what of one goes beyond `SIZE` is cut off.
        first, last: Their numbers, counted from 1.
    """

    content: str
    first: int
    last: int


def cut(text: str) -> Iterator[Window]:
    """The windows of *text*, whose lines end in line feeds, in order."""
    start, first, line = 0, 1, 1
    at = 0
    for end, following in _paragraphs(text):
        if at - start >= LEAST and end - start > SIZE:
            yield from _fitted(text[start:at].rstrip("\n"), first)
            start, first = at, line
        line += text.count("\n", at, following)
        at = following
    yield from _fitted(text[start:].rstrip("\n"), first)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Where each paragraph ends, and the next one begins."""
    for blank in _BLANK.finditer(text):
        yield blank.span()
    yield len(text), len(text)


def _fitted(content: str, first: int) -> Iterator[Window]:
    """*content* itself, or the pieces of one that is far too large, cut at line ends."""
    if not content.strip():
        return
    lines = content.split("\n")
    for piece in [lines] if len(content) <= MOST else _pieces(lines):
        yield Window("\n".join(piece), first, first + len(piece) - 1)
        first += len(piece)


def _pieces(lines: list[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) > SIZE:
            yield piece
            piece, size = [], 0
        piece.append(line[:SIZE])
        size += len(line) + 1
    yield piece
