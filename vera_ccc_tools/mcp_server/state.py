"""What one server knows: the project that it serves, its logs, and this session."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools.ccc import project
from vera_ccc_tools.chunks.served import ServedChunks
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.mcp_server import config
from vera_ccc_tools.mcp_server.config import Config
from vera_ccc_tools.mcp_server.ledger import Ledger
from vera_ccc_tools.memory.decisions import Memory
from vera_ccc_tools.phrases import say, tell
from vera_ccc_tools.setup import terseness
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.tools import search
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.usage.events import Metrics

if TYPE_CHECKING:
    from vera_ccc_tools.chunks.reading import Reading
    from vera_ccc_tools.import_graph.graph import Graph
    from vera_ccc_tools.mcp_server.answers import Entry

UNINDEXED = {"not_initialized", "not_indexed"}


class ServerState:
    """The state behind the nine tools. Its methods may be called from any thread.

    Attributes:
        directory: What is served: paths are shown from here. Absolute, resolved.
        home: Where ``.cce`` lies: the first of `homes`, as it is when the server starts.
        session: What the core remembers.
        ledger: What this session has done.
        level: How terse the agent's own answers shall be; it is asked for, not enforced.
    """

    def __init__(self, directory: Path, variables: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.session = Session(variables)
        self.ledger = Ledger()
        self.home, *others = homes(directory)
        self.memory = Memory(self.home, others)
        self.metrics = Metrics(self.home)
        self.level = terseness.DEFAULT
        self._lock = threading.Lock()
        self._ended = Cancel()
        self._graphs: dict[Path, Graph] = {}
        self._served: dict[Path, ServedChunks] = {}

    @property
    def config(self) -> Config:
        return config.load(self.home)

    def graph(self, root: Path) -> Graph:
        from vera_ccc_tools.import_graph.graph import Graph

        with self._lock:
            if root not in self._graphs:
                self._graphs[root] = Graph(root, self.session.environment)
            return self._graphs[root]

    def served(self, root: Path) -> ServedChunks:
        """The chunks of the project at *root* that were served, by whichever server."""
        with self._lock:
            if root not in self._served:
                self._served[root] = ServedChunks(self.session.places.index(root))
            return self._served[root]

    def saw(self, entries: Sequence[Entry], reading: Reading) -> None:
        """Note what a call has shown, so that its chunks can be asked for again."""
        chunks = [entry.chunk for entry in entries]
        self.ledger.touch((entry.path for entry in entries), (chunk.id for chunk in chunks))
        self.served(reading.root).remember(chunks)

    def prepare(self) -> None:
        """Begin, beside the first requests, what takes long: the import graph."""
        threading.Thread(target=self._prepare, daemon=True).start()

    def _prepare(self) -> None:
        root = self.session.root_of(self.directory)
        if root is not None and self.session.places.is_indexed(root):
            self.graph(root).start(self._ended)

    def close(self) -> None:
        self._ended.press()
        with self._lock:
            graphs, served = list(self._graphs.values()), list(self._served.values())
        for graph in graphs:
            graph.close()
        for each in served:
            each.close()
        self.session.close()

    def told(self, failure: Failure) -> Answer:
        """A failure as an answer. A project without an index is none: nothing is broken."""
        if failure.code in UNINDEXED:
            return Answer(f"{self._unindexed(failure)} No results are available until then.")
        return Answer(tell(failure, Front.MCP), failed=True)

    def lead(self, failure: Failure) -> str:
        """The first line of an answer by words: why ccc does not answer, and what helps."""
        root = self.session.searched_root(self.directory)
        if self.session.places.is_indexed(root):
            return search.lead(failure, Front.MCP)
        return f"{self._unindexed(failure)} These results are by words, not by meaning."

    def _unindexed(self, failure: Failure) -> str:
        where = f"This project is not indexed yet: {self.session.searched_root(self.directory)}."
        cause = "" if failure.code in UNINDEXED else f" {search.cause(failure)}"
        return f"{where}{cause} {say(failure.step, Front.MCP)}"


def homes(directory: Path) -> tuple[Path, ...]:
    """Where ``.cce`` of a served *directory* may lie, the right place first.

    That is the root of the ccc project around it, else of the git repository, else itself: a
    project has one memory wherever an agent starts. What lies in another of these places, since
    the project or the repository came later, is still read.
    """
    root = project.find_root(directory)
    if root is not None and project.holds_home(root):
        root = None
    places = (root, project.find_repository(directory), directory)
    return tuple(dict.fromkeys(place for place in places if place is not None))
