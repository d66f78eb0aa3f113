"""Each entry of the sync, and the ignore rule that it came from; with the real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import MakeRepository
from core_helpers import environment, make_project
from helpers import run_git, write_file
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.sync.report import Reason, Report
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.tools.sync import sync


def synced(root: Path, *, why: bool = True) -> Report:
    return sync(Session(environment()), Call(root), dry_run=True, why=why)


def reasons(root: Path) -> dict[str, tuple[str, str, int, str]]:
    report = synced(root)
    assert report.reasons is not None
    assert [one.entry for one in report.reasons] == list(report.entries)
    return {one.entry: (one.path, one.source, one.line, one.pattern) for one in report.reasons}


def test_each_entry_has_its_file_line_and_rule(
    git_repo: MakeRepository, isolated_user: Path
) -> None:
    root = make_project(git_repo({".gitignore": "# ours\nout/\n*.gen.py\n!kept.gen.py\n"}))
    write_file(isolated_user / ".config" / "git" / "ignore", "everywhere.py\n")
    write_file(root / ".git" / "info" / "exclude", "/mine.py\n")
    write_file(root / "lib" / ".gitignore", "\n\n/[ab]*\n")
    for name in ("out/x.py", "m.gen.py", "mine.py", "lib/a b.py", "everywhere.py", ":odd.gen.py"):
        write_file(root / name, "x = 1\n")
    everywhere = (isolated_user / ".config" / "git" / "ignore").as_posix()
    assert reasons(root) == {
        "**/out/**": ("out/", ".gitignore", 2, "out/"),
        "**/m.gen.py": ("m.gen.py", ".gitignore", 3, "*.gen.py"),
        "**/:odd.gen.py": (":odd.gen.py", ".gitignore", 3, "*.gen.py"),
        "**/mine.py": ("mine.py", ".git/info/exclude", 1, "/mine.py"),
        "**/lib/a b.py": ("lib/a b.py", "lib/.gitignore", 3, "/[ab]*"),
        "**/everywhere.py": ("everywhere.py", everywhere, 1, "everywhere.py"),
    }


def test_a_repository_around_and_one_inside_are_asked_themselves(
    git_repo: MakeRepository,
) -> None:
    top = git_repo({".gitignore": "*.gen.py\n", "sub/kept.py": "x = 1\n"})
    root = make_project(top / "sub")
    write_file(root / "a.gen.py", "x = 1\n")
    inner = root / "inner"
    inner.mkdir()
    run_git(inner, "init", "-q")
    write_file(inner / ".gitignore", "out/\n")
    write_file(inner / "out" / "b.py", "x = 1\n")
    assert reasons(root) == {
        "**/a.gen.py": ("a.gen.py", "../.gitignore", 1, "*.gen.py"),
        "**/inner/out/**": ("inner/out/", "inner/.gitignore", 1, "out/"),
    }


def test_a_directory_that_is_ignored_as_a_whole_is_told_by_its_rule(
    git_repo: MakeRepository,
) -> None:
    top = git_repo({".gitignore": "/sub/\n"})
    root = make_project(top / "sub")
    assert reasons(root) == {"**": ("", "../.gitignore", 1, "/sub/")}


def test_an_entry_for_many_paths_is_told_by_one_of_them(git_repo: MakeRepository) -> None:
    rules = "*_pb2.py\ntmp/\n/gone/[xy].py\n"
    root = make_project(git_repo({".gitignore": rules, "kept.py": "x = 1\n"}))
    for number in range(600):
        write_file(root / f"m{number}_pb2.py", "x = 1\n")
    for name in ("a/tmp/x.py", "b/tmp/x.py", "gone/x.py", "gone/y.py"):
        write_file(root / name, "x = 1\n")
    found = reasons(root)
    assert {entry: rule[1:] for entry, rule in found.items()} == {
        "**/tmp/**": (".gitignore", 2, "tmp/"),
        "**/*_pb2.py": (".gitignore", 1, "*_pb2.py"),
        "gone/**": (".gitignore", 3, "/gone/[xy].py"),
    }


def test_an_entry_whose_repository_cannot_be_asked_has_no_reason(
    git_repo: MakeRepository,
) -> None:
    root = make_project(git_repo({".gitignore": "out/\n"}))
    write_file(root / "out" / "x.py", "x = 1\n")
    sync(Session(environment()), Call(root), dry_run=False, why=False)
    (root / ".git" / "index").write_bytes(b"broken")
    report = synced(root)
    assert report.reasons == (Reason("**/out/**"),)
    assert report.warnings


def test_rules_are_asked_for_only_where_they_are_wanted(git_repo: MakeRepository) -> None:
    root = make_project(git_repo({".gitignore": "out/\n"}))
    write_file(root / "out" / "x.py", "x = 1\n")
    report = synced(root, why=False)
    assert (report.reasons, report.entries) == (None, ("**/out/**",))


def test_where_there_is_no_project_the_failure_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="belongs to no ccc project") as caught:
        synced(tmp_path)
    assert "ccc_index" in tell(caught.value, Front.MODEL)
