"""The texts of the tools that serve chunks; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vera_ccc_tools.chunks import detail
from vera_ccc_tools.chunks.chunk import BYTES_A_TOKEN, Chunk
from vera_ccc_tools.system.text import MAX_BYTES, clean_line, head

ROOM = MAX_BYTES - 4096
"""Bytes of entries in one answer at most; the rest is for what surrounds them."""
_AROUND = 32
"""Bytes at most of a rank, a score and line ends."""
_TOO_LONG = "… (context truncated for length; ask for less, or read the file)"
_LONGEST = 2048
"""Bytes of a body in a list, so that one alone does not fill it."""
_MORE = "… (expand_chunk gives all of it)"
_SHOWN = {"signature": "as signatures", "compact": "compact"}
_EXPAND = (
    "Bodies shown {}. expand_chunk(chunk_id, scope=body|file|neighbors) for more; "
    "related_context(chunk_id) for import-graph neighbours."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One chunk as it is shown.

    Attributes:
        path: Of its file, from the served directory.
        body: Its content at some detail.
        score: ccc's, where it was searched for; not finite where only its words led to it.
        heading: What is said before it, where a part of an answer begins.
    """

    chunk: Chunk
    path: str
    body: str
    score: float = 0.0
    heading: str = ""

    @property
    def place(self) -> str:
        """Where it is, what it is, and its id, in one line."""
        chunk = self.chunk
        lines = f"{chunk.start_line}-{chunk.end_line}"
        return f"{self.path}:{lines} ({chunk.type}/{chunk.kind}) #{chunk.id}"


@dataclass(frozen=True, slots=True)
class Shown:
    """Entries that fit.

    Attributes:
        entries: The first ones, the body of the last perhaps cut.
        note: What to say of what was cut; empty where nothing was.
    """

    entries: tuple[Entry, ...]
    note: str = ""


def fitting(entries: Sequence[Entry], max_tokens: int | None = None) -> Shown:
    """As much of *entries* as fits into *max_tokens* of bodies, and into an answer at all."""
    left = ROOM if max_tokens is None else max_tokens
    room = ROOM
    kept: list[Entry] = []
    for entry in entries:
        room -= _size(entry.place) + _size(entry.heading) + _AROUND
        fits = max(0, room // BYTES_A_TOKEN)
        body, is_cut = detail.cut(entry.body, min(left, fits))
        if body or not is_cut:
            kept.append(replace(entry, body=body))
        if is_cut:
            return Shown(tuple(kept), detail.TRUNCATED if left <= fits else _TOO_LONG)
        left -= _size(body) // BYTES_A_TOKEN
        room -= _size(body)
    return Shown(tuple(kept))


def within(entries: Iterable[Entry], room: int) -> list[Entry]:
    """The first of *entries* that fit into *room* bytes, long bodies cut; no more are looked at."""
    kept: list[Entry] = []
    for entry in map(_listed, entries):
        room -= _size(entry.place) + _size(entry.body) + _AROUND
        if room < 0:
            break
        kept.append(entry)
    return kept


def _listed(entry: Entry) -> Entry:
    if _size(entry.body) <= _LONGEST:
        return entry
    return replace(entry, body=f"{head(entry.body, max_bytes=_LONGEST)}\n{_MORE}")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def found(shown: Shown, query_id: str, level: detail.Level, notes: Sequence[str] = ()) -> str:
    """The answer of a search that found something, its bodies shown at *level*."""
    blocks = [
        f"{rank:>2}. [{_score(each)}] {each.place}\n{each.body}"
        for rank, each in enumerate(shown.entries, 1)
    ]
    trailer = [
        *([] if level == "full" else [_EXPAND.format(_SHOWN[level])]),
        *_remarks(notes),
        f"query_id: {query_id}",
        f'Rate this with record_feedback (query_id="{query_id}", helpful=true|false).',
    ]
    return "\n\n".join([*blocks, *([shown.note] if shown.note else []), "\n".join(trailer)])


def _score(entry: Entry) -> str:
    return f"{entry.score:.6f}" if math.isfinite(entry.score) else "by words"


def nothing(chunks: int | None, query_id: str, notes: Sequence[str] = ()) -> str:
    """The answer of a search that found nothing in an index of so many *chunks*, None for none."""
    index = "" if chunks is None else f" The index has {chunks} chunk(s)"
    said = f"No matching code found.{index} — try broader or different terms."
    return "\n".join([said, "", *_remarks(notes), f"query_id: {query_id}"])


def group(title: str, shown: Shown) -> str:
    """Chunks under a *title*, each behind a line with its place and id."""
    blocks = [title]
    for each in shown.entries:
        blocks += [each.heading] if each.heading else []
        blocks.append(f"{each.place}\n{each.body}")
    return "\n\n".join([*blocks, *([shown.note] if shown.note else [])])


def _remarks(notes: Sequence[str]) -> list[str]:
    return [f"Note: {clean_line(note)}" for note in dict.fromkeys(notes)]
