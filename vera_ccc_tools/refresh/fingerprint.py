"""Does the index still match the disk? Decided from git's answer, without ccc.

A fingerprint covers what ccc would see: HEAD, every changed and untracked file with its size and
times, the settings, the index database, ccc and its daemon. Tracked files that git calls unchanged
are vouched for by git, which compares their stat data with its index. Ignored files need no place
in it: where one changes what ccc sees, the sync writes the settings.

It errs in one direction only. What git cannot vouch for is either looked at here (files marked
``assume-unchanged`` or ``skip-worktree``, targets of symbolic links, nested repositories) or makes
the whole answer unknown. One thing is left to git: line ends and other content that a clean filter
of the user's own normalizes away count as unchanged, as they do for every git command.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Ccc
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.git.git import Git, Repository, Status
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.files import Identity, identity
from vera_ccc_tools.system.tasks import Cancel

COARSE_TICK = 2_000_000_000
"""Nanoseconds within which two writes can leave the same time on file systems that keep whole
seconds (and FAT, which keeps every other one)."""

View = tuple[Repository, Status]


class Unknown(Failure):
    """Whether something changed is not known here; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__("unknown", message)


@dataclass(frozen=True, slots=True)
class Files:
    """The state of the files of a project.

    Attributes:
        digest: Equal for equal states.
        settled: Whether a file that is written once more, after an index run has read it, will
            show that.
    """

    digest: bytes
    settled: bool


def is_settled(newest: int) -> bool:
    """Whether the *newest* of some times (ns since the epoch) is that of no later write.

    Fine clocks tick many times before ccc has started; coarse ones may not until it is done.
    """
    return newest % 1_000_000 != 0 or time.time_ns() - newest > COARSE_TICK


@dataclass(frozen=True, slots=True)
class Inputs:
    """The state of what an index run reads beside the files."""

    settings: Identity | None
    global_settings: Identity | None
    executable: Identity | None


@dataclass(frozen=True, slots=True)
class Index:
    """The state of what an index run writes, and of the daemon that searches it."""

    database: Identity | None
    pid: int | None
    pid_file: Identity | None


def inputs(root: Path, ccc: Ccc) -> Inputs:
    """Look at the settings and at ccc; a few ``stat`` calls."""
    return Inputs(
        settings=identity(project.settings_path(root)),
        global_settings=identity(ccc.places.global_settings),
        executable=identity(ccc.executable.resolve()),
    )


def index(root: Path, ccc: Ccc) -> Index | None:
    """Look at the index and the daemon; a few ``stat`` calls.

    None where no daemon is up: one that starts begins with an index run of its own.
    """
    if not ccc.daemon.is_up:
        return None
    return Index(
        database=identity(ccc.places.index(root)),
        pid=ccc.daemon.process_id,
        pid_file=identity(ccc.daemon.pid_file),
    )


class Watch:
    """Looks at the files of projects, and remembers what an unchanged git index says."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._hidden: dict[Path, tuple[Identity, _Hidden]] = {}

    def files(self, views: Sequence[View], cancel: Cancel) -> Files:
        """The state of the files that *views*, git's answers of one moment, speak of.

        Raises:
            Unknown: Something there changes what ccc finds without git seeing it.
        """
        looked = _Looked(views)
        known = {os.fsencode(repository.directory) for repository, _ in views}
        for repository, status in views:
            top = os.fsencode(repository.top) + b"/"
            looked.add(top, *_lines(status.raw))
            hidden = self._hidden_of(repository, cancel)
            _check_nested([top + name for name in (*status.untracked, *hidden.gitlinks)], known)
            for name in _named(status, hidden):
                looked.file(top + name)
        return looked.files()

    def _hidden_of(self, repository: Repository, cancel: Cancel) -> _Hidden:
        state = identity(repository.index)
        with self._lock:
            known = self._hidden.get(repository.directory)
        if known is not None and known[0] == state:
            return known[1]
        hidden = _ask_hidden(Git.find(self._environment), repository, cancel)
        if state is not None:
            with self._lock:
                self._hidden[repository.directory] = (state, hidden)
        return hidden


@dataclass(frozen=True, slots=True)
class _Hidden:
    """Entries of a git index whose content ``git status`` does not vouch for.

    Attributes:
        files: Marked ``assume-unchanged`` or ``skip-worktree``, or symbolic links; relative to
            the work tree's root.
        gitlinks: Submodules, whose content git is asked for separately.
    """

    files: tuple[bytes, ...]
    gitlinks: tuple[bytes, ...]


def _ask_hidden(git: Git, repository: Repository, cancel: Cancel) -> _Hidden:
    # Tag, mode, object, stage, TAB, path: git-ls-files(1), --stage and -v. A lower-case tag is
    # assume-unchanged, S is skip-worktree, H everything else.
    answer = git.ask(
        repository.directory, "ls-files", "--full-name", "-v", "--stage", "-z", cancel=cancel
    )
    files, gitlinks = [], []
    for record in answer.split(b"\0"):
        mode = record[2:8]
        if mode == b"160000":
            gitlinks.append(record.partition(b"\t")[2] + b"/")
        elif record[:2] != b"H " or mode == b"120000":
            files.append(record.partition(b"\t")[2])
    return _Hidden(tuple(name for name in files if name), tuple(gitlinks))


def _named(status: Status, hidden: _Hidden) -> Iterator[bytes]:
    for record in status.changed:
        # `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`: git-status(1).
        yield record.split(b" ", 10 if record.startswith(b"u") else 8)[-1]
    for name in status.untracked:
        if not name.endswith(b"/"):
            yield name
    for name in status.ignored:
        if name == b".gitignore" or name.endswith(b"/.gitignore"):
            yield name  # ccc reads it all the same
    yield from hidden.files


def _check_nested(directories: Iterable[bytes], known: set[bytes]) -> None:
    for directory in directories:
        if not directory.endswith(b"/") or directory.rstrip(b"/") in known:
            continue
        if os.path.lexists(directory + b".git"):
            raise Unknown(f"nothing is known of the repository {os.fsdecode(directory)}")
        if _has_entries(directory):
            raise Unknown(f"git does not look into {os.fsdecode(directory)}")


def _has_entries(directory: bytes) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(True for _ in entries)
    except OSError:
        return False


def _lines(raw: bytes) -> Iterator[bytes]:
    """The records that decide what ccc sees.

    Not those of ignored files: where one changes what ccc sees, the sync writes the settings.
    """
    for record in raw.split(b"\0"):
        if record.startswith((b"# branch.oid", b"1 ", b"2 ", b"u ", b"? ")):
            yield record


class _Looked:
    """Collects a digest and the newest time."""

    def __init__(self, views: Sequence[View]) -> None:
        self._digest = hashlib.sha256()
        self._newest = 0
        self._views = views

    def add(self, *parts: bytes) -> None:
        for part in parts:
            self._digest.update(len(part).to_bytes(8, "big") + part)

    def file(self, path: bytes) -> None:
        state = identity(path, follow=False)
        self.add(path, repr(state).encode())
        if state is None:
            return
        self._newest = max(self._newest, state.mtime, state.ctime)
        if stat.S_ISLNK(state.mode):
            self._link(path)

    def _link(self, path: bytes) -> None:
        # ccc follows links, git does not.
        target = os.path.realpath(path)
        state = identity(target)
        if state is not None and stat.S_ISDIR(state.mode):
            if not any(_vouches(repository, status, target) for repository, status in self._views):
                raise Unknown(f"{os.fsdecode(path)} is a symbolic link to a directory")
            state = None
        self.add(target, repr(state).encode())
        if state is not None:
            self._newest = max(self._newest, state.mtime, state.ctime)

    def files(self) -> Files:
        return Files(self._digest.digest(), is_settled(self._newest))


def _vouches(repository: Repository, status: Status, directory: bytes) -> bool:
    """Whether git sees each change below *directory*: in this work tree, nothing of it ignored."""
    top = os.fsencode(repository.directory) + b"/"
    inside = directory + b"/"
    if not inside.startswith(top):
        return False
    inside = inside[len(os.fsencode(repository.top)) + 1 :]
    names = [*status.ignored, *(name for name in status.untracked if name.endswith(b"/"))]
    return not any(name.startswith(inside) or inside.startswith(name) for name in names)
