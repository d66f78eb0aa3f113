"""The import graph in a SQLite file beside ccc's index. It is a cache: what is broken goes.

One table of files with what they say of themselves, one of edges, and one of the keys that each
file was resolved with. A path is kept as bytes, since a name need not be UTF-8.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

VERSION = 1
"""Of the tables and of what `imports` and `resolve` make; to be raised when either changes."""
NAME = ".vera-import-graph.db"
_APPLICATION = 0x76656772
_BUSY = 5.0
"""Seconds to wait for another process that writes."""

_TABLES = """
CREATE TABLE state (generation INTEGER, built INTEGER, whole INTEGER);
INSERT INTO state VALUES (0, 0, 0);
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, size INTEGER, mtime INTEGER, ctime INTEGER,
    language TEXT NOT NULL, facts TEXT NOT NULL, provides TEXT NOT NULL, problem INTEGER NOT NULL
);
CREATE TABLE edge (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, source);
CREATE TABLE lookup (key INTEGER, file INTEGER, PRIMARY KEY (key, file)) WITHOUT ROWID;
CREATE INDEX lookup_file ON lookup (file);
"""


class Broken(Exception):
    """The file is no database of ours, or of another version."""


class Busy(Exception):
    """Another process writes, and took too long."""


class Signature(NamedTuple):
    """What tells one state of a file from another: bytes, and times in nanoseconds."""

    size: int
    mtime: int
    ctime: int


class Marks(NamedTuple):
    """What the graph as a whole is.

    Attributes:
        generation: Another after each change.
        built: Whether it was ever whole.
        whole: Whether all that was read is resolved; not so in the middle of a build.
    """

    generation: int
    built: bool
    whole: bool


class Row(NamedTuple):
    """A file as it was read; a manifest's language is empty, and its facts are a `Manifest`."""

    path: str
    signature: Signature
    language: str
    facts: str
    provides: str = ""
    problem: bool = False


class Store:
    """The database, by one connection for all threads of this process.

    It is in memory where its directory cannot be written, or is not there.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.RLock()
        self._path = path
        self._opened: tuple[int, ...] = ()
        self._connection: sqlite3.Connection | None = None

    @property
    def path(self) -> Path | None:
        """Where it is; None in memory."""
        return self._path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone.

        Raises:
            Broken: It has to be thrown away, see `discard`.
            Busy: It is not to be had now.
        """
        with self._lock:
            try:
                yield self._connected()
            except sqlite3.DatabaseError as error:
                if _is_busy(error):
                    raise Busy(str(error)) from error
                raise Broken(str(error)) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection in a transaction, which ends with the block or is undone."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("UPDATE state SET generation = generation + 1")
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def discard(self) -> None:
        """Throw the database away; one in a file that cannot be removed is given up for memory."""
        with self._lock:
            self.close()
            if self._path is None:
                return
            for end in ("", "-wal", "-shm"):
                try:
                    Path(f"{self._path}{end}").unlink(missing_ok=True)
                except OSError:
                    self._path = None
                    return

    def load(self, image: bytes) -> None:
        """Take over a database that another process made in memory.

        Raises:
            Broken: It is none.
        """
        made = _connection(":memory:")
        try:
            made.deserialize(image)
            _check(made)
        except sqlite3.DatabaseError as error:
            made.close()
            raise Broken(str(error)) from error
        with self._lock:
            self.close()
            self._connection = made

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._path is not None and _identity(self._path) != self._opened:
            self.close()  # another process removed it, or made it anew
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if self._path is not None and os.access(self._path.parent, os.W_OK):
            try:
                return self._on_disk(self._path)
            except sqlite3.OperationalError as error:
                if _is_busy(error):
                    raise
        self._path = None  # a disk that cannot be written
        made = _connection(":memory:")
        _prepare(made)
        return made

    def _on_disk(self, path: Path) -> sqlite3.Connection:
        made = _connection(str(path))
        try:
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = NORMAL")
            _prepare(made)
        except BaseException:
            made.close()
            raise
        self._opened = _identity(path)
        return made


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    # The low byte is the primary code (https://sqlite.org/rescode.html).
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _connection(name: str) -> sqlite3.Connection:
    return sqlite3.connect(name, timeout=_BUSY, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables in a new database; take an old one only when it is ours.

    Raises:
        sqlite3.DatabaseError: It is not.
    """
    if not _is_empty(connection):
        _check(connection)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):  # still: another process may make it too
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    finally:
        connection.execute("COMMIT")
    _check(connection)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _check(connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) != (_APPLICATION, VERSION):
        raise sqlite3.DatabaseError(f"version {version}")


def _identity(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino)


# --- questions and changes -----------------------------------------------------------------------


def marks(connection: sqlite3.Connection) -> Marks:
    """How far the graph is."""
    generation, built, whole = connection.execute(
        "SELECT generation, built, whole FROM state"
    ).fetchone()
    return Marks(generation, bool(built), bool(whole))


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many source files and how many edges there are."""
    (files,) = connection.execute("SELECT count(*) FROM file WHERE language != ''").fetchone()
    (edges,) = connection.execute("SELECT count(*) FROM edge").fetchone()
    return files, edges


def problems(connection: sqlite3.Connection) -> list[str]:
    """The files that could not be read."""
    rows = connection.execute("SELECT path FROM file WHERE problem ORDER BY path")
    return [os.fsdecode(path) for (path,) in rows]


def related(connection: sqlite3.Connection, path: str, *, backwards: bool) -> list[str]:
    """What *path* imports or, *backwards*, what imports it, sorted."""
    near, far = ("target", "source") if backwards else ("source", "target")
    rows = connection.execute(
        f"SELECT other.path FROM file AS this JOIN edge ON edge.{near} = this.id"  # noqa: S608
        f" JOIN file AS other ON other.id = edge.{far} WHERE this.path = ?",
        (os.fsencode(path),),
    )
    return sorted(os.fsdecode(found) for (found,) in rows)


def known(
    connection: sqlite3.Connection,
) -> tuple[dict[str, Signature], dict[str, tuple[str, ...]]]:
    """The signatures of all files, and what each source file provides."""
    signatures: dict[str, Signature] = {}
    provides: dict[str, tuple[str, ...]] = {}
    for path, size, mtime, ctime, language, provided in connection.execute(
        "SELECT path, size, mtime, ctime, language, provides FROM file"
    ):
        name = os.fsdecode(path)
        signatures[name] = Signature(size, mtime, ctime)
        if language:
            provides[name] = tuple(json.loads(provided)) if provided else ()
    return signatures, provides


def manifests(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The manifests, with what they say."""
    rows = connection.execute("SELECT path, facts FROM file WHERE language = ''")
    return [(os.fsdecode(path), facts) for path, facts in rows]


def facts_of(connection: sqlite3.Connection, path: str) -> str | None:
    """What a file says of itself, as it was last read."""
    found = connection.execute("SELECT facts FROM file WHERE path = ?", (os.fsencode(path),))
    row = found.fetchone()
    return None if row is None else str(row[0])


def facts(
    connection: sqlite3.Connection, wanted: tuple[set[str], set[int]] | None
) -> Iterator[tuple[str, str, str]]:
    """Path, language and facts of the source files at some paths or resolved with some keys."""
    select = "SELECT path, language, facts FROM file WHERE language != ''"
    if wanted is None:
        rows = connection.execute(select)
    else:
        paths, keys = wanted
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (key, path)")
        connection.execute("DELETE FROM wanted")
        connection.executemany("INSERT INTO wanted VALUES (?, NULL)", ((key,) for key in keys))
        connection.executemany(
            "INSERT INTO wanted VALUES (NULL, ?)", ((os.fsencode(path),) for path in paths)
        )
        rows = connection.execute(
            f"{select} AND (path IN (SELECT path FROM wanted) OR id IN"  # noqa: S608
            " (SELECT file FROM lookup WHERE key IN (SELECT key FROM wanted)))"
        )
    return ((os.fsdecode(path), language, text) for path, language, text in rows)


def mark(connection: sqlite3.Connection, *, whole: bool) -> None:
    """Say whether all that was read is resolved; a graph that once was stays built."""
    connection.execute("UPDATE state SET whole = ?, built = built OR ?", (whole, whole))


def put(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Add files, or replace what is known of them; their edges stay."""
    connection.executemany(
        "INSERT INTO file (path, size, mtime, ctime, language, facts, provides, problem)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET size = excluded.size,"
        " mtime = excluded.mtime, ctime = excluded.ctime, facts = excluded.facts,"
        " provides = excluded.provides, problem = excluded.problem",
        (
            (
                os.fsencode(row.path),
                *row.signature,
                row.language,
                row.facts,
                row.provides,
                row.problem,
            )
            for row in rows
        ),
    )


def remove(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Forget files, with their edges."""
    for path in paths:
        found = connection.execute("SELECT id FROM file WHERE path = ?", (os.fsencode(path),))
        for (number,) in found.fetchall():
            connection.execute("DELETE FROM edge WHERE source = ? OR target = ?", (number, number))
            connection.execute("DELETE FROM lookup WHERE file = ?", (number,))
            connection.execute("DELETE FROM file WHERE id = ?", (number,))


def connect(
    connection: sqlite3.Connection, path: str, targets: Iterable[str], keys: Iterable[int]
) -> None:
    """Set what a file imports, and what that was resolved with."""
    (number,) = connection.execute(
        "SELECT id FROM file WHERE path = ?", (os.fsencode(path),)
    ).fetchone()
    connection.execute("DELETE FROM edge WHERE source = ?", (number,))
    connection.execute("DELETE FROM lookup WHERE file = ?", (number,))
    connection.executemany(
        "INSERT INTO edge SELECT ?, id FROM file WHERE path = ?",
        ((number, os.fsencode(target)) for target in targets),
    )
    connection.executemany("INSERT INTO lookup VALUES (?, ?)", ((key, number) for key in keys))
