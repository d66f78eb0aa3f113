"""A cache in a SQLite file: shared, thrown away when it is broken, done without when it must be."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from helpers import POSIX
from vera_ccc_tools.system import cache_db
from vera_ccc_tools.system.cache_db import Broken, Busy, CacheDatabase, Unusable

TABLES = """
CREATE TABLE word (text TEXT NOT NULL);
CREATE INDEX word_text ON word (text);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


def opened(path: Path, version: int = 1) -> CacheDatabase:
    return CacheDatabase(path, TABLES, version)


def put(cache: CacheDatabase, *words: str) -> None:
    with cache.writing() as connection:
        connection.executemany("INSERT INTO word VALUES (?)", [(word,) for word in words])


def words(cache: CacheDatabase) -> list[str]:
    with cache.reading() as connection:
        return [word for (word,) in connection.execute("SELECT text FROM word ORDER BY text")]


def test_what_was_put_in_is_there_for_the_next_one(path: Path) -> None:
    one = opened(path)
    put(one, "b", "a")
    assert words(opened(path)) == words(one) == ["a", "b"]
    one.close()
    assert words(one) == ["a", "b"]


def test_a_block_that_fails_leaves_nothing(path: Path) -> None:
    cache = opened(path)
    put(cache, "a")

    def fail() -> None:
        with cache.writing() as connection:
            connection.execute("INSERT INTO word VALUES ('b')")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        fail()
    assert words(cache) == ["a"]


def test_many_may_make_it_at_once(tmp_path: Path) -> None:
    files = [tmp_path / f"cache{number}.db" for number in range(30)]
    with ThreadPoolExecutor(8) as pool:
        for path in files:
            list(pool.map(put, [opened(path) for _ in range(8)], "01234567"))
    assert all(words(opened(path)) == list("01234567") for path in files)


def test_a_reader_of_a_new_file_is_waited_for_but_not_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE word (text TEXT NOT NULL)")
        other.execute("PRAGMA user_version = 1")
        other.execute("BEGIN")
        other.execute("SELECT * FROM word").fetchall()
        monkeypatch.setattr(cache_db, "PATIENCE", 0.01)
        with pytest.raises(Busy):
            words(opened(path))
        monkeypatch.setattr(cache_db, "PATIENCE", 60)
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(words, opened(path))
            other.execute("COMMIT")
            assert reading.result() == []


@pytest.mark.parametrize("content", [b"no database " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_thrown_away(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    cache = opened(path)
    with pytest.raises(Broken):
        words(cache)
    put(cache, "a")
    assert words(cache) == ["a"]


def test_a_file_that_breaks_in_the_middle_is_thrown_away(path: Path) -> None:
    cache = opened(path)
    put(cache, *map(str, range(2000)))
    cache.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(Broken):
        words(cache)
    assert words(cache) == []


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE word (text TEXT); PRAGMA user_version = 2",
        "CREATE TABLE other (text TEXT); PRAGMA user_version = 1",
        "CREATE VIEW other AS SELECT 1",
    ],
)
def test_a_file_of_another_version_is_thrown_away(path: Path, statements: str) -> None:
    database = sqlite3.connect(path)
    database.executescript(statements)
    database.close()
    cache = opened(path)
    with pytest.raises(Broken):
        words(cache)
    assert words(cache) == []


def test_a_file_that_is_removed_or_replaced_is_opened_again(path: Path) -> None:
    cache, other = opened(path), opened(path)
    put(cache, "a")
    for each in path.parent.iterdir():
        each.unlink()
    put(other, "b")
    assert words(cache) == ["b"]


def test_a_writer_is_not_waited_for_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_db, "PATIENCE", 0.01)
    cache, other = opened(path), opened(path)
    put(cache, "a")
    with other.writing():
        assert words(cache) == ["a"]
        with pytest.raises(Busy):
            put(cache, "b")
    put(cache, "b")


def test_without_a_place_it_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    for path in (tmp_path / "none" / "cache.db", tmp_path / "directory"):
        with pytest.raises(Unusable):
            words(opened(path))
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not POSIX, reason="links need a right there")
@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_no_link_is_followed(path: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "there").write_bytes(b"someone's own")
    path.symlink_to(tmp_path / target)
    with pytest.raises(Unusable, match="symbolic link"):
        put(opened(path), "a")
    assert not (tmp_path / "nowhere").exists()
    assert (tmp_path / "there").read_bytes() == b"someone's own"
