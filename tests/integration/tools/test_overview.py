"""The index at a glance, with the real ccc: fresh only as long as this session can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import run_git, write_file
from vera_ccc_tools.ccc.project import settings_path
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import overview, table
from vera_ccc_tools.tools.session import Session

SEARCH = {"query": "walnut", "limit": 1}


@pytest.fixture(scope="module")
def session(ccc_home: dict[str, str]) -> Iterator[Session]:
    made = Session(ccc_home)
    yield made
    made.close()


@pytest.fixture(scope="module")
def root(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("overview").resolve() / "repo"
    top.mkdir()
    run_git(top, "init", "-q")
    write_file(top / "a.py", "walnut = 1\n")
    write_file(top / "b.md", "# walnut\n")
    run_git(top, "add", "-A")
    run_git(top, "commit", "-qm", "start")
    call(session, top, "ccc_index", {})
    call(session, top, "ccc_search", SEARCH)
    return top


def call(session: Session, root: Path, tool: str, given: dict[str, Any]) -> None:
    result = table.call_tool(session, tool, given, Call(root))
    assert not result["isError"], result


def fresh(session: Session, root: Path) -> object:
    seen = overview.to_json(session, Call(root))
    assert seen["state"] == "ready"
    return seen["fresh"]


def test_the_size_is_told(session: Session, root: Path) -> None:
    seen = overview.to_json(session, Call(root))
    assert (seen["root"], seen["files"]) == (str(root), 2)
    assert seen["languages"] == {"python": 1, "markdown": 1}
    assert seen["message"] == "The index holds 2 files, 2 chunks."


def test_a_session_that_has_not_refreshed_does_not_know(
    ccc_home: dict[str, str], root: Path
) -> None:
    assert fresh(Session(ccc_home), root) is None


def test_an_edit_makes_it_stale_and_a_search_fresh_again(session: Session, root: Path) -> None:
    assert fresh(session, root) is True
    write_file(root / "a.py", "walnut = 2\n")
    assert fresh(session, root) is False
    call(session, root, "ccc_search", SEARCH)
    assert fresh(session, root) is True


def test_a_new_ignore_rule_makes_it_stale_and_is_not_acted_on(session: Session, root: Path) -> None:
    call(session, root, "ccc_search", SEARCH)
    before = settings_path(root).read_bytes()
    write_file(root / ".git" / "info" / "exclude", "*.tmp.py\n")
    write_file(root / "c.tmp.py", "walnut = 3\n")
    assert fresh(session, root) is False
    assert settings_path(root).read_bytes() == before
    call(session, root, "ccc_search", SEARCH)
    assert settings_path(root).read_bytes() != before
    assert fresh(session, root) is True


def test_an_index_that_another_session_has_written_is_not_known(
    session: Session, root: Path, ccc_home: dict[str, str]
) -> None:
    call(session, root, "ccc_search", SEARCH)
    write_file(root / "a.py", "walnut = 4\n")
    call(Session(ccc_home), root, "ccc_search", SEARCH)
    write_file(root / "a.py", "walnut = 2\n")
    assert fresh(session, root) is not True
