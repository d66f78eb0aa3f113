"""``context_search``: the core's search, served as whole units at the wanted detail."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import cast

from vera_ccc_tools.chunks import detail
from vera_ccc_tools.chunks.chunk import tokens
from vera_ccc_tools.chunks.reading import Reading
from vera_ccc_tools.chunks.units import Served
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.mcp_server import answers
from vera_ccc_tools.mcp_server.answers import Entry, Shown
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.mcp_server.tools import select
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import search
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import Reader, count, optional, required
from vera_ccc_tools.usage import events
from vera_ccc_tools.usage.events import SearchEvent

TOP_K = 8
MOST = 50
"""Results at most; further on, ccc's hundred candidates would run out."""
SOURCES = ("code", "knowledge", "both")
MAX_QUERY = 10_000
_EMBEDDER = "ccc"
_NO_PACKAGE = "`package` comes later, with workspaces; all of this project was searched."
_NO_KNOWLEDGE = "`source` comes later, with knowledge stores; only code was searched."
_NOT_WIDENED = "These results are not widened by it."


@dataclass(frozen=True, slots=True)
class Wanted:
    """The arguments of a search.

    Attributes:
        query: What to look for.
        top_k: How many results at most.
        widened: Whether the import graph may have a say.
        max_tokens: Of the bodies; None is no limit.
        detail: How much of a body is shown.
        notes: What the caller should know of its own arguments.
    """

    query: str
    top_k: int
    widened: bool
    max_tokens: int | None
    detail: detail.Level
    notes: tuple[str, ...]


def context_search(state: ServerState, call: Call, arguments: Reader) -> Answer:
    """Find units by meaning and by words, and log the search."""
    started = time.monotonic()
    wanted = _wanted(state, arguments)
    reading = Reading(state.session.searched_root(call.cwd), state.directory)
    is_indexed = state.session.places.is_indexed(reading.root)
    served, notes, lead = _search(
        state, call, wanted, reading, widened=wanted.widened and is_indexed
    )
    shown = answers.fitting([_entry(each, wanted, reading) for each in served], wanted.max_tokens)
    query_id = events.new_id()
    if served:
        text = answers.found(shown, query_id, wanted.detail, notes)
    else:
        chunks = None if lead else _chunks(state, reading, call)
        text = answers.nothing(chunks, query_id, notes)
    state.ledger.query(wanted.query)
    state.saw(shown.entries, reading)
    if is_indexed:  # nothing is written into a project that nobody has set up
        state.metrics.search(_event(query_id, wanted, shown, reading, started))
    return Answer(f"{lead}\n\n{text}" if lead else text)


def _search(
    state: ServerState, call: Call, wanted: Wanted, reading: Reading, *, widened: bool
) -> tuple[tuple[Served, ...], list[str], str]:
    """The units, what the caller should know, and the first line of an answer by words."""
    graph = state.graph(reading.root)
    with graph.beside() if widened else nullcontext() as missing:
        found = search.find(state.session, call, wanted.query)
        notes = [*found.notes, *wanted.notes]
        problem = missing(call.cancel) if missing else ""
    if problem:
        notes.append(f"{problem} {_NOT_WIDENED}")
    neighbours = graph.neighbours if missing and not problem else None
    served = select.select(found.page.hits, wanted.top_k, reading, neighbours)
    return served, notes, state.lead(found.instead) if found.instead else ""


def _wanted(state: ServerState, arguments: Reader) -> Wanted:
    query = required(arguments, "query", MAX_QUERY, "Say in `query` what to look for.")
    notes = []
    if optional(arguments, "package", MAX_QUERY) is not None:
        notes.append(_NO_PACKAGE)
    if arguments.has("source") and arguments.choice("source", SOURCES) != "code":
        notes.append(_NO_KNOWLEDGE)
    own = arguments.choice("detail", detail.LEVELS) if arguments.has("detail") else None
    max_tokens = arguments.integer("max_tokens", 0, -(2**31), 2**31)
    return Wanted(
        query,
        count(arguments, "top_k", TOP_K, MOST),
        not arguments.flag("no_graph", default=False),
        max_tokens if max_tokens > 0 else None,
        cast(detail.Level, own or state.config.detail),
        tuple(notes),
    )


# --- what is shown and logged ---------------------------------------------------------------------


def _entry(served: Served, wanted: Wanted, reading: Reading) -> Entry:
    body = detail.render(served.chunk, wanted.detail)
    return Entry(served.chunk, reading.shown(served.chunk.path), body, served.score)


def _chunks(state: ServerState, reading: Reading, call: Call) -> int:
    """How many chunks the index holds that a search found nothing in; 0 if ccc does not say."""
    with suppress(Failure):
        return state.session.ccc().status(reading.root, cancel=call.cancel).chunks
    return 0


def _event(
    query_id: str, wanted: Wanted, shown: Shown, reading: Reading, started: float
) -> SearchEvent:
    files = {entry.chunk.path for entry in shown.entries}
    return SearchEvent(
        id=query_id,
        query=wanted.query,
        top_k=wanted.top_k,
        graph_enabled=wanted.widened,
        embedder=_EMBEDDER,
        scores=tuple(entry.score for entry in shown.entries),
        baseline_tokens=sum(reading.tokens(path) for path in files),
        full_tokens=sum(entry.chunk.tokens for entry in shown.entries),
        served_tokens=sum(tokens(entry.body) for entry in shown.entries),
        latency_ms=(time.monotonic() - started) * 1000,
    )
