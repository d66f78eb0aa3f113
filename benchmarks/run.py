"""Measurements by name: ``python3 benchmarks/run.py NAME …`` runs ``NAME.py``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

NAMES = ("answers", "context", "graph", "search", "soak", "sync", "turn")
VERBS = {"graph": "mcp"}
"""The verb whose dependencies a measurement needs beyond the usual ones."""


def main(argv: Sequence[str]) -> int:
    """Run the measurement that the first argument names, with the others."""
    usage = f"usage: run.py {'|'.join(NAMES)} …\n`run.py NAME --help` lists its options."
    if argv and argv[0] in {"-h", "--help"}:
        print(usage)
        return 0
    if not argv or argv[0] not in NAMES:
        print(usage, file=sys.stderr)
        return 2
    root = Path(__file__).resolve().parent.parent
    sys.path[:1] = [str(root), str(root / "scripts")]
    from vera_ccc_tools import bootstrap

    python = bootstrap.interpreter(VERBS.get(argv[0], ""))
    if python != sys.executable:
        bootstrap.become([python, *sys.argv])
    module = importlib.import_module(f"benchmarks.{argv[0]}")
    return int(module.main(list(argv[1:])) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
