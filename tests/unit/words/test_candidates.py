"""What a search by words finds in real repositories, and what it never shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import MakeExecutable, MakeRepository
from helpers import POSIX, run_git, write_file
from vera_ccc_tools.ccc import path_filter
from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.git.git import Git
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.words import candidates as by_words
from vera_ccc_tools.words.candidates import NO_SCORE, Found, candidates, is_by_words, join
from vera_ccc_tools.words.scope import EVERYTHING, Wanted

THROTTLE = "def throttle(request):\n    return limit(request)\n"


def search(
    root: Path,
    query: str = "how requests are throttled",
    wanted: Wanted = EVERYTHING,
    *,
    path: str | None = None,
    deadline: float = 30.0,
) -> Found:
    environment = Environment(os.environ if path is None else os.environ | {"PATH": path})
    return candidates(
        root, query, environment=environment, cancel=Cancel(), wanted=wanted, deadline=deadline
    )


def paths(found: Found) -> set[str]:
    return {hit.file_path for hit in found.hits}


@pytest.fixture
def no_git(tmp_path: Path) -> str:
    """A ``PATH`` without git."""
    return str(tmp_path / "nothing")


# --- what is found -------------------------------------------------------------------------------


def test_tracked_and_untracked_files_are_found_as_windows_of_their_lines(
    git_repo: MakeRepository,
) -> None:
    root = git_repo({"a.py": f"import x\n\n{THROTTLE}", "other.py": "x = 1\n"})
    write_file(root / "new.go", "func Throttle() {}\n")
    found = search(root)
    assert paths(found) == {"a.py", "new.go"}
    hit = next(hit for hit in found.hits if hit.file_path == "a.py")
    assert hit == Hit("a.py", "python", f"import x\n\n{THROTTLE}".rstrip(), 1, 4, NO_SCORE)
    assert found.notes == ()


def test_the_definition_of_a_name_comes_before_its_uses(git_repo: MakeRepository) -> None:
    uses = {f"use{at}.py": "open_file()\n" * 30 for at in range(by_words.FILES + 10)}
    root = git_repo({**uses, "z.py": "def open_file():\n    pass\n"})
    assert search(root, "open_file").hits[0].file_path == "z.py"


def test_a_mistyped_word_is_found(git_repo: MakeRepository) -> None:
    root = git_repo({"a.py": THROTTLE, "b.py": "pass\n"})
    assert paths(search(root, "throtle")) == {"a.py"}


def test_repositories_within_the_project_are_looked_through(git_repo: MakeRepository) -> None:
    root = git_repo({"a.py": THROTTLE})
    inner = git_repo({"b.py": THROTTLE}, name="repo/inner")
    assert paths(search(root)) == {"a.py", "inner/b.py"}
    assert paths(search(inner)) == {"b.py"}


def test_a_project_below_the_root_of_its_repository_has_its_own_files_only(
    git_repo: MakeRepository,
) -> None:
    root = git_repo({"a.py": THROTTLE, "sub/b.py": THROTTLE})
    assert paths(search(root / "sub")) == {"b.py"}


def test_a_directory_that_is_no_repository_is_looked_through(tmp_path: Path) -> None:
    write_file(tmp_path / "a.py", THROTTLE)
    assert paths(search(tmp_path)) == {"a.py"}


def test_without_git_a_walk_finds_the_same(git_repo: MakeRepository, no_git: str) -> None:
    files = {"a.py": THROTTLE, "sub/b.py": THROTTLE, ".gitignore": "/no.py\n", "a.png": THROTTLE}
    root = git_repo(files)
    write_file(root / "no.py", THROTTLE)
    write_file(root / "sub/.gitignore", "c.py\nd/\n")
    write_file(root / "sub/c.py", THROTTLE)
    write_file(root / "sub/d/d.py", THROTTLE)
    found = search(root, path=no_git)
    assert paths(found) == {"a.py", "sub/b.py"}
    assert found.hits == search(root).hits


def test_only_what_the_search_asks_for_is_found(git_repo: MakeRepository) -> None:
    root = git_repo({"a.py": THROTTLE, "sub/b.py": THROTTLE, "sub/c.go": "// throttle\n"})
    within = path_filter.parse("sub", root, root)
    assert paths(search(root, wanted=Wanted(within))) == {"sub/b.py", "sub/c.go"}
    assert paths(search(root, wanted=Wanted(within, ("go",)))) == {"sub/c.go"}
    assert paths(search(root, wanted=Wanted(languages=("rust",)))) == set()
    changed = frozenset({"a.py", "sub/c.go"})
    assert paths(search(root, wanted=Wanted(files=changed))) == changed


@pytest.mark.parametrize("name", ["with space.py", "ü.py", "[id].py", ":x.py", '"q.py', "-r.py"])
@pytest.mark.skipif(not POSIX, reason="Windows has no such names")
def test_files_of_any_name_are_found(git_repo: MakeRepository, name: str) -> None:
    root = git_repo({name: THROTTLE})
    assert paths(search(root)) == {name}
    assert paths(search(root, wanted=Wanted(files=frozenset({name})))) == {name}
    within = path_filter.parse(name, root, root)
    assert paths(search(root, wanted=Wanted(within))) == {name}


# --- what is never shown -------------------------------------------------------------------------


def test_nothing_that_git_ignores_is_shown(git_repo: MakeRepository) -> None:
    root = git_repo({"a.py": THROTTLE, ".gitignore": "no.py\nbuild/\n"})
    inner = git_repo({"b.py": THROTTLE}, name="repo/inner")
    write_file(root / ".git/info/exclude", "excluded.py\n")
    write_file(inner / ".git/info/exclude", "excluded.py\n")
    for ignored in ("no.py", "build/x.py", "excluded.py", "inner/no.py", "inner/excluded.py"):
        write_file(root / ignored, THROTTLE)
    assert paths(search(root)) == {"a.py", "inner/b.py"}
    everything = frozenset({"no.py", "build/x.py", "inner/excluded.py"})
    assert paths(search(root, wanted=Wanted(files=everything))) == set()


@pytest.mark.skipif(not POSIX, reason="Windows has no such names")
def test_a_line_feed_in_a_name_does_not_lead_to_another_file(git_repo: MakeRepository) -> None:
    root = git_repo({"x\nno.py": THROTTLE, "a.py": THROTTLE, ".gitignore": "/no.py\n"})
    write_file(root / "no.py", "def throttle(): secret\n")
    assert paths(search(root)) == {"x\nno.py", "a.py"}


@pytest.mark.skipif(not POSIX, reason="links need rights on Windows")
def test_links_are_not_followed(git_repo: MakeRepository, tmp_path: Path, no_git: str) -> None:
    root = git_repo({"a.py": THROTTLE})
    outside = write_file(tmp_path / "outside" / "secret.py", THROTTLE)
    (root / "link.py").symlink_to(outside)
    (root / "directory").symlink_to(outside.parent)
    assert paths(search(root)) == paths(search(root, path=no_git)) == {"a.py"}


def test_nothing_is_written(git_repo: MakeRepository) -> None:
    root = git_repo({"a.py": THROTTLE})
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    search(root)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


# --- faults and bounds ---------------------------------------------------------------------------


def test_what_a_user_has_configured_does_not_change_what_is_read(
    git_repo: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = git_repo({"a.py": THROTTLE})
    for name, value in (
        ("grep.lineNumber", "true"),
        ("grep.column", "true"),
        ("grep.patternType", "fixed"),
        ("grep.fullName", "true"),
        ("color.ui", "always"),
        ("submodule.recurse", "true"),
    ):
        run_git(root, "config", name, value)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert paths(search(root)) == {"a.py"}


def test_a_git_without_pcre_is_asked_again(
    git_repo: MakeRepository, fake_executable: MakeExecutable
) -> None:
    root = git_repo({"a.py": THROTTLE, "b.py": "open_file()\n"})
    real = Git.find(Environment()).executable
    path = fake_executable(
        "git",
        f"""
        import os, sys
        if "--perl-regexp" in sys.argv:
            sys.stderr.write("fatal: cannot use Perl-compatible regexes when not compiled ...")
            sys.exit(128)
        os.execv({str(real)!r}, ["git", *sys.argv[1:]])
        """,
    ).parent
    for query in ("throttled", "throtle", "openFile"):
        assert search(root, query, path=str(path)).hits == search(root, query).hits


def test_what_was_found_until_the_deadline_counts(
    git_repo: MakeRepository, fake_executable: MakeExecutable
) -> None:
    root = git_repo({"a.py": THROTTLE})
    path = fake_executable(
        "git",
        r"""
        import os, time
        os.write(1, b"a.py\0throttle\nb.py\0thro")
        time.sleep(60)
        """,
    ).parent
    found = search(root, path=str(path), deadline=1.0)
    assert paths(found) == {"a.py"}
    assert found.notes


def test_a_git_that_fails_is_a_failure_in_its_words(
    git_repo: MakeRepository, fake_executable: MakeExecutable
) -> None:
    path = fake_executable(
        "git", "import os; os.write(2, b'fatal: out of sorts'); os._exit(128)"
    ).parent
    with pytest.raises(Failure, match="out of sorts"):
        search(git_repo({"a.py": THROTTLE}), path=str(path))


def test_a_cancelled_search_ends(git_repo: MakeRepository) -> None:
    cancel = Cancel()
    cancel.press()
    with pytest.raises(Cancelled):
        candidates(
            git_repo({"a.py": THROTTLE}), "throttle", environment=Environment(), cancel=cancel
        )


@pytest.mark.parametrize(
    "query",
    [
        r"^(a+)+$|[a-z]{1,99}(",
        "where is it and how",
        "throttle " * 1200,
        "thr\0ottle \0",
        "e",
        "import",
        "\ud800 \udfff",
        "--help",
        "",
    ],
)
def test_any_question_is_answered(git_repo: MakeRepository, query: str) -> None:
    root = git_repo({f"{at}.py": "import e\n" * 50 for at in range(30)})
    found = search(root, query)
    assert len(found.hits) <= 100
    assert all(hit.score == NO_SCORE for hit in found.hits)


# --- with ccc's ----------------------------------------------------------------------------------


def test_windows_that_ccc_did_not_find_join_its_hits_behind_them() -> None:
    hits = (Hit("a.py", "python", "x", 1, 20, 0.9),)
    seen = Hit("a.py", "python", "x", 15, 30, NO_SCORE)
    new = Hit("a.py", "python", "x", 21, 30, NO_SCORE)
    other = Hit("b.py", "python", "x", 1, 20, NO_SCORE)
    joined = join(hits, Found((seen, new, other)))
    assert joined == (*hits, new, other)
    assert [is_by_words(hit) for hit in joined] == [False, True, True]


def test_only_the_best_windows_join() -> None:
    windows = tuple(Hit(f"{at}.py", "python", "x", 1, 2, NO_SCORE) for at in range(100))
    assert join((), Found(windows)) == windows[: by_words.JOINING]
