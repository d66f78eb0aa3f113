"""The import graph as one call uses it: brought up to date beside the call's other work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from vera_ccc_tools.context.graph import Graph
from vera_ccc_tools.process import Cancel
from vera_ccc_tools.tasks import Task, running

PATIENCE = 1.0
"""Seconds that a call waits for the graph after its other work; only a first build takes longer."""
_PAUSE = 0.02


class Neighbourhood:
    """The graph, and its update that is under way."""

    def __init__(self, graph: Graph, update: Task[bool]) -> None:
        self._graph = graph
        self._update = update

    def missing(self, cancel: Cancel) -> str:
        """Why there is no graph to go by; empty where there is. A little time is given to it."""
        until = time.monotonic() + PATIENCE
        self._update.wait(PATIENCE, cancel)
        while self._graph.building and time.monotonic() < until:
            cancel.wait(_PAUSE)
            cancel.check()
        if self._graph.ready:
            return ""
        state = self._graph.state()
        if state.problem and not state.building:
            return f"The import graph could not be built: {state.problem}."
        return "The import graph is still being built."

    def imports(self, path: str) -> tuple[str, ...]:
        return self._graph.imports(path)

    def importers(self, path: str) -> tuple[str, ...]:
        return self._graph.importers(path)

    def neighbours(self, path: str) -> tuple[str, ...]:
        return self._graph.neighbours(path)


@contextmanager
def beside(graph: Graph) -> Iterator[Neighbourhood]:
    """Bring *graph* up to date while the block runs."""
    with running(graph.update) as update:
        yield Neighbourhood(graph, update)
