"""The import graph's file and its build: broken, removed, shared, ended midway."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from conftest import MakeRepository
from core_helpers import until
from graph_projects import SHOP, MakeGraph, Soon, built, graphs, many, project
from helpers import ROOT, SECONDS, write_file
from vera_ccc_tools.import_graph import store as graph_store
from vera_ccc_tools.import_graph import update
from vera_ccc_tools.import_graph.graph import GraphState
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled

graph_of = pytest.fixture(graphs)


def test_a_database_that_breaks_in_the_middle_is_thrown_away(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(200))
    path = project(root) / graph_store.NAME
    built(graph_of(root)).close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    graph = graph_of(root)
    assert graph.imports("m3.py") == ()
    assert built(graph).imports("m3.py") == ("m4.py",)


def test_a_database_that_is_removed_meanwhile_is_made_anew(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(SHOP)
    path = project(root) / graph_store.NAME
    graph = built(graph_of(root))
    for each in path.parent.glob(f"{graph_store.NAME}*"):
        each.unlink()
    assert built(graph).state().edges == 3
    assert path.exists()


def test_where_it_cannot_be_kept_there_is_none_and_it_says_so(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(SHOP)
    graph = graph_of(root)
    (project(root) / graph_store.NAME).mkdir()
    assert not graph.update()
    assert graph.neighbours("shop/cart.py") == ()
    assert not graph.ready
    assert "unable to open database file" in graph.state().problem


def test_it_is_kept_where_ccc_is_told_to_keep_its_index(
    git_repo: MakeRepository, graph_of: MakeGraph, tmp_path: Path
) -> None:
    root = git_repo(SHOP)
    (tmp_path / "elsewhere").mkdir()
    mapping = f"{root}={tmp_path / 'elsewhere'}"
    built(graph_of(root, {**os.environ, "COCOINDEX_CODE_DB_PATH_MAPPING": mapping}))
    assert (tmp_path / "elsewhere" / graph_store.NAME).is_file()


def test_two_processes_build_and_update_one_graph(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(400))
    path = project(root) / graph_store.NAME
    command = [
        sys.executable,
        "-P",
        "-m",
        "vera_ccc_tools.import_graph.build",
        str(root),
        str(path),
    ]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) for _ in range(2)]
    for each in both:
        assert each.communicate(timeout=SECONDS)[1] == b""
        assert each.returncode == 0
    one, two = graph_of(root), graph_of(root)
    assert one.state() == two.state() == GraphState(ready=True, files=400, edges=399)
    write_file(root / "m3.py", "import m0\n")
    assert one.update()
    assert two.imports("m3.py") == ("m0.py",)
    write_file(root / "m3.py", "import m9\n")
    assert two.update()
    assert one.update()
    assert one.imports("m3.py") == ("m9.py",)


@pytest.mark.parametrize("looks", [0, 5, 250, 450, 700])
def test_a_build_that_is_ended_goes_on_later(
    git_repo: MakeRepository, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    monkeypatch.setattr(update, "_AT_ONCE", 100)
    root = git_repo(many(400))
    store = graph_store.opened(project(root) / graph_store.NAME)
    with pytest.raises(Cancelled):
        Updater(root, Environment(), store).update(Soon(looks), whole=True)
    with store.reading() as connection:
        assert not graph_store.marks(connection).built
    Updater(root, Environment(), store).update(Cancel(), whole=True)
    with store.reading() as connection:
        assert graph_store.counts(connection) == (400, 399)
    store.close()


def builds() -> list[psutil.Process]:
    """The processes under this one that build a graph."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # one that has just ended
            if "vera_ccc_tools.import_graph.build" in child.cmdline():
                found.append(child)
    return found


def test_the_build_ends_with_the_graph(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    root = git_repo(many(update.MOST_FILES + 1))
    graph = graph_of(root)
    with FileLock((project(root) / graph_store.NAME).with_suffix(".lock")):
        graph.start(Cancel())
        until(builds)
        graph.close()
        assert not builds()


def test_a_build_that_fails_says_why_and_is_not_begun_again_at_once(
    git_repo: MakeRepository, graph_of: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(sys.executable).with_name("no-such-python")))
    root = git_repo(many(update.MOST_FILES + 1))
    project(root)
    graph = graph_of(root)
    assert not graph.update()
    assert graph.wait(SECONDS)
    assert "Cannot run" in graph.state().problem
    assert not graph.update()
    assert not graph.building
