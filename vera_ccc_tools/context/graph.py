"""Which files of a project import which: built beside the searches, kept beside the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.process import Cancel


@dataclass(frozen=True, slots=True)
class State:
    """What the graph covers.

    Attributes:
        ready: Whether it was ever built whole; until then it names no neighbours.
        building: Whether a build or an update goes on in the background.
        files: How many source files it holds.
        edges: How many pairs of an importer and what it imports.
        unreadable: Files and directories, relative to the root, that could not be read.
        problem: Why the last update did not come to its end, in a few words; empty when it did.
    """

    ready: bool = False
    building: bool = False
    files: int = 0
    edges: int = 0
    unreadable: tuple[str, ...] = ()
    problem: str = ""


class Graph:
    """The import graph of the project at *root*. Safe for several threads and processes.

    Paths are relative to the root with forward slashes, as ccc gives them. No method raises a
    `Failure` but ``cancelled``: without a graph a search still answers; `state` says what failed.
    """

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ

    @property
    def ready(self) -> bool:
        """Whether the graph was ever built whole."""
        return self.state().ready

    def state(self) -> State:
        """What it covers, from what is known; nothing is looked at."""
        return State()

    def start(self, cancel: Cancel) -> None:
        """Build it, or bring it up to date, in the background; return at once."""

    def update(self, cancel: Cancel | None = None) -> bool:  # noqa: ARG002
        """Bring it up to date with the disk now; say whether it is.

        What takes longer than a moment (the first build, a switch of branches) is begun in the
        background instead, and the answers are those of the last state until it is done.
        """
        return False

    def imports(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """The files that *path* imports, sorted."""
        return ()

    def importers(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """The files that import *path*, sorted."""
        return ()

    def neighbours(self, path: str) -> tuple[str, ...]:
        """What *path* imports, then what imports it; each part sorted, no file twice."""
        return tuple(dict.fromkeys((*self.imports(path), *self.importers(path))))

    def close(self) -> None:
        """End what runs in the background and let the file go."""
