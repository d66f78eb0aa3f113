"""What a search costs: ``run.py search [--files 64,3000,30000] [--rounds N] [--picture P]``.

Trees are generated, a fifth of their files of an indexed kind. In each round every way to search
is run once, in another order each time, so that a noisy machine is noisy for all of them; what
counts are the ratios of the medians. ``ccc_search`` asks for a hundred chunks, so it is compared
with a ``ccc search`` that does. The peers, the two public Pi extensions for ccc, ask for few: one
runs ``ccc search`` for each search, the other ``ccc search --refresh``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.playground import user
from worker_client import Worker

QUERY = "parse the settings of module"
WORDS = (
    "parse load store send merge index token module setting record value queue retry path".split()
)
INDEXED_SHARE = 5
PLAIN, REFRESH = "ccc search --limit 100", "ccc search --limit 100 --refresh"
FIVE, FIVE_REFRESH = "ccc search --limit 5", "ccc search --limit 5 --refresh"
EDITED = " after one edit"
OURS, OURS_AS_IS = "ccc_search, nothing changed", "ccc_search, refresh_index false"


@dataclass(frozen=True)
class Bound:
    """A ratio of two medians that should not be exceeded, on trees of at least *files* files."""

    ours: str
    theirs: str
    most: float
    least_files: int = 0
    most_files: int = sys.maxsize


BOUNDS = (
    Bound(OURS, PLAIN, 1.35),
    Bound(OURS, FIVE, 1.25),
    Bound(OURS, REFRESH, 0.15, least_files=30_000),
    Bound(OURS, REFRESH, 0.55, most_files=64),
    Bound("ccc_search" + EDITED, REFRESH + EDITED, 1.10),
    Bound(OURS_AS_IS, PLAIN, 1.10),
)


@dataclass
class Tree:
    """A generated repository of a user of its own, its worker, and what was measured."""

    root: Path
    files: int
    environ: dict[str, str]
    ccc: str
    worker: Worker
    times: dict[str, list[float]] = field(default_factory=dict)
    edits: int = 0

    def edit(self) -> None:
        """Change one indexed file."""
        self.edits += 1
        (self.root / "d0" / "f0.py").write_text(f"value_{self.edits} = {self.edits}\n", "utf-8")

    def cli(self, *options: str) -> None:
        """Search as the command line does."""
        subprocess.run(
            [self.ccc, "search", "--json", *options, "--", QUERY],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=600,
            check=True,
        )

    def tool(self, *, refreshed: bool, refresh_index: bool = True) -> None:
        """Search as an agent does, and hold that it took the way that it should."""
        result = self.worker.call("ccc_search", {"query": QUERY, "refresh_index": refresh_index})
        details = result["details"]
        # A refresh of a large tree goes on while the words find what was edited.
        assert (details["refreshed"] or details["stale"]) is refreshed, details
        assert details["by"] == "both", details

    def settle(self) -> None:
        """Wait until no refresh goes on, which would be in the way of what is measured next."""
        while self.worker.call("ccc_search", {"query": QUERY})["details"]["stale"]:
            pass

    def ways(self) -> dict[str, Callable[[], None]]:
        """The ways to search, by name; those after an edit make it beforehand."""
        return {
            PLAIN: lambda: self.cli("--limit", "100"),
            FIVE: lambda: self.cli("--limit", "5"),
            FIVE_REFRESH: lambda: self.cli("--limit", "5", "--refresh"),
            OURS: lambda: self.tool(refreshed=False),
            OURS_AS_IS: lambda: self.tool(refreshed=False, refresh_index=False),
            REFRESH: lambda: self.cli("--limit", "100", "--refresh"),
            REFRESH + EDITED: lambda: self.cli("--limit", "100", "--refresh"),
            "ccc_search" + EDITED: lambda: self.tool(refreshed=True),
            "status": lambda: void(self.worker.request("status", {})),
        }

    def measure(self, name: str, run: Callable[[], None]) -> None:
        """Time one way once, on an index that a search before it has brought up to date."""
        if name == OURS or name.endswith(EDITED):
            self.worker.call("ccc_search", {"query": QUERY})
        if name.endswith(EDITED):
            self.edit()
        started = time.perf_counter()
        run()
        self.times.setdefault(name, []).append(time.perf_counter() - started)


def void(_value: object) -> None:
    """Take a value, and nothing more."""


def write_tree(root: Path, files: int) -> None:
    """A repository of *files* files in directories of fifty, every fifth of them Python."""
    chance = random.Random(files)  # noqa: S311 - the same tree each time
    for number in range(files):
        path = root / f"d{number // 50}" / f"f{number}.{'data' if number % INDEXED_SHARE else 'py'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source(number, chance) if path.suffix == ".py" else "data\n", "utf-8")
    (root / ".gitignore").write_text("/build/\n*.log\n/.cocoindex_code/\n", "utf-8")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "tree"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True, timeout=300)  # noqa: S607


def source(number: int, chance: random.Random) -> str:
    """A small module."""
    names = chance.sample(WORDS, 3)
    body = "".join(
        f"def {name}_{number}(value):\n    return [{name!r}, value]\n\n\n" for name in names
    )
    return f'"""{" ".join(names)}"""\n\n\n{body}'


@contextmanager
def tree(base: Path, environ: dict[str, str], ccc: str, files: int) -> Iterator[Tree]:
    """Write and index a tree, with a worker that has searched it once."""
    root = base / f"t{files}"
    write_tree(root, files)
    worker = Worker(environ, root)
    try:
        worker.call("ccc_index", {}, deadline=1200.0)
        worker.call("ccc_search", {"query": QUERY}, deadline=600.0)
        yield Tree(root, files, environ, ccc, worker)
    finally:
        worker.close()


def measure(made: Tree, rounds: int) -> None:
    """Run every way *rounds* times, in another order each time."""
    ways = list(made.ways().items())
    for number in range(rounds):
        print(f"\r{made.files:,} files: round {number + 1} of {rounds}", end="", file=sys.stderr)
        random.Random(number).shuffle(ways)  # noqa: S311
        for name, run in ways:
            made.measure(name, run)
            made.settle()
    print(file=sys.stderr)


def report(made: Tree) -> list[str]:
    """Print a table of one tree; return the bounds that are missed."""
    print(f"\n{made.files:,} files, {made.files // INDEXED_SHARE:,} of them indexed")
    print(f"| {'way':46} | median s | spread s | / plain | / refresh |")
    print("|---|---|---|---|---|")
    medians = {name: statistics.median(times) for name, times in made.times.items()}
    for name, median in medians.items():
        low, _, high = statistics.quantiles(made.times[name], n=4)
        of_plain, of_refresh = median / medians[PLAIN], median / medians[REFRESH]
        spread = f"{low:.3f} to {high:.3f}"
        print(f"| {name:46} | {median:.3f} | {spread} | {of_plain:.2f} | {of_refresh:.2f} |")
    print(f"worker: {peak_memory(made.worker)}")
    return [line for bound in BOUNDS if (line := check(bound, made.files, medians))]


def check(bound: Bound, files: int, medians: dict[str, float]) -> str:
    """Print whether a bound holds; return a line where it does not."""
    if not bound.least_files <= files <= bound.most_files:
        return ""
    ratio = medians[bound.ours] / medians[bound.theirs]
    line = f"{bound.ours} / {bound.theirs}: {ratio:.2f}, at most {bound.most} ({files:,} files)"
    print(f"{'✓' if ratio <= bound.most else '✗'} {line}")
    return "" if ratio <= bound.most else line


def peak_memory(worker: Worker) -> str:
    """What the worker uses and has used at most, where the system tells."""
    try:
        text = Path(f"/proc/{worker.pid}/status").read_text(encoding="ascii")
    except OSError:
        return "memory unknown on this system"
    rows = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return f"{rows['VmRSS'].strip()} now, {rows['VmHWM'].strip()} at most"


def draw(trees: Sequence[Tree], path: Path) -> None:
    """Draw the growth with the tree's size as an SVG picture."""
    names = [PLAIN, REFRESH, OURS]
    most = max(statistics.median(made.times[name]) for made in trees for name in names)
    colours = dict(zip(names, ("#57606a", "#cf222e", "#1a7f37"), strict=True))
    step = 560 / max(1, len(trees) - 1)
    shapes = []
    for index, name in enumerate(names):
        medians = [statistics.median(made.times[name]) for made in trees]
        points = [(70 + step * n, 300 - 250 * m / most) for n, m in enumerate(medians)]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        shapes.append(
            f'<polyline points="{line}" fill="none" stroke="{colours[name]}" stroke-width="3"/>'
            f'<text x="90" y="{30 + 20 * index}" fill="{colours[name]}">{name}'
            f" ({medians[-1]:.2f} s at {trees[-1].files:,} files)</text>"
        )
    labels = "".join(
        f'<text x="{70 + step * n:.0f}" y="325" text-anchor="middle">{made.files:,} files</text>'
        for n, made in enumerate(trees)
    )
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 340" '
        'font-family="sans-serif" font-size="14"><rect width="700" height="340" fill="white"/>'
        f'<path d="M70 40 V300 H640" fill="none" stroke="#8c959f"/>{"".join(shapes)}{labels}'
        f'<text x="60" y="55" text-anchor="end">{most:.1f} s</text>'
        '<text x="60" y="304" text-anchor="end">0</text></svg>\n',
        encoding="utf-8",
    )


def main(argv: Sequence[str]) -> int:
    """Measure, print, and say which bounds are missed."""
    parser = argparse.ArgumentParser(prog="run.py search", description=__doc__)
    parser.add_argument("--files", default="64,3000,30000", help="sizes of the trees")
    parser.add_argument("--rounds", type=int, default=9, help="how often each way is run")
    parser.add_argument("--picture", type=Path, help="where to draw the growth, as SVG")
    options = parser.parse_args(argv)
    missed, trees = [], []
    with user(sys.executable) as (base, environ, ccc):
        for files in (int(each) for each in options.files.split(",")):
            with tree(base, environ, ccc, files) as made:
                measure(made, options.rounds)
                missed += report(made)
                trees.append(made)
    if options.picture:
        draw(trees, options.picture)
    print("\nEvery bound holds." if not missed else "\nMissed:\n" + "\n".join(missed))
    return 1 if missed else 0
