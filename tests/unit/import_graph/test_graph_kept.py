"""The import graph's file and its build: broken, removed, shared, ended midway."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from conftest import MakeRepository
from graph_projects import SHOP, MakeGraph, Soon, built, graphs, many, project
from helpers import ROOT, SECONDS, write_file
from vera_ccc_tools.import_graph import store as graph_store
from vera_ccc_tools.import_graph import update
from vera_ccc_tools.import_graph.graph import State
from vera_ccc_tools.import_graph.store import Store
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.tasks import Cancel, Cancelled

graph_of = pytest.fixture(graphs)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_database_is_thrown_away(
    git_repo: MakeRepository, graph_of: MakeGraph, content: bytes
) -> None:
    root = git_repo(SHOP)
    write_file(project(root) / graph_store.NAME, content)
    assert built(graph_of(root)).state().edges == 3


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


def test_a_database_of_another_version_is_thrown_away(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(SHOP)
    path = project(root) / graph_store.NAME
    built(graph_of(root)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {graph_store.VERSION + 1}")
        connection.execute("DROP TABLE edge")
    connection.close()
    assert built(graph_of(root)).state().edges == 3


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


def test_where_it_cannot_be_kept_it_is_in_memory(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(update.MOST_FILES + 1))
    graph = built(graph_of(root))
    assert graph.imports("m3.py") == ("m4.py",)
    write_file(root / "m3.py", "import m0\n")
    assert graph.update()
    assert graph.imports("m3.py") == ("m0.py",)
    assert not (root / ".cocoindex_code").exists()
    project(root).joinpath(graph_store.NAME).mkdir()
    assert built(graph_of(root)).imports("m3.py") == ("m0.py",)


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
    assert one.state() == two.state() == State(ready=True, files=400, edges=399)
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
    store = Store(project(root) / graph_store.NAME)
    with pytest.raises(Cancelled):
        Updater(root, os.environ, store).update(Soon(looks), whole=True)
    with store.reading() as connection:
        assert not graph_store.marks(connection).built
    Updater(root, os.environ, store).update(Cancel(), whole=True)
    with store.reading() as connection:
        assert graph_store.counts(connection) == (400, 399)
    store.close()


def test_the_build_ends_with_the_graph(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    root = git_repo(many(2000))
    project(root)
    graph = graph_of(root)
    cancel = Cancel()
    graph.start(cancel)
    cancel.press()
    assert graph.wait(SECONDS)
    graph.close()
    mine = psutil.Process().children(recursive=True)
    assert not [each for each in mine if "graph_build" in " ".join(each.cmdline())]


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
