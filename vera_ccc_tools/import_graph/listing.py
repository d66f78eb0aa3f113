"""The files that the import graph is made of: what git does not ignore, of languages it reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vera_ccc_tools.chunks import grammars
from vera_ccc_tools.git.git import Git, GitFailed, GitMissing, Listed, NotAWorkTree
from vera_ccc_tools.import_graph import manifests
from vera_ccc_tools.system.tasks import Cancel

_LEFT_OUT = frozenset(
    """
    __pycache__ bower_components build dist env node_modules out site-packages target vendor venv
    """.split()
)
"""Directories that a walk without git leaves out beside hidden ones: what is installed, built."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is to read, relative to the project's root with forward slashes.

    Attributes:
        paths: Source files and manifests, sorted; some may be gone from the disk.
        unreadable: Directories that could not be looked into.
    """

    paths: tuple[str, ...]
    unreadable: tuple[str, ...]


class Lister:
    """Lists the files of one project, and knows the same answer again."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._last: tuple[tuple[object, ...], Listing] | None = None

    def listing(self, cancel: Cancel) -> Listing:
        """The files now; the very object of the last time when nothing came or went.

        Raises:
            Failure: ``git_timeout``.
        """
        collector = _Collector(self._root, self._git(), cancel)
        if not collector.ask(b""):
            collector.walk()
        found = collector.found()
        if self._last is None or self._last[0] != found:
            self._last = found, collector.listing()
        return self._last[1]

    def _git(self) -> Git | None:
        try:
            return Git.find(self._environ)
        except GitMissing:
            return None


class _Collector:
    """Collects the files of one project once."""

    def __init__(self, root: Path, git: Git | None, cancel: Cancel) -> None:
        self._root = root
        self._git = git
        self._cancel = cancel
        self._answers: list[tuple[bytes, Listed]] = []
        self._walked: list[bytes] = []
        self._unreadable: list[bytes] = []

    def ask(self, at: bytes) -> bool:
        """Ask the repository at *at*, and those in it; say whether it is one."""
        todo = [at]
        for place in todo:  # which grows meanwhile
            try:
                listed = self._listed(place)
            except (NotAWorkTree, GitFailed):
                if place == at:
                    return False
                self._unreadable.append(place)
                continue
            self._answers.append((place, listed))
            self._unreadable += [place + path for path in listed.unreadable]
            nested = (place + each for each in listed.nested)
            # A submodule that is not checked out has nothing to list.
            todo += [each for each in nested if os.path.lexists(self._at(each) / ".git")]
        return True

    def walk(self) -> None:
        """Take every file, where no git answers for the root, but for what is usually installed."""
        base = os.fsencode(self._root)
        for directory, names, files in os.walk(base, onerror=self._not_walked):
            self._cancel.check()
            at = self._relative(directory)
            if at and (b".git" in names or b".git" in files) and self.ask(at):
                names.clear()
                continue
            names[:] = [name for name in names if _is_walked(os.fsdecode(name))]
            self._walked += [at + name for name in files]

    def found(self) -> tuple[object, ...]:
        """Equal for equal answers."""
        raw = [(at, listed.raw) for at, listed in self._answers]
        return raw, self._walked, self._unreadable

    def listing(self) -> Listing:
        paths = {os.fsdecode(path) for path in self._walked}
        for at, listed in self._answers:
            paths.update(os.fsdecode(at + path) for path in listed.files)
        unreadable = {os.fsdecode(path).rstrip("/") for path in self._unreadable}
        return Listing(tuple(sorted(filter(is_read, paths))), tuple(sorted(unreadable)))

    def _listed(self, at: bytes) -> Listed:
        if self._git is None:
            raise NotAWorkTree("not_a_work_tree", "There is no git to ask.")
        return self._git.listed(self._at(at), cancel=self._cancel)

    def _at(self, place: bytes) -> Path:
        return self._root / os.fsdecode(place)

    def _relative(self, directory: bytes) -> bytes:
        at = os.path.relpath(directory, os.fsencode(self._root))
        return b"" if at == b"." else at.replace(os.fsencode(os.sep), b"/") + b"/"

    def _not_walked(self, error: OSError) -> None:
        self._unreadable.append(self._relative(os.fsencode(error.filename)))


def is_read(path: str) -> bool:
    """Whether the file at *path* is a source file or a manifest."""
    name = path.rpartition("/")[2]
    return manifests.is_manifest(name) or language_of(name) is not None


def language_of(path: str) -> str | None:
    """The language of a file that has a grammar; quick for the many that have none."""
    return grammars.language_of(path) if _has_grammar(path.rpartition(".")[2]) else None


@cache
def _has_grammar(extension: str) -> bool:
    return grammars.language_of(f"x.{extension}") is not None


def _is_walked(name: str) -> bool:
    return not name.startswith(".") and name not in _LEFT_OUT
