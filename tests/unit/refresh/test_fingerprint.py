"""When a search may do without a refresh: the parts that need no ccc."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import MakeRepository
from helpers import run_git, write_file
from vera_ccc_tools.ccc.client import Ccc
from vera_ccc_tools.git.git import Git
from vera_ccc_tools.refresh import fingerprint
from vera_ccc_tools.refresh.fingerprint import Unknown, View, Watch
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel


@pytest.fixture
def look(git_repo: MakeRepository) -> tuple[Path, Watch]:
    root = git_repo({".gitignore": "*.log\n", "a.py": "a = 1\n", "lib/b.py": "b = 1\n"})
    return root, Watch(Environment())


def views(root: Path) -> list[View]:
    git = Git.find(Environment())
    repository = git.repository(root)
    return [(repository, git.status(repository))]


def state(looking: tuple[Path, Watch]) -> bytes:
    root, watch = looking
    return watch.files(views(root), Cancel()).digest


def test_without_a_daemon_there_is_no_index_to_rely_on(tmp_path: Path) -> None:
    ccc = Ccc(tmp_path / "ccc", Environment({"COCOINDEX_CODE_DIR": str(tmp_path)}))
    assert fingerprint.index(tmp_path, ccc) is None


def test_two_looks_at_an_unchanged_tree_are_equal(look: tuple[Path, Watch]) -> None:
    assert state(look) == state(look)


def test_a_new_ignored_file_is_no_change(look: tuple[Path, Watch]) -> None:
    before = state(look)
    write_file(look[0] / "x.log", "log\n")
    assert state(look) == before


def test_staging_nothing_is_no_change(look: tuple[Path, Watch]) -> None:
    before = state(look)
    os.utime(look[0] / "a.py")
    run_git(look[0], "update-index", "--refresh")
    assert state(look) == before


@pytest.mark.parametrize("name", ["a.py", "new.py", "lib/new/deep.py", "ünï\tcode\n.py"])
def test_each_write_is_a_change(look: tuple[Path, Watch], name: str) -> None:
    seen = {state(look)}
    for line in ("x = 1\n", "x = 2\n", "x = 3\n"):
        write_file(look[0] / name, line)
        times = (look[0] / name).stat().st_mtime_ns + len(seen)
        os.utime(look[0] / name, ns=(times, times))
        state_now = state(look)
        assert state_now not in seen
        seen.add(state_now)


def test_an_ignored_ignore_file_is_looked_at_since_ccc_reads_it(look: tuple[Path, Watch]) -> None:
    root, _watch = look
    write_file(root / ".git" / "info" / "exclude", ".gitignore\n")
    run_git(root, "rm", "-q", "--cached", ".gitignore")
    before = state(look)
    write_file(root / ".gitignore", "*.log\nb.py\n")
    assert state(look) != before


def test_a_commit_is_a_change(look: tuple[Path, Watch]) -> None:
    before = state(look)
    run_git(look[0], "commit", "-q", "--allow-empty", "-m", "empty")
    assert state(look) != before


def test_the_flag_that_hides_a_file_does_not_hide_its_edits(look: tuple[Path, Watch]) -> None:
    root, _watch = look
    run_git(root, "update-index", "--assume-unchanged", "a.py")
    before = state(look)
    write_file(root / "a.py", "a = 2\n")
    assert state(look) != before


def test_what_lies_behind_a_link_to_another_place_is_unknown(
    look: tuple[Path, Watch], tmp_path: Path
) -> None:
    outside = write_file(tmp_path / "outside" / "o.py", "o = 1\n").parent
    (look[0] / "link").symlink_to(outside)
    with pytest.raises(Unknown, match="symbolic link"):
        state(look)


def test_a_link_to_a_directory_with_ignored_files_is_unknown(look: tuple[Path, Watch]) -> None:
    (look[0] / "link").symlink_to("lib")
    state(look)
    write_file(look[0] / "lib" / "x.log", "ignored there, and not under the link\n")
    with pytest.raises(Unknown, match="symbolic link"):
        state(look)


def test_a_nested_repository_that_was_not_asked_is_unknown(look: tuple[Path, Watch]) -> None:
    inner = look[0] / "inner"
    inner.mkdir()
    run_git(inner, "init", "-q")
    write_file(inner / "n.py", "n = 1\n")
    with pytest.raises(Unknown, match="inner"):
        state(look)


def test_times_in_whole_seconds_are_not_trusted_at_once() -> None:
    second = time.time_ns() // 1_000_000_000 * 1_000_000_000
    assert not fingerprint.is_settled(second)
    assert fingerprint.is_settled(second - 3_000_000_000)
    assert fingerprint.is_settled(second + 123)


@given(st.lists(st.binary(min_size=1), min_size=1))
def test_the_digest_does_not_confuse_where_one_part_ends(parts: list[bytes]) -> None:
    whole, joined = fingerprint._Looked([]), fingerprint._Looked([])
    whole.add(*parts)
    joined.add(b"".join(parts))
    assert (whole.files() == joined.files()) == (len(parts) == 1)
