"""``expand_chunk`` and ``related_context``: more of, and more around, a chunk that was served."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vera_ccc_tools.arguments import Reader
from vera_ccc_tools.calls import Answer, Call
from vera_ccc_tools.context import detail, given, neighbourhood, relatedness, results
from vera_ccc_tools.context.chunks import Chunk
from vera_ccc_tools.context.neighbourhood import Neighbourhood
from vera_ccc_tools.context.reading import Reading
from vera_ccc_tools.context.results import Entry, Page
from vera_ccc_tools.context.served import current
from vera_ccc_tools.context.state import State
from vera_ccc_tools.errors import shorten

SCOPES = ("body", "file", "neighbors")
TOP_K = 8
MOST = 50
MOST_FILES = 50
"""Neighbouring files that are parsed, in each direction."""
_LATER = "Ask again in a few seconds, or use context_search."
_WHENCE = "Take it from a context_search result."


@dataclass(frozen=True, slots=True)
class _Asked:
    """A chunk that is there, and how to read the files around it."""

    chunk: Chunk
    reading: Reading
    state: State
    call: Call

    @property
    def path(self) -> str:
        return self.reading.shown(self.chunk.path)

    def answer(self, text: str, chunks: Iterable[Entry]) -> Answer:
        self.state.saw(Page(tuple(chunks)), self.reading)
        return Answer(text)

    def entries(self, chunks: Iterable[Chunk], level: detail.Level) -> list[Entry]:
        return [
            Entry(each, self.reading.shown(each.path), detail.render(each, level))
            for each in chunks
        ]


def expand_chunk(state: State, call: Call, arguments: Reader) -> Answer:
    """All of a chunk, of its file, or of the files around that."""
    chunk_id, scope = _id(arguments), arguments.choice("scope", SCOPES)
    asked = _asked(state, call, chunk_id)
    if asked is None:
        return _stale(chunk_id)
    if scope == "body":
        return asked.answer(asked.chunk.content, asked.entries([asked.chunk], "full"))
    if scope == "file":
        return _file(asked)
    return _neighbours(asked)


def related_context(state: State, call: Call, arguments: Reader) -> Answer:
    """The chunks that a chunk is connected to through the import graph, short."""
    chunk_id, top_k = _id(arguments), given.count(arguments, "top_k", TOP_K, MOST)
    asked = _asked(state, call, chunk_id)
    if asked is None:
        return _stale(chunk_id)
    with neighbourhood.beside(state.graph(asked.reading.root)) as around:
        missing = around.missing(call.cancel)
        if missing:
            return Answer(f"{missing} {_LATER}")
        return _related(asked, around, top_k)


def _id(arguments: Reader) -> str:
    return given.required(arguments, "chunk_id", 100, _WHENCE).lstrip("#")


def _asked(state: State, call: Call, chunk_id: str) -> _Asked | None:
    root = state.session.indexed_root(call.cwd)
    reading = Reading(root, state.directory)
    place = state.served(root).find(chunk_id)
    chunk = None if place is None else current(place, reading)
    return None if chunk is None else _Asked(chunk, reading, state, call)


def _stale(chunk_id: str) -> Answer:
    return Answer(
        f"No chunk with id {shorten(chunk_id)} in the current project: it may be stale, or was "
        "never served; re-run context_search and take the id from its result."
    )


# --- expand --------------------------------------------------------------------------------------


def _file(asked: _Asked) -> Answer:
    entries = asked.entries(asked.reading.units(asked.chunk.path), "full")
    title = f"file {asked.path} — {len(entries)} chunk(s):"
    return _grouped(asked, title, entries)


def _neighbours(asked: _Asked) -> Answer:
    with neighbourhood.beside(asked.state.graph(asked.reading.root)) as around:
        missing = around.missing(asked.call.cancel)
        if missing:
            return Answer(f"{missing} {_LATER}")
        files = around.neighbours(asked.chunk.path)
    entries = asked.entries(
        (chunk for file in files[:MOST_FILES] for chunk in asked.reading.units(file)), "full"
    )
    if not entries:
        return _alone(asked)
    title = f"neighbours of {asked.path} — {len(entries)} chunk(s):"
    return _grouped(asked, title, entries)


def _alone(asked: _Asked) -> Answer:
    return Answer(
        f"No import-graph neighbours for {asked.path}: it imports no file of this project, and "
        "none imports it."
    )


# --- related -------------------------------------------------------------------------------------


def _related(asked: _Asked, around: Neighbourhood, top_k: int) -> Answer:
    target = asked.chunk
    imported = _units(asked, around.imports(target.path))
    consumers = _units(asked, around.importers(target.path))
    of_imports = relatedness.choose(imported, relatedness.used_by(target), top_k)
    of_consumers = relatedness.choose(consumers, relatedness.users_of(target), top_k)
    of_imports, of_consumers = _shared(of_imports, of_consumers, top_k)
    entries = [
        *_headed("it imports:", asked.entries(of_imports, "compact")),
        *_headed("it is imported by:", asked.entries(of_consumers, "compact")),
    ]
    if not entries:
        return _alone(asked)
    title = f"related to {asked.path} via import graph — {len(entries)} chunk(s):"
    return _grouped(asked, title, entries)


def _headed(heading: str, entries: list[Entry]) -> list[Entry]:
    return [replace(each, heading="" if n else heading) for n, each in enumerate(entries)]


def _units(asked: _Asked, files: Sequence[str]) -> list[tuple[Chunk, ...]]:
    return [asked.reading.units(file) for file in files[:MOST_FILES]]


def _shared(
    one: tuple[Chunk, ...], other: tuple[Chunk, ...], top_k: int
) -> tuple[tuple[Chunk, ...], tuple[Chunk, ...]]:
    """*top_k* places for two lists: half for each, and what one does not need for the other."""
    half = (top_k + 1) // 2
    of_one = max(half, top_k - len(other))
    return one[:of_one], other[: top_k - min(of_one, len(one))]


def _grouped(asked: _Asked, title: str, entries: Sequence[Entry]) -> Answer:
    shown = results.page(entries)
    return asked.answer(results.group(title, shown), shown.entries)
