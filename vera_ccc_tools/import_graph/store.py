"""The import graph as tables of a cache beside ccc's index.

One table of files with what they say of themselves, one of edges, and one of the keys that each
file was resolved with. A path is kept as bytes, since a name need not be UTF-8.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from vera_ccc_tools.system.cache_db import CacheDatabase

VERSION = 2
"""Of the tables and of what `imports` and `resolve` make; to be raised when either changes."""
NAME = ".vera-import-graph.db"

TABLES = """
CREATE TABLE state (generation INTEGER, built INTEGER, whole INTEGER);
INSERT INTO state VALUES (0, 0, 0);
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, size INTEGER, mtime INTEGER, ctime INTEGER,
    language TEXT NOT NULL, facts TEXT NOT NULL, provides TEXT NOT NULL
);
CREATE TABLE edge (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, source);
CREATE TABLE lookup (key INTEGER, file INTEGER, PRIMARY KEY (key, file)) WITHOUT ROWID;
CREATE INDEX lookup_file ON lookup (file);
"""


class Signature(NamedTuple):
    """What distinguishes one state of a file from another: bytes, and times in nanoseconds."""

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
    provides: tuple[str, ...]


def opened(path: Path) -> CacheDatabase:
    """The database at *path*."""
    return CacheDatabase(path, TABLES, VERSION)


# --- questions and changes -----------------------------------------------------------------------


def marks(connection: sqlite3.Connection) -> Marks:
    """How far the graph is."""
    row = connection.execute("SELECT generation, built, whole FROM state").fetchone()
    return Marks(row[0], bool(row[1]), bool(row[2]))


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many source files and how many edges there are."""
    (files,) = connection.execute("SELECT count(*) FROM file WHERE language != ''").fetchone()
    (edges,) = connection.execute("SELECT count(*) FROM edge").fetchone()
    return files, edges


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


def change(connection: sqlite3.Connection) -> None:
    """Count a change."""
    connection.execute("UPDATE state SET generation = generation + 1")


def mark(connection: sqlite3.Connection, *, whole: bool) -> None:
    """Say whether all that was read is resolved; a graph that once was stays built."""
    connection.execute("UPDATE state SET whole = ?, built = built OR ?", (whole, whole))


def put(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Add files, or replace what is known of them; their edges stay."""
    connection.executemany(
        "INSERT INTO file (path, size, mtime, ctime, language, facts, provides)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET size = excluded.size,"
        " mtime = excluded.mtime, ctime = excluded.ctime, facts = excluded.facts,"
        " provides = excluded.provides",
        (
            (os.fsencode(row.path), *row.signature, row.language, row.facts, _listed(row.provides))
            for row in rows
        ),
    )


def _listed(names: tuple[str, ...]) -> str:
    return json.dumps(names) if names else ""


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
