"""A terminal's screen as a picture: SVG, cell by cell, in the colours that the program chose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

CELL, LINE, SIZE, MARGIN = 8.4, 19, 14, 14
"""Pixels: of a cell, of a line, of the letters, and around the screen."""
BACKGROUND, FOREGROUND = "#1b1d23", "#d4d7dd"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
NAMED = {
    "black": "#1b1d23",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#d4d7dd",
    "brightblack": "#7f848e",
}


class Look(NamedTuple):
    """How a cell looks."""

    ink: str
    paper: str
    is_bold: bool
    is_italic: bool


Row = Sequence[tuple[str, Look]]
"""The cells of a line: a character each, empty behind one that takes two."""


def row_of(screen: Any, number: int) -> Row:
    """Line *number* of a pyte screen."""
    line = screen.buffer[number]
    return [(line[column].data, _look(line[column])) for column in range(screen.columns)]


def _look(cell: Any) -> Look:
    ink, paper = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        ink, paper = paper, ink
    return Look(ink, paper, cell.bold, cell.italics)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return NAMED.get(name) or f"#{name}"


def draw(rows: Sequence[Row], title: str) -> str:
    """The picture of some *rows*; *title* tells what it shows to who does not see it."""
    width = round(len(rows[0]) * CELL + 2 * MARGIN)
    height = len(rows) * LINE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"',
        f'height="{height}" role="img" font-family="{FONT}" font-size="{SIZE}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
    ]
    for number, row in enumerate(rows):
        lines += _runs(row, MARGIN + number * LINE)
    return "\n".join([*lines, "</svg>", ""])


def _runs(row: Row, top: int) -> Iterator[str]:
    """A line, its papers first: a letter may reach over its cell."""
    runs, column = [], 0
    for look, cells in groupby(row, key=lambda cell: cell[1]):
        letters = [letter for letter, _ in cells]
        runs.append((column, look, letters))
        column += len(letters)
    for column, look, letters in runs:
        if look.paper != BACKGROUND:
            place = f'x="{_x(column)}" y="{top}" width="{len(letters) * CELL:.1f}" height="{LINE}"'
            yield f'<rect {place} fill="{look.paper}"/>'
    for column, look, letters in runs:
        blank = next((at for at, letter in enumerate(letters) if letter != " "), len(letters))
        end = len("".join(letter or "x" for letter in letters).rstrip())
        if blank < end:
            yield _text(column + blank, look, letters[blank:end], top)


def _text(column: int, look: Look, letters: Sequence[str], top: int) -> str:
    style = ' font-weight="bold"' if look.is_bold else ""
    style += ' font-style="italic"' if look.is_italic else ""
    length = f"{len(letters) * CELL:.1f}"  # whatever the font, the columns stay
    return (
        f'<text x="{_x(column)}" y="{top + LINE - 5}" fill="{look.ink}"{style} '
        f'textLength="{length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">'
        f"{escape(''.join(letters))}</text>"
    )


def _x(column: int) -> str:
    return f"{MARGIN + column * CELL:.1f}"
