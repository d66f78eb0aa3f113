"""Projects whose import graphs tests build, and how they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from helpers import SECONDS, write_file
from vera_ccc_tools.import_graph.graph import Graph
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

MakeGraph = Callable[..., Graph]
SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop import price\n",
    "shop/price.py": "",
    "tests/test_cart.py": "from shop.cart import Cart\nfrom shop import price\n",
    "notes.txt": "import shop\n",
}


def graphs() -> Iterator[MakeGraph]:
    """Make graphs of directories, whose background ends with the test; to be a fixture."""
    made: list[Graph] = []

    def make(root: Path, environ: Mapping[str, str] | None = None) -> Graph:
        project(root)
        made.append(Graph(root, Environment(environ)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def project(root: Path) -> Path:
    """The directory that ccc keeps its index in, under *root*."""
    (root / ".cocoindex_code").mkdir(parents=True, exist_ok=True)
    write_file(root / ".cocoindex_code" / ".gitignore", "*\n")
    return root / ".cocoindex_code"


def built(graph: Graph) -> Graph:
    """The graph, built and up to date."""
    while not graph.update():
        assert graph.wait(SECONDS)
        assert not graph.state().problem
    return graph


def many(count: int, start: int = 0) -> dict[str, str]:
    """More modules than a call reads itself, each of which imports the next."""
    return {f"m{n}.py": f"import m{n + 1}\n" for n in range(start, start + count)}


class Soon(Cancel):
    """Is pressed after a number of looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    def check(self) -> None:
        self._left -= 1
        if self._left < 0:
            self.press()
        super().check()
