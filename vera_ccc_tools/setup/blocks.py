"""Put a block of lines at the end of a text, find it again, and take it out without a trace.

The line end after the block says how the text ended before: a text without a final line end gets
a block without one, so taking the block out brings the exact text back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vera_ccc_tools.errors import Failure

_LINE_END = re.compile(r"\r\n|\n|\r")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, from *start* to before *end*."""

    start: int
    end: int


def decode(data: bytes, name: str) -> str:
    """The text of a file; a byte order mark stays its first character.

    Raises:
        Failure: ``not_utf8``.
    """
    try:
        if b"\0" in data:  # UTF-16 of ASCII is UTF-8 as well
            raise UnicodeDecodeError("utf-8", data, data.index(b"\0"), len(data), "NUL")  # noqa: TRY301
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Failure(
            "not_utf8",
            f"{name}, line {line}: the file is not UTF-8, so it was left as it is.",
            "Save it as UTF-8, then run init again.",
        ) from error


def line_end(text: str) -> str:
    """The line end that *text* uses: its first one."""
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def line_number(text: str, at: int) -> int:
    """The line, from 1, that the position *at* is on."""
    return sum(1 for _ in _LINE_END.finditer(text, 0, at)) + 1


def lines(text: str) -> list[Span]:
    """The lines of *text* without their line ends."""
    start = 1 if text.startswith(_BOM) else 0
    spans = []
    for found in _LINE_END.finditer(text):
        spans.append(Span(start, found.start()))
        start = found.end()
    return [*spans, Span(start, len(text))]


def append(text: str | None, body: str, *, gap: bool) -> str:
    r"""*text*, or None for no file, with *body* after it; after an empty line where *gap*.

    *body* is written with ``\n`` between its lines and none at its end.
    """
    if text is None:
        return f"{body}\n"
    end = line_end(text)
    body = body.replace("\n", end)
    if text in {"", _BOM}:
        return text + body
    blank = end if gap else ""
    if text.endswith(end):
        return text + blank + body + end
    return text + end + blank + body


def cut(text: str, span: Span, *, gap: bool) -> str | None:
    """Undo `append` of the block at *span*; None where `append` had made the file."""
    end = line_end(text)
    before, after = text[: span.start], text[span.end :]
    if not before and after in {"\n", end}:
        return None
    if gap and before.endswith(end * 2):
        before = before.removesuffix(end)
    if not after:
        return before.removesuffix(end)
    return before + after.removeprefix(end)


def replace(text: str, span: Span, body: str) -> str:
    """*text* with *body* in place of the block at *span*."""
    return text[: span.start] + body.replace("\n", line_end(text)) + text[span.end :]


def find_marked(text: str, begin: str, end: str, name: str) -> Span | None:
    """The block from the line *begin* to the line *end*, or None where neither is.

    Raises:
        Failure: ``markers_broken`` when they are not exactly one *begin* before one *end*, each
            alone on its line.
    """
    begins, ends = _marks(text, begin, name), _marks(text, end, name)
    if not begins and not ends:
        return None
    if len(begins) == len(ends) == 1 and begins[0].start < ends[0].start:
        return Span(begins[0].start, ends[0].end)
    at = ", ".join(map(str, sorted(line_number(text, mark.start) for mark in begins + ends)))
    raise Failure(
        "markers_broken",
        f"{name}: there has to be one line {begin} before one line {end}; such lines are: {at}.",
        "Take the odd one out by hand, then run init again.",
    )


def _marks(text: str, mark: str, name: str) -> list[Span]:
    found = []
    for span in lines(text):
        line = text[span.start : span.end]
        if mark not in line:
            continue
        if line.strip() != mark:
            raise Failure(
                "markers_broken",
                f"{name}, line {line_number(text, span.start)}: {mark} is not alone on its line.",
                "Put it on a line of its own, or take it out, then run init again.",
            )
        found.append(span)
    return found


def find_lines(text: str, body: str) -> Span | None:
    """The last place where the lines of *body* stand in *text*, or None."""
    wanted = body.split("\n")
    there = lines(text)
    for at in range(len(there) - len(wanted), -1, -1):
        found = there[at : at + len(wanted)]
        if [text[span.start : span.end] for span in found] == wanted:
            return Span(found[0].start, found[-1].end)
    return None
