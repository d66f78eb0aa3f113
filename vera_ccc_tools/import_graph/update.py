"""Brings the import graph up to date: what changed is read, what depends on it resolved again."""

from __future__ import annotations

import codecs
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from vera_ccc_tools.chunks.grammars import language_of
from vera_ccc_tools.import_graph import manifests
from vera_ccc_tools.import_graph import store as graph_store
from vera_ccc_tools.import_graph.facts import Facts
from vera_ccc_tools.import_graph.files import FileSet, keys_of
from vera_ccc_tools.import_graph.listing import Lister
from vera_ccc_tools.import_graph.manifests import Scope
from vera_ccc_tools.import_graph.read import SourceReader
from vera_ccc_tools.import_graph.resolve import resolve
from vera_ccc_tools.import_graph.store import Marks, Row, Signature
from vera_ccc_tools.refresh.fingerprint import COARSE_TICK
from vera_ccc_tools.system.cache_db import Busy, CacheDatabase
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, running

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that is still read: more is generated or data."""
MOST_FILES = 40
MOST_BYTES = 256 * 1024
MOST_RESOLVED = 400
"""What a call may read and resolve itself, some tens of milliseconds; more is for a process."""
_AT_ONCE = 300
"""Files that are read between two commits of a build, which goes on from there if it is ended."""
FINE_TICK = 20_000_000
"""Nanoseconds within which two writes can leave the same time: some ticks of a kernel clock."""


class TooMuch(Exception):
    """The update takes longer than a call may wait."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How the disk differs from the graph.

    Attributes:
        changed: Files to read, with their present signatures.
        removed: Files that are gone.
        total: How many files there are.
    """

    changed: Mapping[str, Signature]
    removed: tuple[str, ...]
    total: int

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


@dataclass(slots=True)
class _Known:
    """What the database holds at one generation.

    Attributes:
        signatures: Of every file, by path.
        provides: The whole names of the types that a source file declares, by its path.
        scope: What imports are resolved in; made when it is needed.
    """

    marks: Marks
    signatures: dict[str, Signature]
    provides: dict[str, tuple[str, ...]]
    scope: Scope | None = None


@dataclass(slots=True)
class _Effect:
    """What a change of files means for the resolving.

    Attributes:
        paths: Source files that say another thing of themselves, or are new.
        keys: Of look-ups that may find another thing.
        everything: Whether every file has to be resolved again.
        scope: Whether the scope is another.
    """

    paths: set[str] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    everything: bool = False
    scope: bool = False


class Updater:
    """Updates the graph of one project; for one thread at a time."""

    def __init__(self, root: Path, environment: Environment, store: CacheDatabase) -> None:
        self._root = os.fspath(root)
        self._store = store
        self._lister = Lister(root, environment)
        self._reader = SourceReader()
        self._known: _Known | None = None

    def update(self, cancel: Cancel, *, whole: bool = False) -> None:
        """Bring the graph up to date; *whole* takes all the time that it needs.

        Raises:
            TooMuch: Not without *whole*; nothing was written.
            Failure: ``git_timeout``.
            Unusable: The database, or not now.
        """
        known = self._load()
        changes = self._look(known, cancel)
        few = _is_small(changes) and changes.total <= MOST_FILES
        many = not (known.marks.whole and _is_small(changes))
        if many and not whole and not few:
            raise TooMuch
        if changes or not known.marks.whole:
            self._known = None  # until it is known again what is written
            if many:
                self._in_parts(known, changes, cancel)
            else:
                self._at_once(known, changes, cancel, None if whole else MOST_RESOLVED)
            self._known = known

    def _load(self) -> _Known:
        with self._store.reading() as connection:
            marks = graph_store.marks(connection)
            if self._known is None or self._known.marks != marks:
                signatures, provides = graph_store.known(connection)
                self._known = _Known(marks, signatures, provides)
        return self._known

    def _look(self, known: _Known, cancel: Cancel) -> Changes:
        with running(self._lister.listing) as asked:  # git and this process look at the same time
            here = self._here(known.signatures, cancel)
            listed = asked.result(cancel)
        here = {path: now for path, now in here.items() if path in listed}
        here |= self._here(listed - known.signatures.keys(), cancel)
        changed = {
            path: Signature(*now) for path, now in here.items() if known.signatures.get(path) != now
        }
        return Changes(changed, tuple(sorted(known.signatures.keys() - here.keys())), len(here))

    def _here(self, paths: Iterable[str], cancel: Cancel) -> dict[str, tuple[int, int, int]]:
        here = {}
        for number, path in enumerate(paths):
            if number % 1000 == 0:
                cancel.check()
            with suppress(OSError):
                found = os.stat(f"{self._root}/{path}")  # noqa: PTH116 - thousands, at each call
                if stat.S_ISREG(found.st_mode):
                    here[path] = (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return here

    # --- a few files, in one transaction ---------------------------------------------------------

    def _at_once(self, known: _Known, changes: Changes, cancel: Cancel, most: int | None) -> None:
        rows = [self._read(*each, cancel) for each in changes.changed.items()]
        with self._writing(known) as connection:
            effect = _effect(connection, known, rows, changes.removed)
            graph_store.put(connection, rows)
            graph_store.remove(connection, changes.removed)
            _take_over(known, rows, changes.removed)
            if effect.scope:
                known.scope = None
            wanted = None if effect.everything else (effect.paths, effect.keys)
            todo = list(graph_store.facts(connection, wanted))
            if most is not None and len(todo) > most:
                raise TooMuch
            _resolve(connection, known, todo, cancel)

    # --- many ------------------------------------------------------------------------------------

    def _in_parts(self, known: _Known, changes: Changes, cancel: Cancel) -> None:
        """Read all that changed, a part at a time, then resolve everything."""
        changed = list(changes.changed.items())
        for start in range(0, len(changed), _AT_ONCE):
            rows = [self._read(*each, cancel) for each in changed[start : start + _AT_ONCE]]
            with self._writing(known) as connection:
                graph_store.put(connection, rows)
                graph_store.mark(connection, whole=False)
            _take_over(known, rows, ())
        with self._writing(known) as connection:
            graph_store.remove(connection, changes.removed)
            _take_over(known, (), changes.removed)
            known.scope = None
            _resolve(connection, known, graph_store.facts(connection, None), cancel)
            graph_store.mark(connection, whole=True)

    @contextmanager
    def _writing(self, known: _Known) -> Iterator[sqlite3.Connection]:
        with self._store.writing() as connection:
            if graph_store.marks(connection) != known.marks:
                raise Busy("another process wrote meanwhile")
            yield connection
            graph_store.change(connection)
            marks = graph_store.marks(connection)
        known.marks = marks

    def _read(self, path: str, signature: Signature, cancel: Cancel) -> Row:
        """Read one file; one that cannot be read says nothing until it changes."""
        cancel.check()
        language = language_of(path) or ""
        text = Facts().to_json() if language else "{}"
        provides: tuple[str, ...] = ()
        before = time.time_ns()
        with suppress(OSError, RecursionError):
            with open(f"{self._root}/{path}", "rb") as file:  # noqa: PTH123 - as above
                found = os.fstat(file.fileno())
                signature = Signature(found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                source = file.read(LARGEST + 1)
            if len(source) <= LARGEST and language:
                facts = self._reader.facts(language, _as_utf8(source)) or Facts()
                text, provides = facts.to_json(), facts.provides
            elif len(source) <= LARGEST:
                text = json.dumps(manifests.read(path, source), sort_keys=True)
        return Row(path, _settled(signature, before), language, text, provides)


def _is_small(changes: Changes) -> bool:
    size = sum(signature.size for signature in changes.changed.values())
    count = len(changes.changed) + len(changes.removed)
    return count <= MOST_FILES and size <= MOST_BYTES


def _settled(signature: Signature, before: int) -> Signature:
    """The signature, or one that no file has when a later write could leave the same one.

    *before* is when the reading began. On Windows ``ctime`` is when a file was made.
    """
    written = signature.ctime if os.name == "posix" else signature.mtime
    tick = FINE_TICK if written % 1_000_000 else COARSE_TICK
    return signature if written < before - tick else Signature(signature.size, 0, 0)


def _as_utf8(source: bytes) -> bytes:
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return source.decode("utf-16", "replace").encode("utf-8", "replace")
    return source.removeprefix(codecs.BOM_UTF8)


def _take_over(known: _Known, rows: Iterable[Row], removed: Iterable[str]) -> None:
    for row in rows:
        known.signatures[row.path] = row.signature
        if row.language:
            known.provides[row.path] = row.provides
    for path in removed:
        known.signatures.pop(path, None)
        known.provides.pop(path, None)


def _effect(
    connection: sqlite3.Connection, known: _Known, rows: Iterable[Row], removed: Iterable[str]
) -> _Effect:
    effect = _Effect()
    for row in rows:
        before = graph_store.facts_of(connection, row.path)
        if before == row.facts:
            continue
        if not row.language:
            effect.everything = effect.scope = True
            continue
        effect.paths.add(row.path)
        provided = known.provides.get(row.path, ())
        if before is None:
            effect.keys |= keys_of(row.path, row.provides)
        elif provided != row.provides:
            effect.keys |= keys_of(row.path, {*provided} ^ {*row.provides})
        effect.scope |= before is None or provided != row.provides
    for path in removed:
        effect.scope = True
        if path in known.provides:
            effect.keys |= keys_of(path, known.provides[path])
        else:
            effect.everything = True
    return effect


def _resolve(
    connection: sqlite3.Connection,
    known: _Known,
    files: Iterable[tuple[str, str, str]],
    cancel: Cancel,
) -> None:
    if known.scope is None:
        said = graph_store.manifests(connection)
        project = manifests.Manifests({path: json.loads(text) for path, text in said})
        known.scope = Scope(FileSet(known.provides), project)
    for path, language, facts in files:
        cancel.check()
        found = resolve(known.scope, path, language, Facts.from_json(facts))
        graph_store.connect(connection, path, found.targets, found.keys)
