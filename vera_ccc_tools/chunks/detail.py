"""How much of a chunk is shown: its signature, a compact form, or all of it; pure."""

from __future__ import annotations

from typing import Literal

from vera_ccc_tools.chunks.chunk import BYTES_A_TOKEN, Chunk

Level = Literal["signature", "compact", "full"]
LEVELS: tuple[Level, ...] = ("signature", "compact", "full")
TRUNCATED = "… (context truncated to max_tokens)"


def render(chunk: Chunk, level: Level) -> str:
    """The text of *chunk* at *level*; never more of it than the whole.

    ``signature`` goes up to the body. ``compact`` adds of a function the first line of its
    documentation and its first statement, of a container its members; lines that are no unit are
    a container without a header. Of text without a parser either is the first line. What is left
    out is counted in lines.
    """
    if level == "full":
        return chunk.content
    short = _short(chunk, level)
    return short if len(short.encode()) < len(chunk.content.encode()) else chunk.content


def _short(chunk: Chunk, level: Level) -> str:
    outline, lines = chunk.outline, chunk.end_line - chunk.start_line + 1
    if outline is None or (level == "signature" and not chunk.is_unit):
        whole = chunk.content.rstrip("\n").split("\n")
        first = next((line.strip() for line in whole if line.strip()), "")
        return "\n".join([first, *_marker(len(whole) - 1)])
    if level == "signature":
        return "\n".join(outline.signature)
    shown = [*outline.signature, *filter(None, [outline.doc, outline.first])]
    if outline.members is None:
        shown += _marker(lines - outline.shown)
    for member in outline.members or ():
        shown += [*member.head, *_marker(member.lines - len(member.head))]
    return "\n".join([*shown, *filter(None, [outline.last])])


def _marker(lines: int) -> tuple[str, ...]:
    """What says that so many lines are not shown; the plural is the contract's."""
    return (f"… (+{lines} lines)",) if lines > 0 else ()


def cut(text: str, max_tokens: int) -> tuple[str, bool]:
    """As much of *text* as *max_tokens* are, to whole characters; and whether that is less.

    Whoever cuts says so once, with `TRUNCATED`.
    """
    encoded = text.encode("utf-8", "replace")
    if max_tokens > 0 and len(encoded) // BYTES_A_TOKEN <= max_tokens:
        return text, False
    return encoded[: max(0, max_tokens) * BYTES_A_TOKEN].decode("utf-8", "ignore"), True
