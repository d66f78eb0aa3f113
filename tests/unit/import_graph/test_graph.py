"""The import graph of a real directory: what it lists, and what it sees of changes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from conftest import MakeRepository
from graph_projects import SHOP, MakeGraph, Soon, built, graphs, many, project
from helpers import POSIX, SECONDS, run_git, write_file
from vera_ccc_tools.git.git import Git
from vera_ccc_tools.import_graph import store as graph_store
from vera_ccc_tools.import_graph import update
from vera_ccc_tools.import_graph.graph import GraphState
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled

graph_of = pytest.fixture(graphs)


def test_a_project_is_told_by_what_it_imports_and_by_what_imports_it(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(SHOP)
    project(root)
    graph = built(graph_of(root))
    assert graph.ready
    assert graph.imports("tests/test_cart.py") == ("shop/cart.py", "shop/price.py")
    assert graph.importers("shop/price.py") == ("shop/cart.py", "tests/test_cart.py")
    assert graph.neighbours("shop/cart.py") == ("shop/price.py", "tests/test_cart.py")
    assert graph.neighbours("notes.txt") == graph.neighbours("no/such.py") == ()
    assert graph.state() == GraphState(ready=True, files=4, edges=3)


def test_two_files_that_import_each_other_are_neighbours_once(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    graph = built(graph_of(git_repo({"a.py": "import b, c\n", "b.py": "import a\n", "c.py": ""})))
    assert graph.neighbours("a.py") == ("b.py", "c.py")


def test_a_large_project_is_built_in_the_background(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(update.MOST_FILES + 1))
    directory = project(root)
    graph = graph_of(root)
    graph.start(Cancel())
    assert graph.wait(SECONDS)
    assert graph.ready
    assert graph.neighbours("m1.py") == ("m2.py", "m0.py")
    assert (directory / graph_store.NAME).is_file()


def test_until_it_is_built_it_names_nothing(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    root = git_repo(many(update.MOST_FILES + 1))
    store = graph_store.opened(project(root) / graph_store.NAME)
    with pytest.raises(Cancelled):
        Updater(root, Environment(), store).update(Soon(update.MOST_FILES), whole=True)
    store.close()
    graph = graph_of(root)
    assert not graph.ready
    assert graph.neighbours("m1.py") == ()
    assert built(graph).neighbours("m1.py") == ("m2.py", "m0.py")


def test_a_graph_is_kept_for_the_next_session(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(update.MOST_FILES + 1))
    project(root)
    built(graph_of(root)).close()
    again = graph_of(root)
    assert again.ready
    assert again.imports("m3.py") == ("m4.py",)
    write_file(root / "m3.py", "import m7\n")
    assert again.update()
    assert again.imports("m3.py") == ("m7.py",)


def test_edits_additions_deletions_and_renames_are_seen_at_once(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(SHOP)
    graph = built(graph_of(root))
    write_file(root / "shop/cart.py", "from shop import money\n")
    assert graph.update()
    assert graph.imports("shop/cart.py") == ("shop/__init__.py",)
    write_file(root / "shop/money.py", "")
    assert graph.update()
    assert graph.imports("shop/cart.py") == ("shop/money.py",)
    (root / "shop/money.py").rename(root / "shop/coins.py")
    assert graph.update()
    assert graph.imports("shop/cart.py") == ("shop/__init__.py",)
    assert graph.importers("shop/money.py") == ()
    (root / "shop/cart.py").unlink()
    assert graph.update()
    assert graph.importers("shop/price.py") == ("tests/test_cart.py",)


def test_a_second_edit_of_the_same_size_in_the_same_moment_is_seen(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo({"a.py": "import b\n", "b.py": "", "c.py": ""})
    graph = built(graph_of(root))
    for name in "cbcbcb":
        write_file(root / "a.py", f"import {name}\n")
        assert graph.update()
        assert graph.imports("a.py") == (f"{name}.py",)


def test_a_time_in_the_future_is_no_reason_to_read_again(
    git_repo: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = git_repo({"a.py": "import b\n", "b.py": ""})
    os.utime(root / "a.py", (4e9, 4e9))
    later = time.time_ns() + 10**10  # the files' other time, of change, is then long ago
    monkeypatch.setattr(time, "time_ns", lambda: later)
    store = graph_store.opened(project(root) / graph_store.NAME)
    updater = Updater(root, Environment(), store)
    updater.update(Cancel())
    monkeypatch.setattr(updater, "_read", None)  # reads no more
    updater.update(Cancel())
    store.close()


def test_a_change_of_many_files_goes_to_the_background(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo(many(60))
    project(root)
    graph = built(graph_of(root))
    for path in many(60):
        write_file(root / path, "import m0\n")
    assert not graph.update()
    assert graph.wait(SECONDS)
    assert graph.update()
    assert len(graph.importers("m0.py")) == 59


def test_a_changed_manifest_resolves_everything_again(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    go = {"go.mod": "module m\n", "a.go": 'package a\nimport "m/b"\n', "b/b.go": "package b\n"}
    root = git_repo(go)
    graph = built(graph_of(root))
    assert graph.imports("a.go") == ("b/b.go",)
    write_file(root / "go.mod", "module other\n")
    assert graph.update()
    assert graph.imports("a.go") == ()


def test_what_git_ignores_is_no_part_of_it(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    root = git_repo({".gitignore": "/build/\n", "a.py": "import made, new\n"})
    write_file(root / "build/x.py", "import a\n")
    write_file(root / "made.py", "")
    write_file(root / "new.py", "")
    graph = built(graph_of(root))
    assert graph.imports("a.py") == ("made.py", "new.py")
    assert graph.importers("a.py") == ()
    write_file(root / ".gitignore", "/build/\n/made.py\n")
    assert graph.update()
    assert graph.imports("a.py") == ("new.py",)


def test_submodules_and_nested_repositories_belong_to_it(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    inner = git_repo({"lib.py": "", "x.js": ""}, name="inner")
    root = git_repo({"a.py": "from vendored.lib import x\nfrom nested.deep import y\n"})
    run_git(
        root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendored"
    )
    (root / "nested").mkdir()
    run_git(root / "nested", "init", "-q")
    write_file(root / "nested/deep.py", "")
    write_file(root / "nested/.gitignore", "hidden.py\n")
    write_file(root / "nested/hidden.py", "import a\n")
    graph = built(graph_of(root))
    assert graph.imports("a.py") == ("nested/deep.py", "vendored/lib.py")
    assert graph.importers("a.py") == ()
    write_file(root / "vendored/lib.py", "import a\n")
    assert graph.update()
    assert graph.importers("a.py") == ("vendored/lib.py",)


def test_a_submodule_called_like_a_source_file_is_no_file(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    inner = git_repo({"index.js": ""}, name="inner")
    root = git_repo({"a.js": "import './highlight.js';\n"})
    allowed = ("-c", "protocol.file.allow=always")
    run_git(root, *allowed, "submodule", "add", "-q", str(inner), "highlight.js")
    graph = built(graph_of(root))
    assert graph.imports("a.js") == ("highlight.js/index.js",)


def test_a_subdirectory_of_a_repository_may_be_the_project(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    root = git_repo({"out.py": "", "sub/a.py": "import b, out\n", "sub/b.py": ""})
    graph = built(graph_of(root / "sub"))
    assert graph.imports("a.py") == ("b.py",)
    assert graph.state().files == 2


def test_without_git_a_walk_leaves_out_what_is_hidden_or_installed(
    tmp_path: Path, graph_of: MakeGraph
) -> None:
    for path in ("a.py", "b.py", ".hidden/c.py", "node_modules/d.js", "x/venv/e.py"):
        write_file(tmp_path / path, "import b\n")
    for environ in ({**os.environ, "PATH": ""}, dict(os.environ)):
        graph = built(graph_of(tmp_path, environ))
        assert graph.imports("a.py") == ("b.py",)
        assert graph.state().files == 2


def test_repositories_below_a_root_that_is_none_are_asked(
    tmp_path: Path, git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    git_repo({"a.py": "import b\n", "b.py": "", ".gitignore": "c.py\n"}, name="all/one")
    write_file(tmp_path / "all/one/c.py", "import b\n")
    write_file(tmp_path / "all/loose.py", "import one.b\n")
    graph = built(graph_of(tmp_path / "all"))
    assert graph.importers("one/b.py") == ("loose.py", "one/a.py")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such names cannot be made")
def test_odd_names_are_names(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    odd = [
        "with space.h",
        "größe.h",
        "日本.h",
        "tab\there.h",
        "line\nbreak.h",
        "caf\udce9.h",
        'q".h',
    ]
    root = git_repo({"start.c": ""})
    source = b"".join(
        b'#include "%s"\n' % os.fsencode(name)
        for name in odd
        if "\n" not in name and '"' not in name
    )
    write_file(root / "start.c", source)
    for name in odd:
        write_file(root / name, "")
    graph = built(graph_of(root))
    readable = [name for name in odd if "\n" not in name and '"' not in name]
    assert graph.imports("start.c") == tuple(sorted(readable))
    assert graph.state().files == len(odd) + 1
    (root / "caf\udce9.h").unlink()
    assert graph.update()
    assert "caf\udce9.h" not in graph.imports("start.c")


def test_files_of_a_megabyte_and_with_errors_are_read(
    git_repo: MakeRepository, graph_of: MakeGraph
) -> None:
    filler = "x = [1, 2, 3]\n" * 70_000
    root = git_repo({"big.py": f"{filler}import small\n", "small.py": "import big\ndef (:\n"})
    project(root)
    graph = built(graph_of(root))
    assert graph.neighbours("big.py") == ("small.py",)
    assert graph.neighbours("small.py") == ("big.py",)


def test_a_file_that_is_too_large_imports_nothing(
    git_repo: MakeRepository, graph_of: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "LARGEST", 100)
    root = git_repo({"a.py": "import b\n" + "#" * 100, "b.py": ""})
    graph = built(graph_of(root))
    assert graph.imports("a.py") == ()
    write_file(root / "a.py", "import b\n")
    assert graph.update()
    assert graph.imports("a.py") == ("b.py",)


@pytest.mark.skipif(not POSIX, reason="links need a right there")
def test_what_cannot_be_looked_at_is_no_file(git_repo: MakeRepository, graph_of: MakeGraph) -> None:
    root = git_repo({"a.py": "import b\n", "b.py": ""})
    (root / "loop.py").symlink_to("loop.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    (root / "dir.py").mkdir()
    graph = built(graph_of(root))
    assert graph.imports("a.py") == ("b.py",)


def test_git_lists_untracked_files_and_repositories_beside_tracked_ones(
    git_repo: MakeRepository,
) -> None:
    root = git_repo({"a b.py": "", "gone.py": "", ".gitignore": "*.log\n"})
    (root / "gone.py").unlink()
    for path in ("new/é.py", "x.log"):
        write_file(root / path, "")
    (root / "nested").mkdir()
    run_git(root / "nested", "init", "-q")
    write_file(root / "nested/y.py", "")
    listed = Git.find(Environment()).listed(root)
    assert sorted(listed.files) == [b".gitignore", b"a b.py", b"gone.py", "new/é.py".encode()]
    assert listed.nested == (b"nested/",)
