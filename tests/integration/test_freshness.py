"""Searches that do without a refresh find what ``ccc search --refresh`` finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from helpers import run_git, write_file
from vera_ccc_tools import tools
from vera_ccc_tools.ccc import Ccc, Query
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.process import Cancel
from vera_ccc_tools.refresh import Fetch, Found
from vera_ccc_tools.replies import Hit, Progress
from vera_ccc_tools.session import Call, Session

ALL = 100
"""More than these repositories have chunks, so that a search gives the whole index."""
STEPS = int(os.environ.get("VERA_CCC_FRESHNESS_STEPS", "30"))
Refreshed = Callable[[Progress | None], None]
Chunks = frozenset[tuple[str, str]]
Project = Callable[[], "Tree"]


class Tree:
    """A project of a ccc user, and the searches of one session in it."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.session = Session(environ)
        self.ccc = Ccc.locate(environ)
        write_file(root / ".gitignore", "*.log.py\n/.cocoindex_code/\n")
        run_git(root.parent, "init", "-q", str(root))
        for name in ("a.py", "b.py", "lib/c.py", "lib/d.py"):
            self.write(name, f"value = '{name}'")
        self.git("add", "-A")
        self.git("commit", "-qm", "start")
        self.ccc.init(root, force=True, model=None, cancel=None)
        self.ccc.index(root)

    def write(self, name: str, line: str) -> None:
        write_file(self.root / name, f"{line}\n")

    def git(self, *arguments: str) -> str:
        return run_git(self.root, *arguments)

    def fetch(self, cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        query = Query("value", ALL, refresh=refreshed is not None)
        return self.ccc.search(self.root, query, cancel=cancel, refreshed=refreshed)

    def find(
        self, fetch: Fetch[tuple[Hit, ...]] | None = None, cancel: Cancel | None = None
    ) -> Found[tuple[Hit, ...]]:
        call = Call(self.root, cancel or Cancel())
        return self.session.refresher().find(self.ccc, self.root, call, fetch or self.fetch)

    def truth(self) -> Chunks:
        return chunks(self.ccc.search(self.root, Query("value", ALL, refresh=True)))

    def close(self) -> None:
        self.session.close()
        shutil.rmtree(self.root)


def chunks(hits: tuple[Hit, ...]) -> Chunks:
    return frozenset((hit.file_path, hit.content) for hit in hits)


@pytest.fixture
def project(ccc_user: dict[str, str], tmp_path: Path) -> Iterator[Project]:
    made: list[Tree] = []

    def make() -> Tree:
        root = Path(tempfile.mkdtemp(dir=tmp_path)) / "p"
        root.mkdir()
        made.append(Tree(root, ccc_user))
        return made[-1]

    yield make
    for tree in made:
        tree.close()


def test_the_second_of_two_searches_starts_no_refresh(project: Project) -> None:
    tree = project()
    assert tree.find().refreshed
    second = tree.find()
    assert not second.refreshed
    assert chunks(second.value) == tree.truth()


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


def nested(tree: Tree) -> Path:
    inner = tree.root / "inner"
    inner.mkdir()
    run_git(inner, "init", "-q")
    write_file(inner / "n.py", "value = 'nested'\n")
    run_git(inner, "add", "-A")
    run_git(inner, "commit", "-qm", "start")
    return inner / "n.py"


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
    assert chunks(found.value) == tree.truth()


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
    second = tree.find()
    assert not second.refreshed, second.reason
    assert chunks(second.value) == tree.truth()


def test_a_link_to_a_directory_of_the_same_work_tree_costs_no_refresh(project: Project) -> None:
    tree = project()
    (tree.root / "mirror").symlink_to("lib")
    assert tree.find().refreshed
    assert not tree.find().refreshed
    tree.write("lib/c.py", "value = 'edited'")
    assert tree.find().refreshed


def test_nothing_is_taken_for_unchanged_with_the_sync_turned_off(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = project()
    tree.session.environ["VERA_CCC_GITIGNORE_SYNC"] = "0"
    tree.find()
    assert tree.find().refreshed


def test_nothing_is_taken_for_unchanged_without_a_repository(project: Project) -> None:
    tree = project()
    shutil.rmtree(tree.root / ".git")
    tree.find()
    assert tree.find().refreshed


def test_git_commands_of_the_user_that_change_no_file_cost_no_refresh(project: Project) -> None:
    tree = project()
    tree.find()
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
    assert chunks(found.value) == tree.truth()
    assert not tree.find().refreshed


def test_a_new_daemon_costs_one_refresh(project: Project, ccc_user: dict[str, str]) -> None:
    tree = project()
    tree.find()
    subprocess.run(
        [str(tree.ccc.executable), "daemon", "stop"], env=ccc_user, check=True, timeout=60
    )
    tree.write("a.py", "value = 'meanwhile'")
    found = tree.find()
    assert chunks(found.value) == tree.truth()
    assert not tree.find().refreshed


def test_a_file_that_is_written_during_a_refresh_is_seen_by_the_next_search(
    project: Project,
) -> None:
    tree = project()

    def write_afterwards(cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        hits = tree.fetch(cancel, refreshed)
        tree.write("a.py", "value = 'written before the refresh ended'")
        return hits

    assert tree.find(write_afterwards).refreshed
    found = tree.find()
    assert found.refreshed
    assert chunks(found.value) == tree.truth()


def test_a_file_that_changed_and_changed_back_during_a_refresh_is_not_taken_for_seen(
    project: Project,
) -> None:
    tree = project()
    tree.write("b.py", "value = 'a reason to refresh'")

    def change_meanwhile(cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        before = (tree.root / "a.py").read_bytes()
        tree.write("a.py", "value = 'seen by ccc alone'")
        hits = tree.fetch(cancel, refreshed)
        (tree.root / "a.py").write_bytes(before)
        return hits

    assert tree.find(change_meanwhile).refreshed
    found = tree.find()
    assert found.refreshed
    assert chunks(found.value) == tree.truth()


def test_settings_that_change_during_a_refresh_are_not_taken_for_read(project: Project) -> None:
    tree = project()
    settings = tree.root / ".cocoindex_code" / "settings.yml"

    def exclude_afterwards(cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        hits = tree.fetch(cancel, refreshed)
        text = settings.read_text(encoding="utf-8")
        text = text.replace("exclude_patterns:\n", "exclude_patterns:\n- a.py\n")
        settings.write_text(text, encoding="utf-8")
        return hits

    assert tree.find(exclude_afterwards).refreshed
    found = tree.find()
    assert found.refreshed
    assert "a.py" not in {hit.file_path for hit in found.value}


def test_an_index_that_was_deleted_under_the_daemon_is_told(project: Project) -> None:
    tree = project()
    shutil.rmtree(tree.root / ".cocoindex_code")
    call = Call(tree.root)
    result = tools.call_tool(tree.session, "ccc_index", {}, call)
    assert result["isError"]
    assert "ccc daemon restart" in result["content"][0]["text"]


def test_a_refresh_that_fails_is_tried_again(project: Project) -> None:
    tree = project()

    def fail(cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        raise Failure("ccc_failed", "no index today")

    tree.find()
    tree.write("a.py", "value = 'to be indexed'")
    with pytest.raises(Failure, match="no index today"):
        tree.find(fail)
    found = tree.find()
    assert found.refreshed
    assert chunks(found.value) == tree.truth()


def test_files_that_could_not_be_indexed_are_tried_again(project: Project) -> None:
    tree = project()

    def report_an_error(cancel: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        hits = tree.fetch(cancel, refreshed)
        if refreshed is not None:
            refreshed(Progress(4, 3, 0, 0, 0, 1))
        return hits

    assert tree.find(report_an_error).refreshed
    assert tree.find().refreshed
    assert not tree.find().refreshed


def test_searches_at_the_same_time_share_one_refresh(project: Project) -> None:
    tree = project()
    tree.write("a.py", "value = 'for all of them'")
    with ThreadPoolExecutor() as pool:
        found = [each.result() for each in [pool.submit(tree.find) for _ in range(4)]]
    assert [one.refreshed for one in found].count(True) == 1
    assert {chunks(one.value) for one in found} == {tree.truth()}


def test_a_cancelled_search_ends_no_other_ones_refresh(project: Project) -> None:
    tree = project()
    begun, go_on, cancel = threading.Event(), threading.Event(), Cancel()

    def slow(own: Cancel, refreshed: Refreshed | None) -> tuple[Hit, ...]:
        begun.set()
        assert go_on.wait(60)
        return tree.fetch(own, refreshed)

    with ThreadPoolExecutor() as pool:
        first = pool.submit(tree.find, slow)
        assert begun.wait(60)
        second = pool.submit(tree.find, None, cancel)
        cancel.press()
        with pytest.raises(Failure, match="cancelled"):
            second.result(60)
        go_on.set()
        assert first.result(60).refreshed
    assert not tree.find().refreshed


class Work(RuleBasedStateMachine):
    """What people and their tools do to a work tree, a search after each step."""

    new_tree: Callable[[], Tree]

    def __init__(self) -> None:
        super().__init__()
        self.tree = type(self).new_tree()
        self.number = 0

    def _line(self) -> str:
        self.number += 1
        return f"value = 'text number {self.number:05}'"

    def _files(self) -> list[Path]:
        names = self.tree.git("ls-files", "-co", "--exclude-standard", "-z").split("\0")
        paths = [self.tree.root / name for name in names if name.endswith(".py")]
        return sorted(path for path in paths if path.is_file() and not path.is_symlink())

    @rule(pick=st.integers(0, 20))
    def edit(self, pick: int) -> None:
        if files := self._files():
            write_file(files[pick % len(files)], f"{self._line()}\n")

    @rule(name=st.sampled_from(["n1.py", "lib/n2.py", "new/n3.py", "new/x/n4.py", "no.log.py"]))
    def add(self, name: str) -> None:
        self.tree.write(name, self._line())

    @rule(pick=st.integers(0, 20))
    def delete(self, pick: int) -> None:
        if files := self._files():
            files[pick % len(files)].unlink()

    @rule(pick=st.integers(0, 20))
    def rename(self, pick: int) -> None:
        if files := self._files():
            self.number += 1
            path = files[pick % len(files)]
            path.rename(path.with_name(f"renamed{self.number}.py"))

    @rule()
    def move_a_directory(self) -> None:
        for source, target in (("lib", "moved"), ("moved", "lib")):
            if (self.tree.root / source).is_dir() and not (self.tree.root / target).exists():
                (self.tree.root / source).rename(self.tree.root / target)
                return

    @rule()
    def stage(self) -> None:
        self.tree.git("add", "-A")

    @rule()
    def commit(self) -> None:
        self.tree.git("add", "-A")
        self.tree.git("commit", "-qm", "step", "--allow-empty")

    @rule(name=st.sampled_from(["main", "one", "two"]))
    def check_out(self, name: str) -> None:
        self.tree.git("add", "-A")
        self.tree.git("commit", "-qm", "before", "--allow-empty")
        known = name in self.tree.git("branch", "--format=%(refname:short)").split()
        self.tree.git("checkout", "-q", *([] if known else ["-b"]), name)

    @rule()
    def stash(self) -> None:
        if self.tree.git("status", "--porcelain", "--ignore-submodules=all").strip():
            self.tree.git("stash", "-q", "-u")

    @rule(pattern=st.sampled_from(["n1.py", "lib/", "new/", "b.py", "renamed*"]))
    def ignore(self, pattern: str) -> None:
        path = self.tree.root / ".gitignore"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        lines = [line for line in lines if line != pattern] + [pattern] * (pattern not in lines)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    @rule(pattern=st.sampled_from(["n1.py", "new/", "a.py"]))
    def ignore_privately(self, pattern: str) -> None:
        path = self.tree.root / ".git" / "info" / "exclude"
        path.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        line = f"{pattern}\n"
        path.write_text(text.replace(line, "") if line in text else text + line, encoding="utf-8")

    @rule(pattern=st.sampled_from(["lib/**", "a.py"]))
    def change_the_settings(self, pattern: str) -> None:
        path = self.tree.root / ".cocoindex_code" / "settings.yml"
        text, line = path.read_text(encoding="utf-8"), f"- {pattern}\n"
        changed = text.replace(line, "") if line in text else None
        if changed is None:
            changed = text.replace("exclude_patterns:\n", f"exclude_patterns:\n{line}")
        path.write_text(changed, encoding="utf-8")

    @precondition(lambda self: not (self.tree.root / "inner").exists())
    @rule()
    def add_a_nested_repository(self) -> None:
        nested(self.tree)

    @rule()
    def edit_inside_a_nested_repository(self) -> None:
        if (self.tree.root / "inner" / "n.py").exists():
            self.tree.write("inner/n.py", self._line())

    @rule(flag=st.sampled_from(["--assume-unchanged", "--no-assume-unchanged"]))
    def assume(self, flag: str) -> None:
        if self.tree.git("ls-files", "b.py").strip():
            self.tree.git("update-index", flag, "b.py")

    @rule()
    def link_a_directory(self) -> None:
        link = self.tree.root / "link"
        if link.is_symlink():
            link.unlink()
        elif not link.exists():
            outside = write_file(self.tree.root.parent / "outside" / "o.py", f"{self._line()}\n")
            link.symlink_to(outside.parent)

    @rule()
    def edit_behind_the_link(self) -> None:
        write_file(self.tree.root.parent / "outside" / "o.py", f"{self._line()}\n")

    @rule()
    def index_by_another_process(self) -> None:
        self.tree.ccc.index(self.tree.root)

    @rule()
    def do_nothing(self) -> None:
        pass

    @invariant()
    def a_search_finds_what_is_there(self) -> None:
        found = chunks(self.tree.find().value)
        assert found == self.tree.truth()


def test_after_each_step_of_work_a_search_finds_what_a_refreshing_one_finds(
    project: Project,
) -> None:
    class WorkHere(Work):
        new_tree = staticmethod(project)

    examples = max(1, STEPS // 50)
    hypothesis.stateful.run_state_machine_as_test(
        WorkHere,
        settings=hypothesis.settings(
            max_examples=examples,
            stateful_step_count=STEPS // examples,
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
