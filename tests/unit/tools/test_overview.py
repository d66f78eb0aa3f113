"""The index at a glance: one state, and nothing started for a project that has no index."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core_helpers import FakeCcc, MakeExecutable, environment, fake_ccc, make_project
from vera_ccc_tools.errors import Front
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import overview
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.session import Session

STATS = "Index stats:\n  Chunks: {}\n  Files:  {}\n  Languages:\n    python: {} chunks\n"
RUNNING = (
    "Indexing in progress: {} files listed | {} added, 0 deleted, 0 reprocessed, "
    "{} unchanged, error: 0\n"
)

See = Callable[..., dict[str, Any]]


@pytest.fixture
def fake(fake_executable: MakeExecutable, tmp_path: Path) -> FakeCcc:
    body = f"print(open({str(tmp_path / 'status')!r}, encoding='utf-8').read())"
    return fake_ccc(fake_executable, tmp_path, body)


@pytest.fixture
def see(fake: FakeCcc, tmp_path: Path) -> See:
    def look(
        cwd: Path, printed: str = "", session: Session | None = None, **environ: str
    ) -> dict[str, Any]:
        cwd.mkdir(parents=True, exist_ok=True)
        (tmp_path / "status").write_text(printed, encoding="utf-8")
        seen = overview.to_json(session or made(fake, **environ), Call(cwd))
        assert json.loads(json.dumps(seen)) == seen
        return seen

    return look


def made(fake: FakeCcc, **environ: str) -> Session:
    variables = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    return Session(environment(**variables | environ))


def test_where_there_is_no_project_nothing_is_started(
    see: See, fake: FakeCcc, tmp_path: Path
) -> None:
    seen = see(tmp_path / "a")
    assert (seen["state"], seen["root"]) == ("none", None)
    assert seen["hint"] == (
        "Call ccc_init, then ccc_index, if this directory is to be indexed; use rg meanwhile."
    )
    (tmp_path / "a" / ".git").mkdir()
    assert (
        f"Call ccc_index, which makes a project of the git repository {tmp_path / 'a'}"
        in see(tmp_path / "a")["hint"]
    )
    assert fake.calls() == []


def test_a_project_without_an_index_starts_nothing(see: See, fake: FakeCcc, tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", indexed=False)
    seen = see(root / "sub")
    assert (seen["state"], seen["root"]) == ("unindexed", str(root))
    assert "ccc_index" in seen["hint"]
    assert fake.calls() == []


def test_what_an_init_would_find_is_told(see: See, tmp_path: Path) -> None:
    def found(cwd: Path) -> tuple[str, str | None]:
        seen = see(cwd, STATS.format(0, 0, 0))
        return seen["init"], seen["repository"]

    repository = tmp_path / "r"
    (repository / ".git").mkdir(parents=True)
    assert found(tmp_path / "a") == ("free", None)
    assert found(repository) == ("free", str(repository))
    assert found(repository / "sub") == ("within", str(repository))
    make_project(repository)
    assert found(repository)[0] == "done"
    assert found(repository / "sub")[0] == "within"
    make_project(tmp_path / "p")
    assert found(tmp_path / "p" / "sub") == ("within", None)


def test_whether_a_model_is_chosen_is_told(see: See, tmp_path: Path) -> None:
    user = tmp_path / "user"
    assert see(tmp_path / "a", COCOINDEX_CODE_DIR=str(user))["has_model"] is False
    user.mkdir()
    (user / "global_settings.yml").write_text("embedding: {}\n")
    assert see(tmp_path / "a", COCOINDEX_CODE_DIR=str(user))["has_model"] is True


def test_a_ready_index_is_told_with_exact_numbers(see: See, tmp_path: Path) -> None:
    root = make_project(tmp_path / "p")
    user = {"COCOINDEX_CODE_DIR": str(tmp_path)}
    assert see(root, STATS.format(17_234, 5711, 17_234), **user) == {
        "state": "ready",
        "root": str(root),
        "files": 5711,
        "chunks": 17_234,
        "languages": {"python": 17_234},
        "progress": None,
        "job": None,
        "fresh": None,
        "message": "The index holds 5,711 files, 17,234 chunks.",
        "hint": "",
        "repository": None,
        "init": "done",
        "has_model": False,
    }


def test_only_a_run_that_changes_much_is_the_state(see: See, tmp_path: Path) -> None:
    root = make_project(tmp_path / "p")
    seen = see(root, STATS.format(9000, 900, 9000) + RUNNING.format(1300, 500, 700))
    assert seen["state"] == "indexing"
    assert seen["progress"] == {
        "listed": 1300,
        "done": 1200,
        "added": 500,
        "reprocessed": 0,
        "unchanged": 700,
        "deleted": 0,
        "errors": 0,
    }
    seen = see(root, STATS.format(9000, 900, 9000) + RUNNING.format(900, 3, 700))
    assert (seen["state"], seen["progress"]["done"]) == ("ready", 703)


@pytest.mark.parametrize(
    ("printed", "state"),
    [(STATS.format(0, 0, 0), "empty"), ("Index not created yet.\n", "unindexed")],
)
def test_an_index_that_holds_nothing_is_told(
    see: See, tmp_path: Path, printed: str, state: str
) -> None:
    assert see(make_project(tmp_path / "p"), printed)["state"] == state


def test_a_ccc_that_is_missing_or_fails_is_unavailable(see: See, tmp_path: Path) -> None:
    seen = see(tmp_path / "a", VERA_CCC_EXECUTABLE="", PATH="")
    assert (seen["state"], seen["root"]) == ("unavailable", None)
    assert "not installed" in seen["message"]
    assert "pipx install" in seen["hint"]


def test_a_background_index_run_is_the_state_from_its_start(
    see: See, fake: FakeCcc, tmp_path: Path
) -> None:
    session, go = made(fake), Cancel()

    def run(_cancel: Cancel) -> Answer:
        go.wait(30)
        return Answer("done")

    repository = tmp_path / "r"
    (repository / ".git").mkdir(parents=True)
    session.start(repository, "ccc_index", run)
    seen = see(repository / "sub", session=session)
    assert (seen["state"], seen["files"]) == ("indexing", 0)
    line = "ccc_index is running in the background."
    assert seen["job"] == {"tool": "ccc_index", "running": True, "failed": False, "line": line}
    go.press()
    session.finish(Front.MODEL)
    seen = see(repository / "sub", session=session)
    assert (seen["state"], seen["job"]["running"]) == ("none", False)
    assert fake.calls() == []


def test_a_cancel_is_no_overview(fake: FakeCcc, tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.press()
    with pytest.raises(Cancelled):
        overview.to_json(made(fake), Call(make_project(tmp_path / "p"), cancel))


def test_a_home_directory_that_is_a_project_is_not_looked_at(
    see: See, fake: FakeCcc, isolated_user: Path
) -> None:
    make_project(isolated_user)
    seen = see(isolated_user / "code")
    assert seen["state"] == "unavailable"
    assert f"The home directory {isolated_user} is a ccc project" in seen["message"]
    assert "settings.yml" in seen["hint"]
    assert fake.calls() == []
