"""Whatever people do to a work tree, a search finds what a refreshing one finds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from freshness_tree import Project, Tree, chunks, nested, trees
from helpers import write_file

STEPS = int(os.environ.get("VERA_CCC_FRESHNESS_STEPS", "30"))


@pytest.fixture
def project(ccc_user: dict[str, str], tmp_path: Path) -> Iterator[Project]:
    with trees(ccc_user, tmp_path) as make:
        yield make


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
        found = chunks(self.tree.find().page.hits)
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
