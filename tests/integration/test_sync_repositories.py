"""Every kind of repository that a project can be, or stand in, or hold; each under the law."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from conftest import MakeExecutable
from sync_world import SETTINGS, Oracle, git, law_breakers, settings_of, write
from vera_ccc_tools.gitignore_plan import ANYWHERE_LIMIT, NEVER_INCLUDED, NOT_UTF8
from vera_ccc_tools.gitignore_sync import Report, Syncer, sync
from vera_ccc_tools.settings import read

SOURCE = "x = 1\n"
OPEN = 'include_patterns: ["**/*"]\nexclude_patterns: []\n'


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


class Project:
    """A project under test, with the user's patterns as they were before any sync."""

    def __init__(self, root: Path, oracle: Oracle, settings: str = OPEN) -> None:
        self.root = root
        self.settings = settings_of(root, settings)
        self._oracle = oracle
        self._user = oracle.settings(root)
        self.syncer = Syncer()

    def sync(self) -> Report:
        """Sync, hold the law, and hold that a second sync has nothing to do."""
        report = self.syncer.sync(self.root)
        assert not report.warnings
        assert law_breakers(self.root, self._oracle, self._user) == [], self.settings.read_text()
        assert not self.syncer.sync(self.root).changed
        assert not Syncer().sync(self.root).changed
        return report

    @property
    def entries(self) -> tuple[str, ...]:
        return read(self.settings.read_text(encoding="utf-8")).excludes

    def finds(self, *paths: str) -> list[bool]:
        return list(self._oracle.walk(paths, *self._oracle.settings(self.root)).values())


def files(*names: str, rules: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**dict.fromkeys(names, SOURCE), **(rules or {})}


def repository(root: Path, content: Mapping[str, str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, content)
    return root


def commit(root: Path, *forced: str) -> None:
    git(root, "add", "-A")
    if forced:
        git(root, "add", "-f", *forced)
    git(root, "commit", "-q", "-m", "files")


# --- entries ----------------------------------------------------------------------------------


def test_an_entry_matches_anywhere_until_it_would_hide_a_kept_file(
    tmp_path: Path, oracle: Oracle
) -> None:
    root = repository(
        tmp_path,
        files("out/a.py", "gen.py", "src/b.py", rules={".gitignore": "/out/\n/gen.py\n"}),
    )
    project = Project(root, oracle)
    assert project.sync().added == ("**/out/**", "**/gen.py")
    write(root, files("src/out/c.py"))
    report = project.sync()
    assert (report.added, report.removed) == (("out/**",), ("**/out/**",))
    write(root, files("src/gen.py"))
    assert project.sync().added == ("gen.py",)
    (root / "src/out/c.py").unlink()
    assert project.sync().added == ("**/out/**",)


def test_a_kept_directory_is_not_pruned_by_the_name_of_an_ignored_file(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files("gen.py", "src/gen.py/a.py", rules={".gitignore": "/gen.py\n"})
    project = Project(repository(tmp_path, content), oracle)
    assert project.sync().added == ("gen.py",)


def test_nothing_is_written_for_what_needs_no_entry(tmp_path: Path, oracle: Oracle) -> None:
    content = files(
        *(f"p{n}/__pycache__/m.py" for n in range(30)),
        ".venv/a.py",
        "data.bin",
        rules={".gitignore": "__pycache__/\n.venv/\n*.bin\n/.cocoindex_code/\n"},
    )
    project = Project(repository(tmp_path, content), oracle, "# only defaults\n")
    report = project.sync()
    assert not report.changed
    assert ("data.bin", NEVER_INCLUDED) in report.left_out
    assert project.settings.read_text() == "# only defaults\n"
    assert sorted(path.name for path in project.settings.parent.iterdir()) == ["settings.yml"]


def test_many_entries_are_anchored_and_folded(tmp_path: Path, oracle: Oracle) -> None:
    many = ANYWHERE_LIMIT // 2
    content = files(
        *(f"p{n}/a.ts" for n in range(many)),
        *(f"p{n}/a.js" for n in range(many)),
        *(f"p{n}/x_pb2.py" for n in range(many)),
        *(f"p{n}/cache/a.py" for n in range(many)),
        *(f"p{n}/own{n}.py" for n in range(9)),
        *(f"gen/[{n}].py" for n in range(9)),
        "p0/kept.py",
        rules={".gitignore": "*.js\n*_pb2.py\ncache/\nown*.py\n/gen/*\n"},
    )
    project = Project(repository(tmp_path, content), oracle)
    added = project.sync().added
    assert added[:3] == ("**/cache/**", "**/*.js", "**/*_pb2.py")
    assert set(added[3:]) == {"gen/**", *(f"p{n}/own{n}.py" for n in range(9))}
    write(project.root, files("p1/tool.mjs", "other/cache/b.py", "gen/kept.md"))
    git(project.root, "add", "-f", "other/cache/b.py", "gen/kept.md")
    added = project.sync().added
    assert "p1/cache/**" in added
    assert "gen/[[]0[]].py" in added


def test_names_that_no_pattern_holds_are_left_out_and_named(tmp_path: Path) -> None:
    root = repository(tmp_path, {".gitignore": "caf*\n"})
    if sys.platform != "linux":
        return  # no other file system holds such a name
    (root / os.fsdecode(b"caf\xe9.py")).write_text(SOURCE)
    settings_of(root, OPEN)
    report = sync(root)
    assert report.left_out == ((os.fsdecode(b"caf\xe9.py"), NOT_UTF8),)
    assert report.to_json()["left_out"] == [
        {"reason": NOT_UTF8, "count": 1, "paths": ["caf\\xe9.py"]}
    ]


# --- the user's word --------------------------------------------------------------------------


def test_the_users_own_patterns_stay_where_they_are_even_one_that_equals_ours(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files("out/a.py", "b.py", "gen.py", rules={".gitignore": "out/\ngen.py\n"})
    text = 'exclude_patterns:\n  - "**/out/**"  # mine\n  - zzz\n  - "**/out/**"\n'
    project = Project(repository(tmp_path, content), oracle, text)
    assert project.sync().added == ("**/gen.py",)
    (project.root / ".gitignore").write_text("")
    project.sync()
    assert project.settings.read_text() == text


def test_a_pattern_that_the_user_adds_beside_our_equal_one_is_the_users(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files("out/a.py", "b.py", rules={".gitignore": "out/\n"})
    project = Project(repository(tmp_path, content), oracle, "exclude_patterns:\n  - a\n")
    project.sync()
    with project.settings.open("a", encoding="utf-8") as file:
        file.write("  - '**/out/**'\n")
    assert project.syncer.sync(project.root).removed == ("**/out/**",)
    (project.root / ".gitignore").write_text("")
    sync(project.root)
    assert project.settings.read_text() == "exclude_patterns:\n  - a\n  - '**/out/**'\n"


def test_a_users_negation_brings_back_what_git_ignores(tmp_path: Path, oracle: Oracle) -> None:
    content = files(
        "build/keep/a.py", "build/keep/deep/b.py", "build/c.py", rules={".gitignore": "build/\n"}
    )
    text = "exclude_patterns: ['!build/keep/**']\n"
    project = Project(repository(tmp_path, content), oracle, text)
    project.sync()
    wanted = ("build/keep/a.py", "build/keep/deep/b.py", "build/c.py")
    assert project.finds(*wanted) == [True, True, False]


def test_a_negation_beside_a_bare_name_of_the_users_does_not_let_the_rest_through(
    tmp_path: Path, oracle: Oracle
) -> None:
    content = files(
        "node_modules/x/a.js", "node_modules/y/b.js", rules={".gitignore": "node_modules/\n"}
    )
    text = "exclude_patterns: ['**/node_modules', '!node_modules/x/a.js']\n"
    project = Project(repository(tmp_path, content), oracle, text)
    project.sync()
    assert project.finds("node_modules/x/a.js", "node_modules/y/b.js") == [True, False]


def test_a_default_pattern_is_never_an_entry_of_ours(tmp_path: Path, oracle: Oracle) -> None:
    content = files("dist", "src/a.py", rules={".gitignore": "dist\n"})
    project = Project(repository(tmp_path, content), oracle)
    assert project.sync().added == ("dist",)


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
    assert '+  "**/out/**"' in report.difference
    assert report.difference in report.render()
    assert project.settings.read_text() == OPEN
    assert [path.name for path in project.settings.parent.iterdir()] == ["settings.yml"]
    assert project.sync().written
