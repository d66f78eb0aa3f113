"""Every kind of repository that a project can be, or stand in, or hold; each under the law."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import MakeExecutable
from sync_projects import OPEN, SOURCE, Project, commit, files, repository
from sync_world import SETTINGS, Oracle, git, settings_of, write
from vera_ccc_tools.gitignore_sync import Syncer, sync


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


# --- where git's rules come from --------------------------------------------------------------


def test_the_users_and_the_repositorys_own_exclude_files_count(
    tmp_path: Path, oracle: Oracle, isolated_user: Path
) -> None:
    root = repository(tmp_path, files("mine.py", "local.py", "a.py"))
    (isolated_user / "ignore").write_text("mine.py\n")
    git(root, "config", "core.excludesFile", str(isolated_user / "ignore"))
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("local.py\n")
    project = Project(root, oracle)
    assert set(project.sync().added) == {"**/mine.py", "**/local.py"}


@pytest.mark.parametrize("rules", ["out/\r\ngen.py\r\n", "\ufeffout/\ngen.py\n"])
def test_line_ends_and_byte_order_marks_are_gits_affair(
    tmp_path: Path, oracle: Oracle, rules: str
) -> None:
    content = files("out/a.py", "gen.py", "b.py", rules={".gitignore": rules})
    project = Project(repository(tmp_path, content), oracle)
    assert set(project.sync().added) == {"**/out/**", "**/gen.py"}


def test_rules_match_in_any_case_where_git_says_so(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path, files("Out/a.py", "b.py", rules={".gitignore": "OUT/\n"}))
    git(root, "config", "core.ignorecase", "true")
    assert Project(root, oracle).sync().added == ("**/Out/**",)


def test_a_sparse_checkout_keeps_what_is_not_on_disk(tmp_path: Path, oracle: Oracle) -> None:
    content = files("in/a.py", "in/out/g.py", "far/out/b.py", rules={".gitignore": "/in/out/\n"})
    root = repository(tmp_path, content)
    commit(root)
    git(root, "sparse-checkout", "set", "--cone", "in")
    write(root, files("in/out/g.py"))
    project = Project(root, oracle)
    assert project.sync().added == ("**/in/out/**",)
    (root / ".gitignore").write_text("out/\n")
    write(root, files("out/z.py"))
    assert "out/**" in project.sync().added


def test_tracked_files_are_kept_inside_an_ignored_directory(tmp_path: Path, oracle: Oracle) -> None:
    content = files(
        "build/a.py", "build/kept.py", "build/sub/b.py", rules={".gitignore": "build/\n"}
    )
    root = repository(tmp_path, content)
    commit(root, "build/kept.py")
    project = Project(root, oracle)
    project.sync()
    assert project.finds("build/a.py", "build/kept.py", "build/sub/b.py") == [False, True, False]


def test_tracked_files_that_ccc_hides_all_the_same_are_named(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files(
        "build/kept.py",
        "sub/build/far.py",
        "sub/gen.py",
        "sub/a.py",
        "deep/er/x.log.md",
        "data.bin",
        rules={
            ".gitignore": "build/\n*.bin\n",
            "sub/.gitignore": "gen.py\n",
            "deep/.gitignore": "er/\n",
        },
    )
    root = repository(tmp_path, content)
    commit(root, *(name for name in content if "gitignore" not in name))
    settings_of(root, "")
    hidden = sync(root, tracked_ignored=True).tracked_ignored
    walked = [name for name in content if name.endswith((".py", ".md"))]
    include, exclude = oracle.settings(root)
    answer = oracle.ask(include=include, exclude=exclude, gitignore_root=str(root), walk=walked)
    expected = [name for name, shown in zip(walked, answer["walked"], strict=True) if not shown]
    assert sorted(hidden or ()) == sorted(expected)
    assert "sub/gen.py" in expected


# --- repositories in repositories -------------------------------------------------------------


def test_nested_repositories_answer_for_themselves(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path, files("a.log", "b.py", rules={".gitignore": "*.log\n/hidden/\n"}))
    repository(root / "n[1]", files("c.log", "out/d.py", "e.py", rules={".gitignore": "out/\n"}))
    repository(root / "n[1]/in", files("f.py", "g.log", rules={".gitignore": "f.py\n"}))
    repository(root / "hidden", files("h.py"))
    project = Project(root, oracle)
    project.sync()
    paths = ("a.log", "n[1]/c.log", "n[1]/out/d.py", "n[1]/in/f.py", "n[1]/in/g.log", "hidden/h.py")
    assert project.finds(*paths) == [False, True, False, False, True, False]


def test_submodules_answer_for_themselves_once_they_are_there(
    tmp_path: Path, oracle: Oracle
) -> None:
    library = repository(
        tmp_path / "library", files("out/a.py", "b.py", rules={".gitignore": "out/\n"})
    )
    commit(library)
    root = repository(tmp_path / "main", files("c.py"))
    allow = ("-c", "protocol.file.allow=always")
    git(root, *allow, "submodule", "--quiet", "add", str(library), "lib")
    commit(root)
    git(root, "submodule", "--quiet", "deinit", "-f", "lib")
    project = Project(root, oracle)
    assert not project.sync().changed
    git(root, *allow, "submodule", "--quiet", "update", "--init")
    write(root, files("lib/out/a.py"))
    assert project.sync().added == ("**/lib/out/**",)


def test_a_submodule_whose_own_repository_moves_away_is_asked_where_it_went(
    tmp_path: Path, oracle: Oracle
) -> None:
    root = repository(tmp_path / "main", files("c.py"))
    repository(root / "lib", files("out/a.py", "b.py", rules={".gitignore": "out/\n"}))
    commit(root / "lib")
    git(root, "-c", "advice.addEmbeddedRepo=false", "submodule", "add", "-q", "./lib", "lib")
    project = Project(root, oracle)
    project.sync()
    git(root, "submodule", "absorbgitdirs")
    assert (root / "lib" / ".git").is_file()
    write(root / "lib", files("new/d.py"))
    write(root / "lib", {".gitignore": "out/\nnew/\n"})
    assert "**/lib/new/**" in project.sync().added


def test_linked_work_trees_answer_for_themselves_inside_and_as_the_root(
    tmp_path: Path, oracle: Oracle
) -> None:
    root = repository(tmp_path / "main", files("b.py", rules={".gitignore": "out/\n"}))
    commit(root)
    git(root, "worktree", "add", "-q", "tree")
    write(root, files("tree/out/a.py", "out/c.py"))
    (root / "tree/.gitignore").write_text("out/\nb.py\n")
    git(root / "tree", "rm", "-q", "--cached", "b.py")
    project = Project(root, oracle)
    project.sync()
    assert project.finds("tree/out/a.py", "tree/b.py", "b.py") == [False, False, True]
    assert set(Project(root / "tree", oracle).sync().added) == {"**/out/**", "**/b.py"}


def test_a_root_below_the_repositorys_knows_the_rules_above_it(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files(
        "sub dir/out/a.py", "sub dir/b.py", "sub dir/x/gen.py", "out/z.py", "sub dir/x/c.py",
        rules={".gitignore": "out/\n/sub dir/x/gen.py\n"},
    )  # fmt: skip
    root = repository(tmp_path, content)
    project = Project(root / "sub dir", oracle)
    assert set(project.sync().added) == {"**/out/**", "**/x/gen.py"}


@pytest.mark.parametrize("place", ["out", "out/deep/er"])
def test_in_a_root_that_git_ignores_altogether_everything_is_excluded(
    tmp_path: Path, oracle: Oracle, place: str
) -> None:
    root = repository(tmp_path, files(f"{place}/a.py", rules={".gitignore": "out/\n"}))
    project = Project(root / place, oracle)
    report = project.syncer.sync(project.root)
    assert report.added == ("**",)
    assert "ignores this whole directory" in report.warnings[0]
    assert project.finds("a.py") == [False]
    (root / ".gitignore").write_text("")
    project.sync()
    assert project.finds("a.py") == [True]


def test_a_root_without_git_that_holds_repositories_asks_each(
    tmp_path: Path, oracle: Oracle
) -> None:
    write(tmp_path, files("loose.py", "deep/loose.py"))
    repository(tmp_path / "one", files("out/a.py", "b.py", rules={".gitignore": "out/\n"}))
    repository(tmp_path / "deep/two", files("out/c.py", "gen.py", rules={".gitignore": "gen.py\n"}))
    project = Project(tmp_path, oracle)
    assert set(project.sync().added) == {"**/one/out/**", "**/deep/two/gen.py"}
    repository(tmp_path / "three", files("gen.py", rules={".gitignore": "gen.py\n"}))
    assert project.sync().added == ("**/three/gen.py",)


def test_without_a_repository_none_of_our_entries_remain(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path, files("out/a.py", rules={".gitignore": "out/\n"}))
    project = Project(root, oracle)
    project.sync()
    (root / ".git").rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/HEAD").unlink()
    assert project.syncer.sync(root).removed == ("**/out/**",)
    assert project.settings.read_text() == OPEN


def test_without_git_none_of_our_entries_remain(
    tmp_path: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path, files("out/a.py", rules={".gitignore": "out/\n"}))
    Project(root, oracle).sync()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sync(root).removed == ("**/out/**",)
    assert (root / SETTINGS).read_text() == OPEN


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_an_ignored_link_to_a_directory_leaks_nothing(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path / "r", files("a.py", rules={".gitignore": "link\n"}))
    write(tmp_path / "outside", files("b.py"))
    (root / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    project = Project(root, oracle, "")
    assert project.sync().added == ("**/link",)
    assert project.finds("link/b.py") == [False]


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_an_ignored_link_that_leads_nowhere_yet_gets_its_entry(
    tmp_path: Path, oracle: Oracle
) -> None:
    root = repository(tmp_path / "r", files("a.py", rules={".gitignore": "link\n"}))
    (root / "link").symlink_to(tmp_path / "later", target_is_directory=True)
    project = Project(root, oracle, "")
    assert project.sync().added == ("**/link",)
    write(tmp_path / "later", files("b.py"))
    assert not project.sync().changed
    assert project.finds("link/b.py") == [False]


def test_an_edit_of_a_tracked_file_is_nothing_new(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path, files("out/a.py", "b.py", rules={".gitignore": "out/\n"}))
    commit(root)
    project = Project(root, oracle)
    project.sync()
    (root / "b.py").write_text("x = 2\n")
    assert "plan" not in project.syncer.sync(root).elapsed_ms
    git(root, "add", "b.py")
    assert "plan" not in project.syncer.sync(root).elapsed_ms
    write(root, files("c.py"))
    assert "plan" in project.syncer.sync(root).elapsed_ms


COUNTER = """
import pathlib, subprocess, sys
with open({log!r}, "a", encoding="utf-8") as file:
    file.write(sys.argv[4] + "\\n")
sys.exit(subprocess.run([{git!r}, *sys.argv[1:]], check=False).returncode)
"""


def test_an_unchanged_sync_runs_one_git_for_each_repository(
    tmp_path: Path, oracle: Oracle, fake_executable: MakeExecutable, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "r", files("out/a.py", rules={".gitignore": "out/\n"}))
    repository(root / "in", files("out/a.py", rules={".gitignore": "out/\n"}))
    settings_of(root, OPEN)
    log = tmp_path / "log"
    body = COUNTER.format(log=str(log), git=shutil.which("git"))
    monkeypatch.setenv("PATH", str(fake_executable("git", body).parent), prepend=os.pathsep)
    syncer = Syncer()
    syncer.sync(root)
    log.unlink()
    assert not syncer.sync(root).changed
    assert log.read_text(encoding="utf-8").split() == ["status", "status"]
    write(root, {"in/b.py": SOURCE, "out/b.py": SOURCE})
    log.unlink()
    syncer.sync(root)
    assert sorted(log.read_text(encoding="utf-8").split()) == ["ls-files"] * 2 + ["status"] * 2


def test_a_dry_run_writes_nothing_and_shows_the_difference(tmp_path: Path, oracle: Oracle) -> None:
    root = repository(tmp_path, files("out/a.py", rules={".gitignore": "out/\n"}))
    project = Project(root, oracle)
    report = project.syncer.sync(root, dry_run=True)
    assert (report.changed, report.written) == (True, False)
    assert '+  - "**/out/**"' in report.difference
    assert report.difference in report.render()
    assert project.settings.read_text() == OPEN
    assert [path.name for path in project.settings.parent.iterdir()] == ["settings.yml"]
    assert project.sync().written
