"""Measurements by name: ``python3 scripts/bench.py NAME …`` runs ``bench_NAME.py``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

VERBS = {"graph": "mcp"}
"""The verb whose dependencies a measurement needs beyond the usual ones."""


def main(argv: Sequence[str]) -> int:
    """Run the measurement that the first argument names, with the others."""
    here = Path(__file__).resolve().parent
    names = sorted(path.stem.removeprefix("bench_") for path in here.glob("bench_*.py"))
    usage = f"usage: bench.py {'|'.join(names)} …\n`bench.py NAME --help` tells its options."
    if argv and argv[0] in {"-h", "--help"}:
        print(usage)
        return 0
    if not argv or argv[0] not in names:
        print(usage, file=sys.stderr)
        return 2
    sys.path[:0] = [str(here), str(here.parent)]
    from vera_ccc_tools import bootstrap

    python = bootstrap.interpreter(VERBS.get(argv[0], ""))
    if python != sys.executable:
        bootstrap.become([python, *sys.argv])
    module = importlib.import_module(f"bench_{argv[0]}")
    return int(module.main(list(argv[1:])) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
