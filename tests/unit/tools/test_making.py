"""What may be made a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import POSIX
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.tools import making


def refused(directory: Path) -> str:
    try:
        making.check_place(directory)
    except Failure as failure:
        return failure.code
    return ""


@pytest.mark.skipif(not POSIX, reason="its own directories")
@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("/", "system_directory"),
        ("/usr", "system_directory"),
        ("/usr/lib", "system_directory"),
        ("/etc/ssl/certs", "system_directory"),
        ("/home", "system_directory"),
    ],
)
def test_directories_of_the_system_are_refused(place: str, code: str) -> None:
    assert refused(Path(place)) == code


def test_so_is_a_directory_without_git_that_holds_very_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_FILES", 3)
    for number in range(3):
        (tmp_path / f"{number}.py").touch()
    assert refused(tmp_path) == ""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "3.py").touch()
    assert refused(tmp_path) == "too_many_files"
    (tmp_path / ".git").mkdir()
    assert refused(tmp_path) == ""


@pytest.mark.skipif(not POSIX, reason="files have no such owner there")
def test_so_is_what_belongs_to_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    assert refused(tmp_path) == ("" if owner == 0 else "foreign_directory")
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert refused(tmp_path) == ""
