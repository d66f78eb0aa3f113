"""Does an answer of ``context_search`` hold the right file, and what does it cost to read up to it?

The questions and candidates are those of ``run.py answers``; the units are cut from the projects
that were indexed for it, and the import graph is built of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import answers, candidates
from benchmarks.candidates import Asked
from vera_ccc_tools.boot import environments
from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.chunks import detail
from vera_ccc_tools.chunks.chunk import tokens
from vera_ccc_tools.chunks.reading import Reading
from vera_ccc_tools.chunks.units import Served
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.import_graph.graph import Graph
from vera_ccc_tools.mcp_server import answers as texts
from vera_ccc_tools.mcp_server.answers import Entry
from vera_ccc_tools.mcp_server.tools import select
from vera_ccc_tools.mcp_server.tools.select import Neighbours
from vera_ccc_tools.ranking import rank
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

RESULTS = 10
GRAPH_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Shown:
    """One result as an agent reads it."""

    path: str
    tokens: int


Way = Callable[[Asked, Reading, Neighbours], Sequence[Shown]]


@dataclass(frozen=True, slots=True)
class Group:
    """The questions about one repository, with its files and their neighbours."""

    questions: tuple[Asked, ...]
    reading: Reading
    neighbours: Neighbours


def of_hits(order: answers.Order) -> Way:
    """Results as lines of a file under their place, as ccc and ``ccc_search`` show them."""

    def shown(hit: Hit) -> Shown:
        place = f"{hit.file_path}:{hit.start_line}-{hit.end_line} [{hit.language}] {hit.score:.3f}"
        return Shown(hit.file_path, tokens(f"{place}\n{hit.content.rstrip()}\n\n"))

    return lambda asked, _reading, _neighbours: [shown(hit) for hit in order(asked)[:RESULTS]]


def of_context(level: detail.Level, *, widened: bool) -> Way:
    """``context_search`` at one detail."""

    def way(asked: Asked, reading: Reading, neighbours: Neighbours) -> Sequence[Shown]:
        hits = rank.rank(asked.question.text, asked.hits)
        served = select.select(hits, RESULTS, reading, neighbours if widened else None)
        return [_shown(each, level) for each in served]

    return way


def _shown(served: Served, level: detail.Level) -> Shown:
    chunk = served.chunk
    entry = Entry(chunk, chunk.path, detail.render(chunk, level), served.score)
    text = texts.found(texts.Shown((entry,)), "", "full").split("query_id")[0]
    return Shown(chunk.path, tokens(text))


WAYS: Mapping[str, Way] = {
    "ccc search": of_hits(answers.of_ccc),
    "ccc_search": of_hits(answers.of_ours()),
    "context_search signature": of_context("signature", widened=True),
    "context_search compact": of_context("compact", widened=True),
    "context_search full": of_context("full", widened=True),
    "context_search compact, no_graph": of_context("compact", widened=False),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions.

    Attributes:
        five, ten: The share of questions with a right file among so many first results.
        tokens: Of all results up to and including the first right one; of ten where there is none.
    """

    five: float
    ten: float
    tokens: float


def measure(groups: Sequence[Group], way: Way) -> Figures:
    """The figures of one way to search."""
    rows = [
        _figures(asked, way(asked, group.reading, group.neighbours))
        for group in groups
        for asked in group.questions
    ]
    return Figures(*(statistics.fmean(column) for column in zip(*rows, strict=True)))


def _figures(asked: Asked, shown: Sequence[Shown]) -> tuple[float, float, float]:
    right = [n for n, each in enumerate(shown, 1) if each.path in asked.question.relevant]
    first = right[0] if right else RESULTS
    spent = sum(each.tokens for each in shown[:first])
    return float(bool(right) and first <= 5), float(bool(right)), float(spent)


def gather(options: argparse.Namespace) -> dict[str, Group]:
    """The groups by repository; candidates that are not kept yet are asked of ccc.

    Raises:
        Failure: As `candidates.gather`, or when an import graph cannot be built.
    """
    repositories = candidates.read_questions(options.questions, options.answers)
    work = options.work or environments.cache_directory() / f"answers-{options.model}"
    asked = candidates.gather(repositories, options.answers, work, options.model)
    found = {}
    for name, questions in asked.items():
        project = work / "projects" / name
        found[name] = Group(questions, Reading(project, project), _neighbours(project))
    return found


def _neighbours(project: Path) -> Neighbours:
    graph = Graph(project, Environment({}))
    graph.start(Cancel())
    graph.wait(GRAPH_SECONDS)
    if not graph.ready:
        raise Failure("no_graph", f"No import graph of {project}: {graph.state().problem}.")
    return graph.neighbours


def run(options: argparse.Namespace) -> int:
    """Print the table, of each repository and of all."""
    try:
        groups = gather(options)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    parts = {name: [group] for name, group in groups.items()}
    for name, part in {**parts, "all": list(groups.values())}.items():
        print(f"\n{name}: {sum(len(group.questions) for group in part)} questions")
        print(f"| {'way':34} | in first 5 | in first 10 | tokens to it |")
        print("|---|---|---|---|")
        for way, shows in WAYS.items():
            of = measure(part, shows)
            print(f"| {way:34} | {of.five:10.0%} | {of.ten:11.0%} | {of.tokens:12.0f} |")
    return 0
