"""What the ccc-status section adds to a turn: ``run.py turn [--turns N] [--version V]``.

The real Pi over RPC, with a model stub, in an indexed project: the time from a prompt to the
model's request, with this package and without, in turns. Between two prompts a user takes a moment,
in which the section for the next turn is fetched.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import environment
from benchmarks.playground import user
from benchmarks.search import tree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from e2e.model_stub import ModelStub  # noqa: E402 - the path has to be right first
from e2e.pi import Pi, Session  # noqa: E402

MOST_ADDED = 0.020
"""Seconds that the section may add to a turn."""
EMPTY = '{"name": "nothing", "type": "module", "pi": {"extensions": ["./index.js"]}}'
THINKING = 1.0
"""Seconds between the end of a turn and the next prompt."""


@contextmanager
def session(version: str, package: Path, cwd: Path, env: dict[str, str]) -> Iterator[Turns]:
    """A session of Pi that loads *package*."""
    node = environment.node_24()
    model = ModelStub()
    agent = cwd.parent / f"agent-{package.name}"
    pi = Pi(version, (str(node), str(environment.pi(version, node))), agent, model, env)
    pi.configure(package)
    try:
        with pi.rpc(cwd) as opened:
            yield Turns(opened, model)
    finally:
        model.close()


class Turns:
    """Prompts of one session, each timed."""

    def __init__(self, opened: Session, model: ModelStub) -> None:
        self._session = opened
        self._model = model
        self.seconds: list[float] = []

    def take(self) -> None:
        """One prompt, from its start to the model's request."""
        threading.Event().wait(THINKING)
        started = time.perf_counter()
        self._session.send("prompt", message="hello")
        self._model.arrived.get(timeout=60)
        self.seconds.append(time.perf_counter() - started)
        self._session.event("agent_end")


def report(name: str, seconds: Sequence[float]) -> float:
    """Print one row; return the median of all turns but the first."""
    median = statistics.median(seconds[1:])
    low, _, high = statistics.quantiles(seconds[1:], n=4)
    spread = f"{low * 1000:.1f} to {high * 1000:.1f}"
    print(f"| {name:16} | {seconds[0] * 1000:.0f} | {median * 1000:.1f} | {spread} |")
    return median


def main(argv: Sequence[str]) -> int:
    """Measure, print, and say whether the bound holds."""
    parser = argparse.ArgumentParser(prog="run.py turn", description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--version", default="1.6.0", help="of Pi")
    options = parser.parse_args(argv)
    with ExitStack() as stack:
        base, environ, ccc = stack.enter_context(user(sys.executable))
        made = stack.enter_context(tree(base, environ, ccc, 64))
        nothing = base / "nothing"
        nothing.mkdir()
        (nothing / "package.json").write_text(EMPTY, encoding="utf-8")
        (nothing / "index.js").write_text("export default () => {};\n", encoding="utf-8")
        packages = {"with ccc-status": ROOT, "without": nothing}
        sessions = {
            name: stack.enter_context(session(options.version, package, made.root, environ))
            for name, package in packages.items()
        }
        for _ in range(options.turns):
            for turns in sessions.values():
                turns.take()
    print(f"Pi {options.version}, milliseconds from a prompt to the model's request")
    print("| | first turn | median of the others | spread |\n|---|---|---|---|")
    medians = [report(name, turns.seconds) for name, turns in sessions.items()]
    added = medians[0] - medians[1]
    holds = added <= MOST_ADDED
    print(f"{'✓' if holds else '✗'} adds {added * 1000:.1f} ms, at most {MOST_ADDED * 1000:.0f}")
    return 0 if holds else 1
