"""A project whose searches are compared with refreshing ones."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers import run_git, write_file
from vera_ccc_tools.ccc.client import Ccc, Query
from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.refresh.index_runs import Target
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.tools import fresh
from vera_ccc_tools.tools.fresh import Fetch, Found, Page
from vera_ccc_tools.tools.session import Session

ALL = 100
"""More than these repositories have chunks, so that a search gives the whole index."""
Chunks = frozenset[tuple[str, str]]
Project = Callable[[], "Tree"]


class Tree:
    """A project of a ccc user, and the searches of one session in it."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.session = Session(environ)
        self.ccc = Ccc.locate(Environment(environ))
        write_file(root / ".gitignore", "*.log.py\n/.cocoindex_code/\n")
        run_git(root.parent, "init", "-q", str(root))
        for name in ("a.py", "b.py", "lib/c.py", "lib/d.py"):
            self.write(name, f"value = '{name}'")
        self.git("add", "-A")
        self.git("commit", "-qm", "start")
        self.ccc.init(root, force=True, model=None, cancel=None)
        self.ccc.index(root)

    def write(self, name: str, line: str) -> None:
        write_file(self.root / name, f"{line}\n")

    def git(self, *arguments: str) -> str:
        return run_git(self.root, *arguments)

    def fetch(self, cancel: Cancel, *, refresh: bool) -> Page:
        reply = self.ccc.search(self.root, Query("value", ALL, refresh=refresh), cancel=cancel)
        return Page(reply.hits, run=reply.run)

    def find(self, fetch: Fetch | None = None, cancel: Cancel | None = None) -> Found:
        target = Target(self.ccc, self.root, Call(self.root, cancel or Cancel()))
        return fresh.search(self.session, target, fetch or self.fetch)

    def rests(self) -> bool:
        """Whether searches come to do without a refresh, where nothing happens in between.

        One more may be due first, on file systems that keep whole seconds.
        """
        return any(not self.find().refreshed for _ in range(3))

    def truth(self) -> Chunks:
        return chunks(self.ccc.search(self.root, Query("value", ALL, refresh=True)).hits)

    def close(self) -> None:
        self.session.close()
        shutil.rmtree(self.root)


def chunks(hits: tuple[Hit, ...]) -> Chunks:
    return frozenset((hit.file_path, hit.content) for hit in hits)


def nested(tree: Tree) -> Path:
    inner = tree.root / "inner"
    inner.mkdir()
    run_git(inner, "init", "-q")
    write_file(inner / "n.py", "value = 'nested'\n")
    run_git(inner, "add", "-A")
    run_git(inner, "commit", "-qm", "start")
    return inner / "n.py"


@contextmanager
def trees(environ: dict[str, str], directory: Path) -> Iterator[Project]:
    """Makes trees of a user in *directory*; all are closed in the end."""
    made: list[Tree] = []

    def make() -> Tree:
        root = Path(tempfile.mkdtemp(dir=directory)) / "p"
        root.mkdir()
        made.append(Tree(root, environ))
        return made[-1]

    yield make
    for tree in made:
        tree.close()
