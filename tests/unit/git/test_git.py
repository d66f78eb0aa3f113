"""How git is asked, and how its answers are read and told apart."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from conftest import MakeExecutable, MakeRepository
from helpers import run_git, write_file
from vera_ccc_tools.git.git import (
    STATUS,
    Git,
    GitFailed,
    GitMissing,
    GitTimeout,
    NotAWorkTree,
    Repository,
    Rule,
    Status,
    child_environment,
)
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled


@pytest.fixture
def git() -> Git:
    return Git.find(Environment())


def test_git_that_is_not_on_path_is_missing(tmp_path: Path) -> None:
    with pytest.raises(GitMissing):
        Git.find(Environment({"PATH": str(tmp_path)}))


def test_git_in_the_current_directory_is_not_run(
    tmp_path: Path, fake_executable: MakeExecutable, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_executable("git", "pass", directory=tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GitMissing):
        Git.find(Environment({"PATH": os.pathsep.join(["", ".", str(tmp_path / "none")])}))


def test_the_environment_is_scrubbed_of_everything_that_points_git_elsewhere() -> None:
    found = child_environment(
        Environment(
            {
                "HOME": "/h",
                "GIT_DIR": "/d",
                "GIT_WORK_TREE": "/w",
                "GIT_INDEX_FILE": "/i",
                "GIT_CONFIG_PARAMETERS": "'a.b=c'",
                "GIT_CONFIG_GLOBAL": "/g",
                "GIT_CONFIG_KEY_0": "k",
                "GIT_TRACE": "1",
                "LC_ALL": "de_DE.UTF-8",
                "LANGUAGE": "de",
            }
        )
    )
    assert found == {
        "HOME": "/h",
        "GIT_CONFIG_GLOBAL": "/g",
        "GIT_CONFIG_KEY_0": "k",
        "LC_ALL": "C",
        "LANGUAGE": "C",
        "GIT_TERMINAL_PROMPT": "0",
    }


RECORDER = """
import pathlib, sys
pathlib.Path(sys.argv[0] + ".log").write_text("\\n".join(sys.argv[1:]), encoding="utf-8")
sys.stdout.write("! a\\0")
"""


@pytest.mark.parametrize(("prefix", "limit"), [(b"", ()), (b"sub/", ("--", "."))])
def test_the_status_is_one_command_about_the_directory_alone(
    tmp_path: Path, fake_executable: MakeExecutable, prefix: bytes, limit: tuple[str, ...]
) -> None:
    fake = fake_executable("git", RECORDER)
    repository = Repository(tmp_path, tmp_path.parent, prefix, tmp_path / "index")
    assert Git(fake, Environment()).status(repository).ignored == (b"a",)
    (log,) = fake.parent.glob("*.log")
    assert tuple(log.read_text(encoding="utf-8").split("\n")) == (*STATUS, *limit)


def test_the_status_takes_no_lock_runs_no_hook_and_reads_no_submodule() -> None:
    assert STATUS[:3] == ("--no-optional-locks", "-c", "core.fsmonitor=")
    assert {"-z", "--ignored=matching", "--untracked-files=all"} < set(STATUS)


def test_every_kind_of_record_is_told_from_the_others() -> None:
    raw = (
        b"# branch.oid 1234\0"
        b"1 .M N... 100644 100644 100644 1 2 ? odd\0"
        b"2 R. N... 100644 100644 100644 1 2 R100 new\0! old name\0"
        b"u UU N... 1 2 3 4 5 6 7 both\0"
        b"? new\nline\0? nested/\0! ignored dir/\0! \xff\0"
    )
    status = Status(raw)
    assert status.untracked == (b"new\nline", b"nested/")
    assert status.ignored == (b"ignored dir/", b"\xff")
    assert [record[:4] for record in status.changed] == [b"1 .M", b"2 R.", b"u UU"]


def test_a_repository_is_located_from_below_and_with_a_line_end_in_its_name(
    git: Git, tmp_path: Path
) -> None:
    name = "re\npo" if os.name == "posix" else "repo"
    root = tmp_path / name
    (root / "sub dir").mkdir(parents=True)
    run_git(root, "init", "-q")
    write_file(root / "a", "")
    run_git(root, "add", "a")
    found = git.repository(root / "sub dir")
    assert found.top.resolve() == root.resolve()
    assert found.prefix == b"sub dir/"
    assert found.index.is_file()


def test_tracked_files_are_listed_once_and_apart_from_submodules(
    git: Git, git_repo: MakeRepository
) -> None:
    inner = git_repo({"x": "1"}, name="inner")
    root = git_repo({"a\tb\n": "1", "c": "1"} if os.name == "posix" else {"c": "1"})
    allow = ("-c", "protocol.file.allow=always")
    run_git(root, *allow, "submodule", "--quiet", "add", str(inner), "lib")
    tracked = git.listed(root, untracked=False)
    assert b"c" in tracked.files
    assert (b"a\tb\n" in tracked.files) == (os.name == "posix")
    assert tracked.nested == (b"lib/",)


def test_the_rule_of_each_path_is_told_and_none_for_what_is_kept(
    git: Git, git_repo: MakeRepository
) -> None:
    root = git_repo({".gitignore": "*.log\n!keep.log\n:*\nsp ace/\n"})
    (root / "sp ace").mkdir()
    asked = [b"a.log", b"keep.log", b":odd", b"sp ace", b".gitignore", os.fsencode("é.log")]
    assert git.rules(root, asked) == {
        b"a.log": Rule(".gitignore", 1, "*.log"),
        b":odd": Rule(".gitignore", 3, ":*"),
        b"sp ace": Rule(".gitignore", 4, "sp ace/"),
        os.fsencode("é.log"): Rule(".gitignore", 1, "*.log"),
    }
    assert git.rules(root, [b"keep.log"]) == {}
    assert git.rules(root, []) == {}


def test_a_directory_without_a_repository_is_no_work_tree(git: Git, tmp_path: Path) -> None:
    with pytest.raises(NotAWorkTree):
        git.repository(tmp_path)


def test_a_bare_repository_is_no_work_tree(git: Git, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare")
    with pytest.raises(NotAWorkTree):
        git.status(Repository(tmp_path, tmp_path, b"", tmp_path / "index"))


def test_a_link_to_a_repository_that_is_gone_is_a_failure(git: Git, tmp_path: Path) -> None:
    write_file(tmp_path / ".git", "gitdir: /nowhere/at/all\n")
    with pytest.raises(GitFailed, match="not a git repository"):
        git.repository(tmp_path)


def test_a_failure_quotes_git_and_names_the_command_and_the_directory(
    git: Git, tmp_path: Path
) -> None:
    run_git(tmp_path, "init", "-q")
    write_file(tmp_path / ".git/index", "no index")
    with pytest.raises(GitFailed) as caught:
        git.listed(tmp_path)
    assert "git ls-files" in caught.value.message
    assert tmp_path.name in caught.value.message
    assert "index" in caught.value.message


def test_git_that_does_not_answer_is_ended_at_the_deadline(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    slow = fake_executable("git", "import sys\nsys.stdin.close()\nimport threading\n"
                           "threading.Event().wait(60)\n")  # fmt: skip
    with pytest.raises(GitTimeout, match=r"did not answer within 0\.2 s"):
        Git(slow, Environment()).ask(tmp_path, "status", deadline=0.2)


def test_git_is_ended_by_a_cancel(tmp_path: Path, fake_executable: MakeExecutable) -> None:
    cancel = Cancel()
    cancel.press()
    with pytest.raises(Cancelled):
        Git(Path(sys.executable), Environment()).ask(tmp_path, "status", cancel=cancel)


def test_output_that_was_cut_is_refused(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vera_ccc_tools.git.git.OUTPUT_LIMIT", 4)
    with pytest.raises(GitFailed, match="more than can be read"):
        git.ask(tmp_path, "--version")


def test_the_version_is_what_git_says(git: Git) -> None:
    assert git.version()[0].isdigit()
