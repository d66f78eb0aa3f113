"""Files as one call reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers import POSIX, write_file
from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import reading, units
from vera_ccc_tools.chunks.reading import Reading
from vera_ccc_tools.chunks.served import current, place


def test_a_file_is_read_once_in_a_call(tmp_path: Path) -> None:
    write_file(tmp_path / "a.py", "x = 1\n")
    read = Reading(tmp_path, tmp_path)
    assert read("a.py") == b"x = 1\n"
    write_file(tmp_path / "a.py", "x = 2\n")
    assert read("a.py") == b"x = 1\n"
    assert read.tokens("a.py") == 1


@pytest.mark.parametrize(
    "path",
    ["gone.py", "../outside.py", "sub/../../outside.py", "..\\outside.py", "C:\\a.py", "", "a\0b"],
)
def test_what_cannot_be_read_is_nothing(path: str, tmp_path: Path) -> None:
    write_file(tmp_path / "outside.py", "secret = 1\n")
    (tmp_path / "root").mkdir()
    read = Reading(tmp_path / "root", tmp_path / "root")
    assert read(path) is None
    assert read.units(path) == ()
    assert read.tokens(path) == 0


def test_an_absolute_path_is_not_followed(tmp_path: Path) -> None:
    outside = write_file(tmp_path / "outside.py", "secret = 1\n")
    assert Reading(tmp_path / "root", tmp_path)(outside.as_posix()) is None


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE", 10)
    write_file(tmp_path / "a.py", "x" * 12)
    read = Reading(tmp_path, tmp_path)
    assert read("a.py") is None
    assert read.tokens("a.py") == 3


def test_a_chunk_of_a_large_file_is_read_again(tmp_path: Path) -> None:
    lines = [f"{number:0100d}" for number in range(50_000)]
    write_file(tmp_path / "data.py", "\n".join(lines))
    read = Reading(tmp_path, tmp_path)
    hit = Hit("data.py", "python", "\n".join(lines[40_000:40_008]), 40_001, 40_008, 0.5)
    (found,) = units.serve([hit], read)
    assert current(place(found.chunk), read) == found.chunk


@pytest.mark.skipif(not POSIX, reason="Windows has no pipes in directories")
def test_a_pipe_in_a_file_s_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    read = Reading(tmp_path, tmp_path)
    assert read("a.py") is None
    assert read.tokens("a.py") == 0


def test_paths_are_shown_from_the_served_directory(tmp_path: Path) -> None:
    read = Reading(tmp_path, tmp_path / "docs")
    assert read.shown("src/a.py") == "../src/a.py"
    assert read.shown("docs/b\n.md") == "b .md"
