"""Searches that do without a refresh find what ``ccc search --refresh`` finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from freshness_tree import Project, Tree, chunks, nested, trees
from helpers import run_git, write_file
from vera_ccc_tools.ccc.replies import Progress
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.fresh import Page


@pytest.fixture
def project(ccc_user: dict[str, str], tmp_path: Path) -> Iterator[Project]:
    with trees(ccc_user, tmp_path) as make:
        yield make


def test_the_second_of_two_searches_starts_no_refresh(project: Project) -> None:
    tree = project()
    assert tree.find().refreshed
    assert tree.rests()
    assert chunks(tree.find().page.hits) == tree.truth()


def submodule(tree: Tree) -> Path:
    other = tree.root.parent / "other"
    other.mkdir()
    run_git(other, "init", "-q")
    write_file(other / "s.py", "value = 'submodule'\n")
    run_git(other, "add", "-A")
    run_git(other, "commit", "-qm", "start")
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    tree.git("commit", "-qm", "submodule")
    return tree.root / "sub" / "s.py"


def untracked(tree: Tree) -> Path:
    return write_file(tree.root / "new" / "deep" / "u.py", "value = 'untracked'\n")


def hidden(flag: str) -> Callable[[Tree], Path]:
    def make(tree: Tree) -> Path:
        tree.git("update-index", flag, "a.py")
        return tree.root / "a.py"

    return make


def linked(tree: Tree) -> Path:
    outside = write_file(tree.root.parent / "outside" / "o.py", "value = 'outside'\n")
    (tree.root / "link").symlink_to(outside.parent)
    return outside


def linked_file(tree: Tree) -> Path:
    outside = write_file(tree.root.parent / "single.py", "value = 'single'\n")
    (tree.root / "single.py").symlink_to(outside)
    tree.git("add", "single.py")
    return outside


def let_in(tree: Tree) -> Path:
    settings = tree.root / ".cocoindex_code" / "settings.yml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        text.replace("exclude_patterns:\n", "exclude_patterns:\n- '!in.log.py'\n"), "utf-8"
    )
    return write_file(tree.root / "in.log.py", "value = 'let in'\n")


def tracked(tree: Tree) -> Path:
    return tree.root / "a.py"


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(tracked, id="a tracked file"),
        pytest.param(untracked, id="a file in an untracked directory"),
        pytest.param(submodule, id="a submodule"),
        pytest.param(nested, id="a nested repository"),
        pytest.param(hidden("--assume-unchanged"), id="a file assumed unchanged"),
        pytest.param(hidden("--skip-worktree"), id="a file outside of a sparse checkout"),
        pytest.param(linked, id="a linked directory"),
        pytest.param(linked_file, id="a linked file"),
        pytest.param(let_in, id="an ignored file that a pattern of the user lets in"),
    ],
)
def test_an_edit_is_seen_in(place: Callable[[Tree], Path], project: Project) -> None:
    tree = project()
    path = place(tree)
    tree.find()
    text = path.read_text(encoding="utf-8")
    times = path.stat()
    path.write_text(text.replace("value", "other"), encoding="utf-8")  # of the same size
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # and time
    found = tree.find()
    assert found.refreshed
    assert chunks(found.page.hits) == tree.truth()


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(untracked, id="an untracked directory"),
        pytest.param(submodule, id="a submodule"),
        pytest.param(nested, id="a nested repository"),
        pytest.param(hidden("--assume-unchanged"), id="a file assumed unchanged"),
        pytest.param(hidden("--skip-worktree"), id="a sparse checkout"),
        pytest.param(linked_file, id="a linked file"),
    ],
)
def test_no_refresh_is_started_for(place: Callable[[Tree], Path], project: Project) -> None:
    tree = project()
    place(tree)
    assert tree.find().refreshed
    assert tree.rests()
    assert chunks(tree.find().page.hits) == tree.truth()


def test_a_link_to_a_directory_of_the_same_work_tree_costs_no_refresh(project: Project) -> None:
    tree = project()
    (tree.root / "mirror").symlink_to("lib")
    assert tree.find().refreshed
    assert tree.rests()
    tree.write("lib/c.py", "value = 'edited'")
    assert tree.find().refreshed


def test_nothing_is_taken_for_unchanged_with_the_sync_turned_off(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = project()
    tree.session.environment.variables["VERA_CCC_GITIGNORE_SYNC"] = "0"
    tree.find()
    assert tree.find().refreshed


def test_nothing_is_taken_for_unchanged_without_a_repository(project: Project) -> None:
    tree = project()
    shutil.rmtree(tree.root / ".git")
    tree.find()
    assert tree.find().refreshed


def test_git_commands_of_the_user_that_change_no_file_cost_no_refresh(project: Project) -> None:
    tree = project()
    assert tree.rests()
    os.utime(tree.root / "a.py")
    assert tree.find().refreshed is False
    tree.git("status")
    assert tree.find().refreshed is False


def test_an_index_run_of_another_process_costs_one_refresh(project: Project) -> None:
    tree = project()
    tree.find()
    tree.write("a.py", "value = 'by another'")
    tree.ccc.index(tree.root)
    found = tree.find()
    assert found.refreshed
    assert chunks(found.page.hits) == tree.truth()
    assert tree.rests()


def test_a_new_daemon_costs_one_refresh(project: Project, ccc_user: dict[str, str]) -> None:
    tree = project()
    tree.find()
    subprocess.run(
        [str(tree.ccc.executable), "daemon", "stop"], env=ccc_user, check=True, timeout=60
    )
    tree.write("a.py", "value = 'meanwhile'")
    found = tree.find()
    assert chunks(found.page.hits) == tree.truth()
    assert tree.rests()


def test_a_file_that_is_written_during_a_refresh_is_seen_by_the_next_search(
    project: Project,
) -> None:
    tree = project()

    def write_afterwards(cancel: Cancel, *, refresh: bool) -> Page:
        page = tree.fetch(cancel, refresh=refresh)
        tree.write("a.py", "value = 'written before the refresh ended'")
        return page

    assert tree.find(write_afterwards).refreshed
    found = tree.find()
    assert found.refreshed
    assert chunks(found.page.hits) == tree.truth()


def test_a_file_that_changed_during_a_refresh_and_back_after_it_is_not_taken_for_seen(
    project: Project,
) -> None:
    tree = project()
    tree.write("b.py", "value = 'a reason to refresh'")
    before = (tree.root / "a.py").read_bytes()

    def change_meanwhile(cancel: Cancel, *, refresh: bool) -> Page:
        tree.write("a.py", "value = 'seen by ccc alone'")
        return tree.fetch(cancel, refresh=refresh)

    assert tree.find(change_meanwhile).refreshed
    (tree.root / "a.py").write_bytes(before)
    found = tree.find()
    assert found.refreshed
    assert chunks(found.page.hits) == tree.truth()


def test_settings_that_change_during_a_refresh_are_not_taken_for_read(project: Project) -> None:
    tree = project()
    settings = tree.root / ".cocoindex_code" / "settings.yml"

    def exclude_afterwards(cancel: Cancel, *, refresh: bool) -> Page:
        page = tree.fetch(cancel, refresh=refresh)
        text = settings.read_text(encoding="utf-8")
        text = text.replace("exclude_patterns:\n", "exclude_patterns:\n- a.py\n")
        settings.write_text(text, encoding="utf-8")
        return page

    assert tree.find(exclude_afterwards).refreshed
    found = tree.find()
    assert found.refreshed
    assert "a.py" not in {hit.file_path for hit in found.page.hits}


def test_an_index_that_was_deleted_under_the_daemon_is_told(project: Project) -> None:
    tree = project()
    shutil.rmtree(tree.root / ".cocoindex_code")
    call = Call(tree.root)
    result = table.call_tool(tree.session, "ccc_index", {}, call)
    assert result["isError"]
    assert "ccc daemon restart" in result["content"][0]["text"]


def test_a_refresh_that_fails_is_tried_again(project: Project) -> None:
    tree = project()

    def fail(cancel: Cancel, *, refresh: bool) -> Page:
        raise Failure("ccc_failed", "no index today")

    tree.find()
    tree.write("a.py", "value = 'to be indexed'")
    with pytest.raises(Failure, match="no index today"):
        tree.find(fail)
    found = tree.find()
    assert found.refreshed
    assert chunks(found.page.hits) == tree.truth()


def test_files_that_could_not_be_indexed_are_tried_again(project: Project) -> None:
    tree = project()

    def report_an_error(cancel: Cancel, *, refresh: bool) -> Page:
        page = tree.fetch(cancel, refresh=refresh)
        return replace(page, run=Progress(4, 3, 0, 0, 0, 1)) if refresh else page

    assert tree.find(report_an_error).refreshed
    assert tree.find().refreshed
    assert tree.rests()


def test_searches_at_the_same_time_share_one_refresh(project: Project) -> None:
    tree = project()
    tree.write("a.py", "value = 'for all of them'")
    with ThreadPoolExecutor() as pool:
        found = [each.result() for each in [pool.submit(tree.find) for _ in range(4)]]
    assert [one.refreshed for one in found].count(True) == 1
    assert {chunks(one.page.hits) for one in found} == {tree.truth()}


def test_a_cancelled_search_ends_no_other_ones_refresh(project: Project) -> None:
    tree = project()
    begun, go_on, cancel = threading.Event(), threading.Event(), Cancel()

    def slow(cancel: Cancel, *, refresh: bool) -> Page:
        begun.set()
        assert go_on.wait(60)
        return tree.fetch(cancel, refresh=refresh)

    with ThreadPoolExecutor() as pool:
        first = pool.submit(tree.find, slow)
        assert begun.wait(60)
        second = pool.submit(tree.find, None, cancel)
        cancel.press()
        with pytest.raises(Cancelled):
            second.result(60)
        go_on.set()
        assert first.result(60).refreshed
    assert tree.rests()
