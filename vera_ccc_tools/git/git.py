"""Ask git about a work tree: what it ignores, what it keeps, where its index is.

Every question goes through one door: a scrubbed environment, messages in English, no optional
locks, a deadline, and output that is refused rather than read when it was cut. Paths are asked
for with ``-z`` and decoded by `os.fsdecode`, so every name a file system can hold survives.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.process import Command, Finished, run
from vera_ccc_tools.system.tasks import Cancel, Cancelled

DEADLINE = 30.0
"""Seconds that one question may take. A work tree of 100,000 files takes a fifth of one."""
OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of output that are read, some 700,000 paths; a list that was cut is never used."""
GITLINK = b"160000"
"""The index mode of a submodule (gitglossary: gitlink)."""

# An fsmonitor is a program that the repository names: it is not started on its behalf, and
# a daemon of git's own would outlive the question. Empty means off, before git 2.36 too.
_PREFIX = ("--no-optional-locks", "-c", "core.fsmonitor=")
STATUS = (
    *_PREFIX,
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-ahead-behind",
    "-z",
    "--ignored=matching",
    "--untracked-files=all",
    "--ignore-submodules=all",
    "--no-renames",
)
"""What git is asked on every sync."""
_KEPT = frozenset(
    {
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_NONE_IGNORED = 1
"""The exit status of ``git check-ignore`` that is an answer (git-check-ignore(1))."""
_NO_REPOSITORY = (
    b"not a git repository (or any",
    b"must be run in a work tree",
)


class GitMissing(Failure):
    """There is no ``git`` on ``PATH``."""


class NotAWorkTree(Failure):
    """The directory belongs to no repository, or to one without a work tree."""


class GitTimeout(Failure):
    """git did not answer before its deadline."""


class GitFailed(Failure):
    """git answered with an error: dubious ownership, a corrupt index, a broken link."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree as seen from one directory in it.

    Attributes:
        directory: The absolute directory that git is asked in.
        top: The work tree's root.
        prefix: *directory* relative to *top*, empty or ending in ``/``.
        index: The index file, which may not exist yet.
    """

    directory: Path
    top: Path
    prefix: bytes
    index: Path


@dataclass(frozen=True)
class Status:
    """The answer to one ``git status``: what is ignored, what is new, what changed.

    Paths are relative to the work tree's root; a directory ends in ``/``. A directory among
    *untracked* is a nested repository (``--untracked-files=all`` lists files otherwise); one
    among *ignored* matches an ignore rule itself (``--ignored=matching``), so that everything
    in it, now and later, is ignored.

    Attributes:
        raw: The records as git wrote them.
    """

    raw: bytes

    @cached_property
    def ignored(self) -> tuple[bytes, ...]:
        return tuple(record[2:] for record in self._records if record.startswith(b"! "))

    @cached_property
    def untracked(self) -> tuple[bytes, ...]:
        return tuple(record[2:] for record in self._records if record.startswith(b"? "))

    @cached_property
    def changed(self) -> tuple[bytes, ...]:
        """The records of tracked files that differ from the index or from HEAD, as they are."""
        return tuple(record for record in self._records if record[:2] in {b"1 ", b"2 ", b"u "})

    @cached_property
    def _records(self) -> tuple[bytes, ...]:
        return tuple(_without_origins(self.raw.split(b"\0")))


@dataclass(frozen=True, slots=True)
class Rule:
    """The ignore rule that decides for a path.

    Attributes:
        source: The file that holds it, relative to the work tree's root or absolute.
        line: Its line there, counted from 1.
        pattern: The rule as it is written.
    """

    source: str
    line: int
    pattern: str


@dataclass(frozen=True)
class Listed:
    """What git keeps in a directory, relative to it: tracked, or also untracked and not ignored.

    Attributes:
        raw: The records as git wrote them.
    """

    raw: bytes

    @cached_property
    def files(self) -> tuple[bytes, ...]:
        """Tracked files, on disk or not, and untracked ones; one in conflict once."""
        found = dict.fromkeys(self._records)
        for each in self._directories:
            found.pop(each, None)
        return tuple(found)

    @cached_property
    def nested(self) -> tuple[bytes, ...]:
        """Submodules and nested repositories, which git does not look into; they end in ``/``."""
        return tuple(
            each.partition(b"\t")[2] + b"/" if each.startswith(_LINK) else each
            for each in self._directories
        )

    @cached_property
    def _records(self) -> list[bytes]:
        """The paths; in front of that of a submodule is still what git says of it."""
        return _STAGED.sub(b"\0", b"\0" + self.raw).split(b"\0")[1:-1]

    @cached_property
    def _directories(self) -> list[bytes]:
        if _LINK not in self.raw and b"/\0" not in self.raw:
            return []  # as nearly always, also for 100,000 records
        return [each for each in self._records if each.endswith(b"/") or each.startswith(_LINK)]


_LINK = GITLINK + b" "
# Mode, object, stage, TAB: git-ls-files(1), --stage. An untracked path stands alone.
_STAGED = re.compile(rb"\0(?!160000)[0-7]{6} [0-9a-f]{40,64} [0-3]\t")


class Git:
    """The installed git."""

    def __init__(self, executable: Path, environment: Environment) -> None:
        self.executable = executable
        self._env = child_environment(environment)

    @classmethod
    def find(cls, environment: Environment) -> Git:
        """Find git on ``PATH``.

        Raises:
            GitMissing: When it is not there.
        """
        executable = environment.executable("git")
        if executable is None:
            raise GitMissing("git_missing", "git is not on PATH.", "Install git.")
        return cls(executable, environment)

    def version(self, cancel: Cancel | None = None) -> str:
        """The version that git prints of itself, such as ``2.39.5``."""
        answer = self.ask(Path.cwd(), "--version", cancel=cancel)
        return answer.decode(errors="replace").strip().removeprefix("git version ")

    def repository(self, directory: Path, cancel: Cancel | None = None) -> Repository:
        questions = (("--show-toplevel",), ("--show-prefix",), ("--git-path", "index"))
        flat = [word for words in questions for word in words]
        lines = self.ask(directory, "rev-parse", *flat, cancel=cancel).split(b"\n")
        if len(lines) != len(questions) + 1:  # a directory's name holds a newline
            lines = [
                self.ask(directory, "rev-parse", *words, cancel=cancel)[:-1] for words in questions
            ]
        top, prefix, index = lines[:3]
        return Repository(
            directory,
            Path(os.fsdecode(top)),
            prefix,
            directory / os.fsdecode(index),
        )

    def status(
        self,
        repository: Repository,
        *,
        cancel: Cancel | None = None,
        deadline: float = DEADLINE,
    ) -> Status:
        """Ask what is ignored, untracked and changed in the repository's directory.

        One process. A directory that git ignores altogether is answered by the topmost ignored
        directory that it is in (or is), not by its content.
        """
        limit = ("--", ".") if repository.prefix else ()
        asked = (*STATUS[len(_PREFIX) :], *limit)
        answer = self.ask(repository.directory, *asked, cancel=cancel, deadline=deadline)
        return Status(answer)

    def tracked_ignored(
        self, repository: Repository, cancel: Cancel | None = None
    ) -> tuple[bytes, ...]:
        """Tracked files that ``.gitignore`` files ignore, relative to the directory asked in."""
        options = ("--cached", "--ignored", "--exclude-per-directory=.gitignore", "-z")
        answer = self.ask(repository.directory, "ls-files", *options, cancel=cancel)
        return tuple(dict.fromkeys(answer.split(b"\0")[:-1]))  # one in conflict is there thrice

    def rules(
        self, top: Path, paths: Iterable[bytes], cancel: Cancel | None = None
    ) -> dict[bytes, Rule]:
        """Which rule ignores each of *paths*, relative to the work tree's root *top*. One process.

        A path that no rule speaks of, or that is tracked, is not in the answer.
        """
        # A path that begins with a colon would be read as pathspec magic (gitglossary(7)).
        given = b"".join(b"./" + path + b"\0" for path in paths)
        if not given:
            return {}
        asked = ("check-ignore", "--verbose", "--non-matching", "-z", "--stdin")
        # Four fields for each path: git-check-ignore(1), OUTPUT.
        fields = self.ask(top, *asked, cancel=cancel, given=given).split(b"\0")
        records = zip(fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
        return {
            path[2:]: Rule(os.fsdecode(source), int(line), os.fsdecode(pattern))
            for source, line, pattern, path in records
            if source and not pattern.startswith(b"!")
        }

    def listed(
        self, directory: Path, cancel: Cancel | None = None, *, untracked: bool = True
    ) -> Listed:
        others = ("--cached", "--others", "--exclude-standard") if untracked else ()
        return Listed(self.ask(directory, "ls-files", "--stage", *others, "-z", cancel=cancel))

    def ask(
        self,
        directory: Path,
        *arguments: str,
        cancel: Cancel | None = None,
        deadline: float = DEADLINE,
        given: bytes = b"",
    ) -> bytes:
        """Run git in *directory*, *given* on its standard input, and return what it printed.

        Raises:
            NotAWorkTree: *directory* is in no work tree.
            GitTimeout: *deadline* seconds passed.
            GitFailed: Any other error; its first line is in the message.
            Failure: ``cannot_run`` when git cannot be started.
        """
        command = self._command(directory, arguments, given)
        return _answered(command, cancel, deadline).stdout.head

    def _command(self, directory: Path, arguments: Sequence[str], given: bytes = b"") -> Command:
        argv = (str(self.executable), *_PREFIX, *arguments)
        return Command(argv, directory, self._env, head_limit=OUTPUT_LIMIT, given=given)


def _answered(command: Command, cancel: Cancel | None, deadline: float) -> Finished:
    finished = run(command, deadline=deadline, cancel=cancel)
    _check(finished, command.cwd, deadline)
    return finished


def child_environment(environment: Environment) -> dict[str, str]:
    """The environment git gets: the caller's without ``GIT_*``, with messages in English.

    A stray ``GIT_DIR`` (hooks are run with one) would answer for another repository. Where
    git finds its configuration and its programs stays as the user has it.
    """
    env = {
        name: value
        for name, value in environment.variables.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
    return env | {"LC_ALL": "C", "LANGUAGE": "C", "GIT_TERMINAL_PROMPT": "0"}


def _without_origins(records: list[bytes]) -> Iterator[bytes]:
    """Drop the second path of a rename, which follows its record without a mark."""
    skip = False
    for record in records:
        if skip:
            skip = False
            continue
        skip = record.startswith(b"2 ")
        yield record


def _check(finished: Finished, directory: Path, deadline: float) -> None:
    verb = next((word for word in finished.argv[4:] if not word.startswith("-")), "git")
    where = f"git {verb} in {shorten(str(directory))}"
    if finished.ended == "cancel":
        raise Cancelled
    if finished.ended == "deadline":
        raise GitTimeout("git_timeout", f"{where} did not answer within {deadline:g} s.")
    fine = {0, _NONE_IGNORED} if verb == "check-ignore" else {0}
    if finished.returncode in fine:
        if not finished.stdout.whole:
            raise GitFailed("git_failed", f"{where} printed more than can be read.")
        return
    message = finished.stderr.head
    if any(words in message for words in _NO_REPOSITORY):
        raise NotAWorkTree("not_a_work_tree", f"{shorten(str(directory))} is no git work tree.")
    untrusted = re.search(rb"dubious ownership in repository at '(.+?)'", message)
    if untrusted is not None:
        top = untrusted[1].decode(errors="replace")
        raise GitFailed(
            "git_failed",
            f"git does not trust the repository {top}, which belongs to another user; "
            f"`git config --global --add safe.directory {top}` makes it trust it.",
        )
    raise GitFailed("git_failed", f"{where} failed: {_first_line(message, finished.returncode)}")


def _first_line(message: bytes, returncode: int) -> str:
    lines = [line.strip() for line in message.decode(errors="replace").splitlines()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return next((line for line in told if line), f"exit status {returncode}")
