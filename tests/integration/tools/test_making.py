"""What becomes a project, and that its index stays out of git, with the real ccc and git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import POSIX, run_git, write_file
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(ccc_home: dict[str, str]) -> Ask:
    def call(cwd: Path, tool: str, **arguments: Any) -> dict[str, Any]:
        session = Session(ccc_home)
        result = table.call_tool(session, tool, arguments, Call(cwd))
        session.close()
        return result

    return call


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository with a commit."""
    root = tmp_path / "main"
    write_file(root / "walnut.py", "def only_walnut(): pass\n")
    run_git(root, "init", "-q")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "first")
    return root


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def test_in_a_linked_work_tree_git_does_not_see_the_index(ask: Ask, main: Path) -> None:
    linked = main.parent / "linked"
    run_git(main, "worktree", "add", "-q", str(linked))
    assert not ask(linked, "ccc_index")["isError"]
    assert run_git(linked, "status", "--porcelain") == ""
    first = ask(linked, "ccc_search", query="walnut")
    assert first["details"]["results"][0]["file_path"] == "walnut.py"


def test_in_a_subdirectory_git_does_not_see_the_index(ask: Ask, main: Path) -> None:
    part = write_file(main / "part" / "pecan.py", "def only_pecan(): pass\n").parent
    run_git(main, "add", "-A")
    run_git(main, "commit", "-qm", "second")
    assert not ask(part, "ccc_init", force=True)["isError"]
    assert run_git(main, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a/\r\nb/\r\n", b"a/\r\nb/\r\n# CocoIndex Code (ccc)\r\n/.cocoindex_code/\r\n"),
        (b"caf\xe9/", b"caf\xe9/\n# CocoIndex Code (ccc)\n/.cocoindex_code/\n"),
        (b"/.cocoindex_code/\r\n", b"/.cocoindex_code/\r\n"),
    ],
)  # fmt: skip
def test_each_byte_of_the_ignore_file_stays(
    ask: Ask, main: Path, before: bytes, after: bytes
) -> None:
    (main / ".gitignore").write_bytes(before)
    result = ask(main, "ccc_index")
    assert not result["isError"], text(result)
    assert (main / ".gitignore").read_bytes() == after


@pytest.mark.parametrize("place", [".claude/worktrees/x", "repos/y"])
def test_a_repository_in_an_ignored_place_is_a_project_of_its_own(
    ask: Ask, main: Path, place: str
) -> None:
    write_file(main / ".gitignore", f"{place.partition('/')[0]}/\n")
    assert not ask(main, "ccc_index")["isError"]
    inner = main / place
    if place.startswith("repos"):
        inner.mkdir(parents=True)
        run_git(inner, "init", "-q")
    else:
        run_git(main, "worktree", "add", "-q", str(inner))
    write_file(inner / "filbert.py", "def only_filbert(): pass\n")
    result = ask(inner, "ccc_search", query="filbert")
    assert text(result).startswith("By words, not by meaning: ")
    assert str(inner) in text(result).split("\n")[0]
    assert {row["file_path"] for row in result["details"]["results"]} == {"filbert.py"}
    made = ask(inner, "ccc_index")
    assert text(made).startswith(f"Initialized {inner} for ccc.")
    result = ask(inner, "ccc_search", query="filbert")
    assert result["details"]["by"] == "both"
    assert result["details"]["results"][0]["path"] == "filbert.py"


def test_a_repository_that_git_does_not_ignore_is_searched_with_the_project(
    ask: Ask, main: Path
) -> None:
    inner = write_file(main / "inner" / "filbert.py", "def only_filbert(): pass\n").parent
    run_git(inner, "init", "-q")
    assert not ask(main, "ccc_index")["isError"]
    found = ask(inner, "ccc_search", query="walnut")["details"]["results"]
    assert "walnut.py" in {row["file_path"] for row in found}


@pytest.mark.skipif(not POSIX, reason="its own directories")
@pytest.mark.parametrize("place", ["/usr", "/usr/lib", "/etc", "/proc/self"])
def test_no_directory_of_the_system_is_made_a_project(ask: Ask, place: str) -> None:
    result = ask(Path(place), "ccc_init")
    assert result["details"] == {"code": "system_directory"}
    assert text(result).endswith(
        f"Ask the user; if all of {place} is really to be indexed, call ccc_init with `force`."
    )
    assert not (Path(place) / ".cocoindex_code").exists()
