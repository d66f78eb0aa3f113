"""What becomes an entry, and how; the user's own patterns beside them. Each under the law."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_projects import OPEN, SOURCE, Project, files, repository
from sync_world import Oracle, git, settings_of, write
from vera_ccc_tools.gitignore_sync import sync
from vera_ccc_tools.sync.plan import ANYWHERE_LIMIT, NEVER_INCLUDED, NOT_UTF8


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


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
