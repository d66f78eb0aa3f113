"""``leftovers.py TOKEN``: end the processes that carry TOKEN in their environment, and name them.

Runs in a Python that has psutil. Exit 0 when there was none, 1 when some had to be ended.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

import psutil

SECONDS = 5.0
"""How long a process that is about to end by itself may take."""


def find(token: str) -> list[psutil.Process]:
    """The processes with *token* in a value of their environment, ourselves and above left out."""
    own = {process.pid for process in [psutil.Process(), *psutil.Process().parents()]}
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid not in own and any(token in v for v in process.environ().values()):
                found.append(process)
        except (psutil.Error, OSError):
            continue  # another user's, or gone
    return found


def main(argv: Sequence[str]) -> int:
    """End and name what carries the token."""
    _, alive = psutil.wait_procs(find(argv[0]), timeout=SECONDS)
    for process in alive:
        try:
            print(f"{process.pid}: {shlex.join(process.cmdline())}")
            process.kill()
        except psutil.Error:
            continue
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
