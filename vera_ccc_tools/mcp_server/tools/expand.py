"""``expand_chunk`` and ``related_context``: more of, and more around, a chunk that was served."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vera_ccc_tools.chunks import detail
from vera_ccc_tools.chunks.chunk import Chunk
from vera_ccc_tools.chunks.reading import Reading
from vera_ccc_tools.chunks.served import current
from vera_ccc_tools.errors import shorten
from vera_ccc_tools.import_graph.graph import Graph
from vera_ccc_tools.mcp_server import answers
from vera_ccc_tools.mcp_server.answers import Entry, Shown
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.mcp_server.tools.related import choose, either, share, used_by, users_of
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import Reader, count, required

SCOPES = ("body", "file", "neighbors")
TOP_K = 8
MOST = 50
MOST_FILES = 50
"""Neighbouring files that are parsed, of each kind."""
ROOM = 12 * 1024
"""Bytes of a neighbourhood; its chunks have ids, so that any of them can be read in full."""
_LATER = "Ask again in a few seconds, or use context_search."
_WHENCE = "Take it from a context_search result."


@dataclass(frozen=True, slots=True)
class _Asked:
    """A chunk that is there, and how to read the files around it."""

    chunk: Chunk
    reading: Reading
    state: ServerState
    call: Call

    @property
    def path(self) -> str:
        return self.reading.shown(self.chunk.path)

    def answer(self, text: str, shown: Sequence[Entry]) -> Answer:
        self.state.saw(shown, self.reading)
        return Answer(text)

    def entry(self, chunk: Chunk, level: detail.Level) -> Entry:
        return Entry(chunk, self.reading.shown(chunk.path), detail.render(chunk, level))

    def entries(self, chunks: Iterable[Chunk], level: detail.Level) -> list[Entry]:
        return [self.entry(each, level) for each in chunks]


def expand_chunk(state: ServerState, call: Call, arguments: Reader) -> Answer:
    """All of a chunk, or of its file; or, short, what is in the files around that."""
    chunk_id, scope = _id(arguments), arguments.choice("scope", SCOPES)
    asked = _asked(state, call, chunk_id)
    if asked is None:
        return _stale(chunk_id)
    if scope == "body":
        return asked.answer(asked.chunk.content, asked.entries([asked.chunk], "full"))
    if scope == "file":
        return _file(asked)
    return _neighbours(asked)


def related_context(state: ServerState, call: Call, arguments: Reader) -> Answer:
    """The chunks that a chunk is connected to through the import graph, short."""
    chunk_id, top_k = _id(arguments), count(arguments, "top_k", TOP_K, MOST)
    asked = _asked(state, call, chunk_id)
    if asked is None:
        return _stale(chunk_id)
    graph = state.graph(asked.reading.root)
    if missing := _missing(graph, call):
        return missing
    return _related(asked, graph, top_k)


def _id(arguments: Reader) -> str:
    return required(arguments, "chunk_id", 100, _WHENCE).lstrip("#")


def _asked(state: ServerState, call: Call, chunk_id: str) -> _Asked | None:
    root = state.session.searched_root(call.cwd)
    reading = Reading(root, state.directory)
    place = state.served(root).find(chunk_id)
    if place is None:
        state.session.indexed_root(call.cwd)  # without an index, that is what to say
    chunk = None if place is None else current(place, reading)
    return None if chunk is None else _Asked(chunk, reading, state, call)


def _stale(chunk_id: str) -> Answer:
    return Answer(
        f"No chunk with id {shorten(chunk_id)} in the current project: it may be stale, or was "
        "never served; re-run context_search and take the id from its result."
    )


def _missing(graph: Graph, call: Call) -> Answer | None:
    with graph.beside() as missing:
        problem = missing(call.cancel)
    return Answer(f"{problem} {_LATER}") if problem else None


# --- expand --------------------------------------------------------------------------------------


def _file(asked: _Asked) -> Answer:
    entries = asked.entries(asked.reading.units(asked.chunk.path), "full")
    title = f"file {asked.path} — {len(entries)} chunk(s):"
    return _grouped(asked, title, entries)


def _neighbours(asked: _Asked) -> Answer:
    """Of each neighbouring file what has to do with the chunk first, as far as there is room."""
    graph = asked.state.graph(asked.reading.root)
    if missing := _missing(graph, asked.call):
        return missing
    files = graph.neighbours(asked.chunk.path)
    of_files = _units(asked, files)
    number = sum(map(len, of_files))
    if not number:
        return _alone(asked)
    target = asked.chunk
    related = either(used_by(target), users_of(target))
    chosen = choose(of_files, related, number)
    shown = answers.within((asked.entry(chunk, "compact") for chunk in chosen), ROOM)
    order = {file: at for at, file in enumerate(files)}
    shown.sort(key=lambda each: (order[each.chunk.path], each.chunk.start_line))
    rest = _rest(chosen[len(shown) :], len(files[MOST_FILES:]))
    title = f"neighbours of {asked.path} — {number} chunk(s):"
    return asked.answer(answers.group(title, Shown(tuple(shown), rest)), shown)


def _rest(chunks: Sequence[Chunk], unread: int) -> str:
    """What is not shown, counted: *chunks*, and files that nobody looked into."""
    files = len({chunk.path for chunk in chunks})
    lines = [f"… (+{len(chunks)} more chunks in {files} files)"] if chunks else []
    return "\n".join([*lines, *([f"… (+{unread} more files)"] if unread else [])])


def _alone(asked: _Asked) -> Answer:
    return Answer(
        f"No import-graph neighbours for {asked.path}: it imports no file of this project, and "
        "none imports it."
    )


# --- related -------------------------------------------------------------------------------------


def _related(asked: _Asked, graph: Graph, top_k: int) -> Answer:
    target = asked.chunk
    imported, importers = graph.imports(target.path), graph.importers(target.path)
    uses, users = used_by(target), users_of(target)
    both = either(uses, users)
    groups = {
        "it imports:": ([file for file in imported if file not in importers], uses),
        "it is imported by:": ([file for file in importers if file not in imported], users),
        "it imports, and is imported by:": ([file for file in imported if file in importers], both),
    }
    chosen = share(
        [choose(_units(asked, files), related, top_k) for files, related in groups.values()],
        top_k,
    )
    entries = [
        entry
        for heading, chunks in zip(groups, chosen, strict=True)
        for entry in _headed(heading, asked.entries(chunks, "compact"))
    ]
    if not entries:
        return _alone(asked)
    title = f"related to {asked.path} via import graph — {len(entries)} chunk(s):"
    return _grouped(asked, title, entries)


def _headed(heading: str, entries: list[Entry]) -> list[Entry]:
    return [replace(each, heading="" if n else heading) for n, each in enumerate(entries)]


def _units(asked: _Asked, files: Sequence[str]) -> list[tuple[Chunk, ...]]:
    return [asked.reading.units(file) for file in files[:MOST_FILES]]


def _grouped(asked: _Asked, title: str, entries: Sequence[Entry]) -> Answer:
    shown = answers.fitting(entries)
    return asked.answer(answers.group(title, shown), shown.entries)
