"""Builds the import graph in a process of its own: ``python -m …import_graph.build ROOT DATABASE``.

At a low priority, so that a search beside it does not wait.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.import_graph.store import opened
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.cache_db import Broken, Busy, Unusable
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

_TRIES = 10


def main(argv: Sequence[str]) -> int:
    """Bring the graph of the project *argv* names up to date; exit status 1 where that failed."""
    _be_nice()
    root, path = map(Path, argv)
    store = opened(path)
    try:
        with _alone(path):
            _build(Updater(root, Environment(), store))
    except (Failure, Unusable) as error:
        sys.stderr.write(f"{getattr(error, 'message', error)}\n")
        return 1
    finally:
        store.close()
    return 0


def _build(updater: Updater) -> None:
    for _ in range(_TRIES):
        # Broken: it is made anew. Busy: a call of another process brought one file up to date.
        with suppress(Broken, Busy):
            updater.update(Cancel(), whole=True)
            return
    raise Unusable("the database is used by others all the time")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One build at a time: another one's work is there when this one comes to look."""
    from filelock import FileLock

    lock = FileLock(path.with_suffix(".lock"))
    with suppress(NotImplementedError, OSError):  # where there are no locks, both work
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _be_nice() -> None:
    import psutil

    with suppress(psutil.Error, OSError):
        if sys.platform == "win32":
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            os.nice(15)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
