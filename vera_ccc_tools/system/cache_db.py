"""A cache in a SQLite file: what is broken or of another version is thrown away.

Any number of threads and processes may use one file. Whoever uses it can do without: a disk that
cannot be written, or a directory that is not there, means that nothing is kept.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 2.0
"""Seconds to wait for another process that writes."""
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BROKEN = {
    sqlite3.SQLITE_ERROR,  # other tables
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_NOTADB,
}


class Unusable(Exception):
    """The cache cannot be used."""


class Busy(Unusable):
    """Another process writes, and takes too long."""


class Broken(Unusable):
    """The file was broken, or not of this version; it is thrown away, the next use makes it."""


class _OtherVersion(sqlite3.DatabaseError):
    sqlite_errorcode = sqlite3.SQLITE_MISMATCH


class CacheDatabase:
    """One connection for all threads of this process, opened at the first use."""

    def __init__(self, path: Path, tables: str, version: int) -> None:
        """*tables* are the statements that make a new database, each ended by ``;`` and LF."""
        self.path = path
        self._tables = tables
        self._version = version
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone.

        Raises:
            Unusable: Or `Broken`, or `Busy`; also for what the block does.
        """
        with self._lock:
            try:
                yield self._connected()
            except (sqlite3.DatabaseError, OSError) as error:
                # The low byte is the primary code (https://sqlite.org/rescode.html).
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    raise Busy(str(error)) from error
                if code not in _BROKEN:
                    raise Unusable(f"{self.path.name}: {error}") from error
                self._discard()
                raise Broken(str(error)) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection in a transaction, which ends with the block or is undone."""
        with self.reading() as connection, _transaction(connection):
            yield connection

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and not self._is_there():
            self.close()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _is_there(self) -> bool:
        """Whether the file is still the one that was opened: another process may remove it."""
        with suppress(OSError):
            return self._opened is not None and os.path.samestat(self._opened, self.path.stat())
        return False

    def _open(self) -> sqlite3.Connection:
        if self.path.is_symlink():  # a repository may bring one that leads out of it
            raise OSError("it is a symbolic link")
        made = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            made.execute("PRAGMA trusted_schema = OFF")
            _keep_a_write_ahead_log(made)
            made.execute("PRAGMA synchronous = NORMAL")
            self._prepare(made)
            self._opened = self.path.stat()
        except BaseException:
            made.close()
            raise
        return made

    def _prepare(self, made: sqlite3.Connection) -> None:
        if self._version_of(made) == self._version:
            return
        with _transaction(made):  # what is seen in it is of one moment: others make it too
            version = self._version_of(made)
            if version == self._version:
                return
            if made.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise _OtherVersion(f"version {version}")
            for statement in self._tables.split(";\n"):
                made.execute(statement)
            made.execute(f"PRAGMA user_version = {self._version}")

    def _version_of(self, made: sqlite3.Connection) -> int:
        (version,) = made.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _discard(self) -> None:
        self.close()
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{self.path}{end}").unlink()


def _keep_a_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let one write while others read.

    Of two that change the mode of a new file at once, SQLite refuses one without a wait. A
    transaction waits for the other to be done with it.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
        else:
            return
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
