"""Chunks that were served are found again: in another process, in a file that changed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from core_helpers import places
from helpers import ROOT
from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import served, units
from vera_ccc_tools.chunks.chunk import Chunk
from vera_ccc_tools.chunks.served import ServedChunks

SOURCE = '''\
def one():
    """First."""
    return 1


class Two:
    def get(self):
        return 2

    def put(self, x):
        self.x = x
'''
WINDOW = Chunk("notes.txt", 3, 4, "module", "module", "third line\nfourth line")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".cocoindex_code").mkdir()
    return tmp_path


def kept(root: Path) -> Path:
    return root / ".cocoindex_code" / served.FILE


def chunk(name: str, source: str = SOURCE, path: str = "a.py") -> Chunk:
    return next(
        each
        for each in units.every_unit(path, None, source.encode())
        if each.outline is not None and each.outline.name == name
    )


# --- remembering ---------------------------------------------------------------------------------


def test_a_chunk_is_found_by_its_id_after_a_restart(root: Path) -> None:
    one = chunk("one")
    ServedChunks(places().index(root)).remember([one, WINDOW])
    again = ServedChunks(places().index(root))
    assert again.find(one.id) == served.place(one)
    assert again.find(WINDOW.id) == served.place(WINDOW)
    assert again.find("0" * 16) is None


def test_a_chunk_is_found_while_another_process_serves_its_own(root: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from vera_ccc_tools.chunks.chunk import Chunk\n"
        "from vera_ccc_tools.chunks.served import ServedChunks\n"
        f"served = ServedChunks(Path({str(places().index(root))!r}))\n"
        "for number in range(20):\n"
        "    served.remember([Chunk('b.txt', number, number, 'module', 'module', 'x')])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as other:
        ours = [Chunk("a.txt", number, number, "module", "module", "x") for number in range(20)]
        here = ServedChunks(places().index(root))
        for each in ours:
            here.remember([each])
        assert other.wait(30) == 0
    theirs = [Chunk("b.txt", number, number, "module", "module", "x") for number in range(20)]
    later = ServedChunks(places().index(root))
    found = [later.find(each.id) for each in (*ours, *theirs)]
    assert [each and each.path for each in found] == ["a.txt"] * 20 + ["b.txt"] * 20


def test_several_threads_may_serve_at_once(root: Path) -> None:
    here = ServedChunks(places().index(root))
    all_of = [Chunk("a.txt", number, number, "module", "module", "x") for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: here.remember([each]), all_of))
    assert all(here.find(each.id) for each in all_of)


def test_only_the_latest_chunks_are_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "KEPT", 5)
    here = ServedChunks(places().index(root))
    all_of = [Chunk("a.txt", number, number, "module", "module", "x") for number in range(8)]
    here.remember(all_of[:5])
    here.remember(all_of[:1])  # once more, so it is among the latest
    here.remember(all_of[5:])
    for each in (here, ServedChunks(places().index(root))):
        assert [bool(each.find(one.id)) for one in all_of] == [True] + [False] * 3 + [True] * 4
    with sqlite3.connect(kept(root)) as database:
        assert database.execute("SELECT count(*) FROM served").fetchone() == (5,)
    database.close()


# --- a file that is no help ----------------------------------------------------------------------


def test_a_broken_file_is_made_anew(root: Path) -> None:
    kept(root).write_bytes(b"no database " * 500)
    assert ServedChunks(places().index(root)).find(WINDOW.id) is None
    ServedChunks(places().index(root)).remember([WINDOW])
    assert ServedChunks(places().index(root)).find(WINDOW.id) is not None


@pytest.mark.parametrize(
    "row",
    [None, b"\0", "", "[", "{}", "[1]", json.dumps(["a", 1, 2, "strange", *"abcdef"])],
)
def test_rows_that_were_never_written_are_no_chunks(root: Path, row: object) -> None:
    ServedChunks(places().index(root)).remember([WINDOW])
    with sqlite3.connect(kept(root)) as database:
        database.execute("UPDATE served SET place = ?", [row])
    database.close()
    assert ServedChunks(places().index(root)).find(WINDOW.id) is None


def test_without_a_place_for_the_file_the_chunks_are_kept_in_memory(tmp_path: Path) -> None:
    here = ServedChunks(places().index(tmp_path))  # nothing is indexed here
    here.remember([WINDOW])
    assert here.find(WINDOW.id) == served.place(WINDOW)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_no_failure(root: Path) -> None:
    kept(root).mkdir()
    here = ServedChunks(places().index(root))
    here.remember([WINDOW])
    assert here.find(WINDOW.id) == served.place(WINDOW)
    assert kept(root).is_dir()


def test_a_file_may_have_a_name_that_is_no_text(root: Path) -> None:
    odd = replace(WINDOW, path="\udcff.txt")
    ServedChunks(places().index(root)).remember([odd])
    assert ServedChunks(places().index(root)).find(odd.id) == served.place(odd)


# --- what stands there now -----------------------------------------------------------------------


def now(was: Chunk, source: str | None) -> tuple[int, str] | None:
    """Where the chunk begins in the *source* of today, and its text."""
    files = {} if source is None else {was.path: source.encode()}
    found = served.current(served.place(was), files.get)
    return None if found is None else (found.start_line, found.content)


@pytest.mark.parametrize("name", ["one", "Two", "Two.get", "Two.put"])
def test_an_unchanged_file_gives_the_very_chunk(name: str) -> None:
    was = chunk(name)
    found = served.current(served.place(was), {"a.py": SOURCE.encode()}.get)
    assert found == was
    assert found.outline == was.outline


def test_a_unit_that_moved_is_found_by_its_name() -> None:
    assert now(chunk("Two.get"), f"import os\n\n{SOURCE}") == (9, chunk("Two.get").content)


def test_a_unit_that_was_edited_is_given_as_it_is_now() -> None:
    edited = SOURCE.replace("return 2", "value = 2\n        return value")
    assert now(chunk("Two.get"), edited) == (
        7,
        "    def get(self):\n        value = 2\n        return value",
    )
    signature = SOURCE.replace("def get(self)", "def get(self, default=None)")
    assert now(chunk("Two.get"), signature) == (
        7,
        "    def get(self, default=None):\n        return 2",
    )


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("def get", "def fetch"),
        SOURCE.replace("class Two", "class Three"),  # another class's method is not this one
        "",
        None,
    ],
)
def test_a_unit_that_is_gone_is_not_replaced_by_another(source: str | None) -> None:
    assert now(chunk("Two.get"), source) is None


def test_a_unit_is_parsed_again_as_what_ccc_was_told_its_file_is() -> None:
    source = "<?php\nfunction one() {\n  return 1;\n}\n"
    window = Hit("a.inc", "php", source.strip(), 1, 4, 0.5)
    (result,) = units.serve([window], {"a.inc": source.encode()}.get)
    assert result.chunk.kind == "function_definition"
    assert now(result.chunk, source.replace("return 1", "return 2")) == (
        2,
        "function one() {\n  return 2;\n}",
    )


def test_of_several_units_with_one_name_the_same_one_is_taken() -> None:
    source = (
        "class A {\n  int f(int x) {\n    return x + 1;\n  }\n\n"
        "  int f(long x) {\n    return 2;\n  }\n}\n"
    )
    second = list(units.every_unit("A.java", None, source.encode()))[2]
    assert now(second, f"\n{source}") == (7, second.content)
    edited = source.replace("return 2", "return 3")
    assert now(second, edited) == (6, second.content.replace("return 2", "return 3"))
    assert now(second, edited.replace("long x", "char x")) is None


def test_of_units_that_look_alike_the_same_one_is_taken() -> None:
    source = "it('works', () => {\n  one();\n});\nit('works', () => {\n  two();\n});\n"
    second = list(units.every_unit("a.js", None, source.encode()))[1]
    assert now(second, f"\n{source}") == (5, second.content)
    assert now(second, source.replace("two", "three")) is None


def test_a_window_is_found_by_its_text() -> None:
    text = "first\nsecond\nthird line\nfourth line\nfifth\n"
    assert now(WINDOW, text) == (3, WINDOW.content)
    assert now(WINDOW, f"new\n{text}") == (4, WINDOW.content)
    assert now(WINDOW, f"{text}\n{text}") == (3, WINDOW.content)
    assert now(replace(WINDOW, start_line=8), f"{text}\n{text}") == (9, WINDOW.content)
    assert now(WINDOW, text.replace("fourth", "4th")) is None
