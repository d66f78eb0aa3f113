"""How an executable is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers import POSIX
from vera_ccc_tools.system.environment import Environment


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and the current directory, in which somebody has put a ``ccc``."""
    for place in (tmp_path / "project", tmp_path / "project" / "bin"):
        place.mkdir()
        _program(place)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def _program(directory: Path, name: str = "ccc") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / (name if POSIX else f"{name}.exe")
    path.write_bytes(b"#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("entries", [[""], ["."], ["bin"], ["", ".", "./bin", "bin/../bin"], []])
def test_empty_and_relative_entries_of_path_are_passed_over(
    planted: Path, entries: list[str]
) -> None:
    assert Environment({"PATH": os.pathsep.join(entries)}).executable("ccc") is None
    good = _program(planted / "good")
    environ = {"PATH": os.pathsep.join([*entries, str(good.parent)])}
    assert Environment(environ).executable("ccc") == good


def test_directories_given_besides_come_after_those_of_path(planted: Path) -> None:
    one, two = _program(planted / "one"), _program(planted / "two")
    assert Environment({}).executable("ccc", [two.parent]) == two
    environ = {"PATH": str(one.parent)}
    assert Environment(environ).executable("ccc", [two.parent]) == one


def test_what_is_no_executable_file_is_passed_over(tmp_path: Path) -> None:
    good = _program(tmp_path / "good")
    (tmp_path / "directory" / good.name).mkdir(parents=True)
    entries = [tmp_path / "directory", tmp_path / "missing", tmp_path / ("x" * 5000), good]
    if POSIX:
        _program(tmp_path / "plain").chmod(0o644)
        (tmp_path / "loop").symlink_to("loop")
        entries += [tmp_path / "plain", tmp_path / "loop"]
    environ = {"PATH": os.pathsep.join(map(str, [*entries, good.parent]))}
    assert Environment(environ).executable("ccc") == good
