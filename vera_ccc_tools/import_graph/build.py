"""Builds the import graph in a process of its own: ``python -m …graph_build ROOT [DATABASE]``.

At a low priority, so that a search beside it does not wait. Without a database to write, the whole
of it is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.import_graph.store import Broken, Busy, Store
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.tasks import Cancel

_TRIES = 10


def main(argv: Sequence[str]) -> int:
    """Bring the graph of the project *argv* names up to date; exit status 1 where that failed."""
    _be_nice()
    root, *named = argv
    store = Store(Path(named[0]) if named else None)
    try:
        with _alone(store.path):
            _build(Updater(Path(root), os.environ, store), store)
        if not named:
            with store.reading() as connection:
                sys.stdout.buffer.write(connection.serialize())
    except Failure as failure:
        sys.stderr.write(f"{failure.message}\n")
        return 1
    finally:
        store.close()
    return 0


def _build(updater: Updater, store: Store) -> None:
    for _ in range(_TRIES):
        try:
            updater.update(Cancel(), whole=True)
        except Broken:
            store.discard()
        except Busy:  # a call of another process brought one file up to date
            continue
        else:
            return
    raise Failure("graph_busy", "The import graph's database is used by others all the time.")


@contextmanager
def _alone(path: Path | None) -> Iterator[None]:
    """One build at a time: another one's work is there when this one comes to look."""
    if path is None:
        yield
        return
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
