"""Which files of a project import which: built beside the searches, kept beside the index."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.import_graph import store
from vera_ccc_tools.import_graph.update import TooMuch, Updater
from vera_ccc_tools.system.cache_db import Broken, Unusable
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.process import Command, run
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task, running

BUILD_DEADLINE = 900.0
"""Seconds for a build in the background, which goes on at the next start where it was ended."""
RETRY = 60.0
"""Seconds until a build that failed is tried again."""
PATIENCE = 1.0
"""Seconds that a call waits for the graph after its other work; only a first build takes longer."""
_END_DEADLINE = 10.0
_PACKAGES = Path(__file__).resolve().parents[2]
"""The directory that holds this package, for the process that builds."""


@dataclass(frozen=True, slots=True)
class GraphState:
    """What the graph covers.

    Attributes:
        ready: Whether it was ever built whole; until then it names no neighbours.
        building: Whether a build or an update goes on in the background.
        files: How many source files it holds.
        edges: How many pairs of an importer and what it imports.
        problem: Why the last update did not come to its end, in a few words; empty when it did.
    """

    ready: bool = False
    building: bool = False
    files: int = 0
    edges: int = 0
    problem: str = ""


class Graph:
    """The import graph of the project at *root*. Safe for several threads and processes.

    Paths are relative to the root with forward slashes, as ccc gives them. No method raises a
    `Failure`: without a graph a search still answers; `state` says what failed.
    """

    def __init__(self, root: Path, environment: Environment) -> None:
        self._root = root
        self._environment = environment
        self._store = store.opened(Places(environment).index(root).with_name(store.NAME))
        self._updater = Updater(root, environment, self._store)
        self._turn = threading.Lock()
        self._ending = Cancel()
        self._background: Task[None] | None = None
        self._failed_at = -math.inf
        self._problem = ""

    @property
    def ready(self) -> bool:
        try:
            with self._store.reading() as connection:
                return store.marks(connection).built
        except Unusable:
            return False

    @property
    def building(self) -> bool:
        return self._background is not None and not self._background.done

    def state(self) -> GraphState:
        """What it covers, counted anew."""
        building = self.building
        try:
            with self._store.reading() as connection:
                built = store.marks(connection).built
                files, edges = store.counts(connection)
        except Unusable as error:
            return GraphState(building=building, problem=self._problem or str(error))
        return GraphState(built, building, files, edges, self._problem)

    def start(self, cancel: Cancel) -> None:
        """Build it, or bring it up to date, in the background; return at once.

        What runs in the background ends when *cancel* is pressed, or with `close`.
        """
        with self._turn:
            if self._background is None or self._background.done:
                self._background = Task(lambda _own: self._work(cancel))

    def update(self, cancel: Cancel | None = None) -> bool:
        """Bring it up to date with the disk now; say whether it is.

        What takes longer than a moment (the first build, a switch of branches) is begun in the
        background instead, and the answers are those of the last state until it is done, which
        `wait` waits for.
        """
        try:
            return self._advance(cancel or Cancel())
        except TooMuch:
            if time.monotonic() - self._failed_at > RETRY:
                self.start(Cancel())
            return False

    def wait(self, seconds: float, cancel: Cancel | None = None) -> bool:
        background = self._background
        return background is None or background.wait(seconds, cancel or Cancel())

    def imports(self, path: str) -> tuple[str, ...]:
        return self._related(path, backwards=False)

    def importers(self, path: str) -> tuple[str, ...]:
        return self._related(path, backwards=True)

    def neighbours(self, path: str) -> tuple[str, ...]:
        """What *path* imports, then what imports it; each part sorted, no file twice."""
        return tuple(dict.fromkeys((*self.imports(path), *self.importers(path))))

    def close(self) -> None:
        self._ending.press()
        self.wait(_END_DEADLINE)
        self._store.close()

    def _related(self, path: str, *, backwards: bool) -> tuple[str, ...]:
        try:
            with self._store.reading() as connection:
                if not store.marks(connection).built:
                    return ()
                return tuple(store.related(connection, path, backwards=backwards))
        except Unusable:
            return ()

    def _advance(self, cancel: Cancel) -> bool:
        """Update in this process where that is quick.

        Raises:
            TooMuch: It is not.
            Cancelled: The call was.
        """
        with self._turn:
            try:
                self._updater.update(cancel)
            except Broken:
                raise TooMuch from None
            except Unusable as error:
                self._problem = str(error)
                return False
            except Failure as failure:
                self._problem = failure.message
                return False
            self._problem = ""
            return True

    # --- the background --------------------------------------------------------------------------

    def _work(self, cancel: Cancel) -> None:
        with cancel.notifying(self._ending.press):
            try:
                self._advance(self._ending)
            except TooMuch:
                self._problem = self._build()
                self._failed_at = time.monotonic() if self._problem else -math.inf
            except Cancelled as cancelled:
                self._problem = str(cancelled)

    def _build(self) -> str:
        """Have it built by a process, as threads would hold each other up; say what failed."""
        module = "vera_ccc_tools.import_graph.build"
        argv = (sys.executable, "-P", "-m", module, str(self._root), str(self._store.path))
        python_path = [str(_PACKAGES), self._environment.get("PYTHONPATH")]
        env = self._environment.variables | {
            "PYTHONPATH": os.pathsep.join(filter(None, python_path))
        }
        try:
            done = run(Command(argv, self._root, env), deadline=BUILD_DEADLINE, cancel=self._ending)
        except Failure as failure:
            return failure.message
        if done.ended == "deadline":
            return f"the build took over {BUILD_DEADLINE:g} s"
        if done.ended == "cancel" or done.returncode:
            lines = done.stderr.head.decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else f"the build ended with {done.returncode}"
        return ""

    # --- beside a call's other work --------------------------------------------------------------

    @contextmanager
    def beside(self) -> Iterator[Callable[[Cancel], str]]:
        """Bring it up to date while the block runs.

        What the block gets says why there is no graph to go by, or nothing where there is one; it
        waits a little for that.
        """
        with running(self.update) as update:
            yield lambda cancel: self._missing(update, cancel)

    def _missing(self, update: Task[bool], cancel: Cancel) -> str:
        until = time.monotonic() + PATIENCE
        update.wait(PATIENCE, cancel)
        if self._background is not None:
            self._background.wait(until - time.monotonic(), cancel)
        if self.ready:
            return ""
        if self._problem and not self.building:
            return f"The import graph could not be built: {self._problem}."
        return "The import graph is still being built."
