"""A project has one memory, log and configuration, from wherever in it the server is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import MakeRepository
from helpers import write_file
from vera_ccc_tools.mcp_server.state import ServerState, homes
from vera_ccc_tools.memory.decisions import Memory


def make_project(root: Path) -> Path:
    write_file(root / ".cocoindex_code" / "settings.yml", "")
    return root


@pytest.fixture
def repository(git_repo: MakeRepository) -> Path:
    return git_repo({"app/lib/a.py": "", "other/b.py": ""}).resolve()


def test_it_lies_at_the_root_of_the_ccc_project(repository: Path) -> None:
    project = make_project(repository / "app")
    lib = project / "lib"
    assert ServerState(lib).home == ServerState(project).home == project
    assert homes(lib) == (project, repository, lib)


def test_without_a_ccc_project_it_lies_at_the_root_of_the_repository(repository: Path) -> None:
    assert (
        ServerState(repository / "app" / "lib").home == ServerState(repository).home == repository
    )
    assert homes(repository) == (repository,)


def test_without_a_repository_it_lies_where_the_server_is_started(tmp_path: Path) -> None:
    assert ServerState(tmp_path.resolve()).home == tmp_path.resolve()


def test_a_home_directory_that_was_made_a_project_does_not_take_it(isolated_user: Path) -> None:
    home = make_project(isolated_user.resolve())
    below = home / "notes"
    below.mkdir()
    assert homes(below) == (below,)


def test_settings_and_logs_are_the_projects(repository: Path) -> None:
    write_file(repository / ".cce" / "config", "retrieval:\n  detail: full\n")
    state = ServerState(repository / "app")
    assert state.config.detail == "full"
    state.metrics.feedback("8c74824599a7", helpful=True)
    assert (repository / ".cce" / "metrics.jsonl").is_file()
    assert not (repository / "app" / ".cce").exists()


def test_decisions_that_lie_elsewhere_are_still_read_and_not_recorded_again(
    repository: Path,
) -> None:
    lib = repository / "app" / "lib"
    old = [Memory(place).record(f"kept in {place.name}") for place in (lib, repository)]
    make_project(repository / "app")
    memory = ServerState(lib).memory
    new = memory.record("kept in the project")
    assert not memory.record("kept in lib").new
    assert {each.id for each in memory.decisions()} == {new.id, *(each.id for each in old)}
    assert [each.id for each in Memory(repository / "app").decisions()] == [new.id]
