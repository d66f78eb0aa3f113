"""All repositories below a project's root: what they ignore and what they keep.

A nested repository, a submodule and an inner work tree are opaque to the repository around
them and have ignore rules of their own, so each is asked itself, and its paths are prefixed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from vera_ccc_tools.ccc.project import DIRECTORY, find_git_root
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.git.git import Git, GitFailed, Listed, NotAWorkTree, Repository, Status
from vera_ccc_tools.system.files import Identity, identity
from vera_ccc_tools.system.tasks import Cancel

_OWN = os.fsencode(DIRECTORY) + b"/"
Answer = TypeVar("Answer")


def ask_each(
    root: Path, starts: Iterable[bytes], ask: Callable[[bytes], tuple[Answer, Iterable[bytes]]]
) -> tuple[dict[bytes, Answer], dict[bytes, Failure]]:
    """Ask the repositories at *starts* and those in them; places end in ``/``, the root's is empty.

    *ask* gives a repository's answer and the places in it that may be repositories. Returned are
    the answers by place, in order, and why a nested repository could not be asked.

    Raises:
        Failure: The repository of the root itself cannot be asked.
    """
    answers: dict[bytes, Answer] = {}
    failures: dict[bytes, Failure] = {}
    todo = list(starts)
    seen = set(todo)
    while todo:
        at = todo.pop()
        try:
            answers[at], nested = ask(at)
        except Failure as failure:
            if not at:
                raise
            if not isinstance(failure, NotAWorkTree):
                failures[at] = failure
            continue
        for place in nested:
            # A submodule that is not checked out has no repository.
            if place not in seen and os.path.lexists(root / os.fsdecode(place) / ".git"):
                seen.add(place)
                todo.append(place)
    return dict(sorted(answers.items())), failures


def repositories_below(
    root: Path, is_walked: Callable[[bytes], bool] | None = None
) -> Iterator[bytes]:
    """The places of repositories below a root that is in none; links are not followed."""
    base = os.fsencode(root)
    for directory, names, files in os.walk(base):
        if directory != base and (b".git" in names or b".git" in files):
            names.clear()
            yield place_of(directory, base)
        names[:] = filter(is_walked, names)


def place_of(directory: bytes, base: bytes) -> bytes:
    """The place of a *directory* below *base*."""
    at = os.path.relpath(directory, base)
    return b"" if at == b"." else at.replace(os.fsencode(os.sep), b"/") + b"/"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A whole project, paths relative to its root, ``/`` between names.

    Attributes:
        directories: Ignored directories, without the final ``/``; an empty name is the root.
        files: Ignored files.
        kept: What git keeps: tracked, or untracked and not ignored.
        opaque: Directories of repositories that could not be asked.
    """

    directories: tuple[str, ...]
    files: tuple[str, ...]
    kept: tuple[str, ...]
    opaque: tuple[str, ...] = ()


@dataclass(slots=True)
class Part:
    """One repository's answer.

    Attributes:
        at: Where it is in the project: empty, or a path ending in ``/``.
        index: What identifies the index file's content without reading it.
        tracked: What the index holds; None until it was asked.
        tracked_digest: Recognizes the same list again, without keeping it.
        submodules: Places of submodules, relative to the project's root.
    """

    at: bytes
    repository: Repository
    status: Status
    index: Identity | None
    tracked: Listed | None = None
    tracked_digest: bytes = b""
    submodules: tuple[bytes, ...] = ()

    @property
    def records(self) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """What the plan depends on: the ignored and the untracked paths."""
        mine = self.repository.prefix + _OWN
        untracked = tuple(path for path in self.status.untracked if not path.startswith(mine))
        return self.status.ignored, untracked

    def says_the_same_as(self, other: Part) -> bool:
        if (self.at, self.tracked_digest) != (other.at, other.tracked_digest):
            return False
        return self.status.raw == other.status.raw or self.records == other.records


@dataclass(slots=True)
class Survey:
    """Every repository of a project, as asked at one time.

    Attributes:
        failures: Why a nested repository could not be asked, by its place.
    """

    parts: list[Part] = field(default_factory=list)
    failures: dict[bytes, Failure] = field(default_factory=dict)

    def says_the_same_as(self, other: Survey) -> bool:
        if len(self.parts) != len(other.parts) or set(self.failures) != set(other.failures):
            return False
        return all(
            one.says_the_same_as(two) for one, two in zip(self.parts, other.parts, strict=True)
        )


class Surveyor:
    """Asks the repositories of one project, and remembers where they are."""

    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        self._root = root
        self._known: dict[bytes, tuple[object, Repository]] = {}

    def survey(self, cancel: Cancel | None, last: Survey | None = None) -> Survey:
        """Ask every repository, one process each, and a second where its index is not *last*'s.

        Raises:
            NotAWorkTree: There is no repository at, above or below the root.
            Failure: The repository of the root itself cannot be asked.
        """
        known = {part.at: part for part in last.parts} if last is not None else {}
        starts = list(self._first(cancel))
        if not starts:
            raise NotAWorkTree("not_a_work_tree", "There is no git work tree here.")
        parts, failures = ask_each(
            self._root, starts, lambda at: self._ask(at, known.get(at), cancel)
        )
        return Survey(list(parts.values()), failures)

    def _first(self, cancel: Cancel | None) -> Iterator[bytes]:
        """The root where it is in a work tree, else the repositories below it."""
        try:
            self._locate(b"", cancel)
        except NotAWorkTree:
            marker = find_git_root(self._root)
            if marker is not None:  # a damaged repository is not "nothing is ignored"
                raise GitFailed(
                    "git_failed", f"git does not accept the repository in {shorten(str(marker))}."
                ) from None
            yield from repositories_below(self._root)
        else:
            yield b""

    def _locate(self, at: bytes, cancel: Cancel | None) -> Repository:
        directory = self._root / os.fsdecode(at)
        marker = find_git_root(directory)
        # A ``.git`` that becomes a file (`git submodule absorbgitdirs`) moves the index.
        marked = (marker, None if marker is None else _kind(marker / ".git"))
        known = self._known.get(at)
        if marker is not None and known is not None and known[0] == marked:
            return known[1]
        repository = self._git.repository(directory, cancel)
        if at and repository.prefix:  # the ``.git`` there is none: git went further up
            raise NotAWorkTree("not_a_work_tree", "Not a repository of its own.")
        self._known[at] = (marked, repository)
        return repository

    def _ask(
        self, at: bytes, last: Part | None, cancel: Cancel | None
    ) -> tuple[Part, Iterable[bytes]]:
        repository = self._locate(at, cancel)
        index = identity(repository.index)
        status = self._git.status(repository, cancel=cancel)
        if last is not None and last.status.raw == status.raw:
            status = last.status  # with what was made of it
        part = Part(at, repository, status, index)
        if last is not None and last.index == index:
            part.tracked_digest, part.submodules = last.tracked_digest, last.submodules
        else:
            self.complete(part, cancel)
        cut = len(repository.prefix)
        untracked = (at + path[cut:] for path in status.untracked if path.endswith(b"/"))
        return part, (*part.submodules, *untracked)

    def complete(self, part: Part, cancel: Cancel | None) -> Listed:
        """Ask what the index holds, where that is not at hand."""
        if part.tracked is None:
            tracked = self._git.listed(part.repository.directory, cancel, untracked=False)
            part.tracked = tracked
            part.tracked_digest = hashlib.sha256(b"\0".join(tracked.files)).digest()
            part.submodules = tuple(part.at + link for link in tracked.nested)
        return part.tracked

    def tracked_ignored(self, survey: Survey, cancel: Cancel | None) -> Iterator[str]:
        """Tracked files that ``.gitignore`` files ignore, relative to the project's root."""
        for part in survey.parts:
            for path in self._git.tracked_ignored(part.repository, cancel):
                yield os.fsdecode(part.at + path)


def collect(survey: Survey, surveyor: Surveyor, cancel: Cancel | None) -> Ignored:
    """Put the answers together, as paths relative to the project's root."""
    directories: list[str] = []
    files: list[str] = []
    kept: list[str] = []
    for part in survey.parts:
        cut = len(part.repository.prefix)
        for path in part.status.ignored:
            if part.repository.prefix.startswith(path) and path.endswith(b"/"):
                directories.append(os.fsdecode(part.at[:-1]))
            elif path.endswith(b"/"):
                directories.append(os.fsdecode(part.at + path[cut:-1]))
            else:
                files.append(os.fsdecode(part.at + path[cut:]))
        tracked = surveyor.complete(part, cancel).files
        untracked = [path[cut:] for path in part.status.untracked if not path.endswith(b"/")]
        prefix = os.fsdecode(part.at)
        kept += [prefix + os.fsdecode(path) for path in tracked]
        kept += [prefix + os.fsdecode(path) for path in untracked]
        part.tracked = None  # 100,000 names are not kept for a comparison that a hash can do
    opaque = tuple(os.fsdecode(place[:-1]) for place in survey.failures)
    return Ignored(tuple(directories), tuple(files), tuple(kept), opaque)


def _kind(marker: Path) -> Identity | int | None:
    """What distinguishes one ``.git`` from another; git changes a directory's times all along."""
    found = identity(marker)
    return found.inode if found is not None and stat.S_ISDIR(found.mode) else found
