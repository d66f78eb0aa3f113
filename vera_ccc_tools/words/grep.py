"""What stands in the files that may match: asked of one git, or of a walk where there is none.

``git grep --no-index --exclude-standard`` looks through what git does not ignore, tracked or not,
in repositories within the project too, and follows no links. A tracked file that an ignore rule
matches is not looked through: ccc does not index it either.
"""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.git import git
from vera_ccc_tools.git.git import Git, GitMissing
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.process import Command, Finished, run
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.words.scope import Scope

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

OUTPUT_LIMIT = 8 * 1024 * 1024
"""Bytes of matches that are read; the rest of a flood says nothing new."""
WALKED_FILES = 20_000
WALKED_BYTES = 64 * 1024 * 1024
"""How much is looked through without git."""
MAX_FILE = 1024 * 1024
"""Bytes of a file that are read; a larger one is data, or generated."""
_GIT = ("--no-optional-locks", "-c", "core.fsmonitor=")
_GREP = (
    *("grep", "--no-index", "--exclude-standard", "--no-recurse-submodules", "-I", "-z"),
    # What a user's configuration may turn on.
    *("--no-color", "--no-line-number", "--no-column", "--no-heading", "--no-break"),
    *("--ignore-case", "--only-matching"),
)

_NO_MATCH = 1

Texts = dict[str, Counter[str]]
Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]
"""The ignore files from the root down, each with its directory, which ends in a slash."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found.

    Attributes:
        texts: What matched in each file, by its path from the root, and how often.
        whole: Whether all files were looked through.
    """

    texts: Texts
    whole: bool


class Finder:
    """Looks through the files of one scope, all of them within *deadline* seconds from now."""

    def __init__(
        self,
        root: Path,
        scope: Scope,
        *,
        environment: Environment,
        cancel: Cancel,
        deadline: float,
    ) -> None:
        self._root = root
        self._scope = scope
        self._environment = environment
        self._repositories = {"": ""}
        self._cancel = cancel
        self._until = time.monotonic() + deadline
        self._env = git.child_environment(environment)
        try:
            self._git: Path | None = Git.find(environment).executable
        except GitMissing:
            self._git = None

    def look(self, pattern: str) -> Looked:
        """Everything that *pattern* matches, in either case.

        Raises:
            Failure: ``git_failed``, otherwise than by the deadline.
            Cancelled: The call is.
        """
        if self._git is None:
            return self._walk(re.compile(os.fsencode(pattern), re.IGNORECASE))
        if not self._scope.pathspecs():
            return Looked({}, whole=True)
        finished = self._ask(self._git, "--perl-regexp", pattern)
        if finished.ended == "exit" and b"Perl-compatible" in finished.stderr.head:
            # This git is built without PCRE; POSIX takes twice as long.
            finished = self._ask(self._git, "--extended-regexp", pattern)
        self._cancel.check()
        if finished.ended == "exit" and finished.returncode not in {0, _NO_MATCH}:
            said = shorten(finished.stderr.head.decode(errors="replace").strip(), 200)
            raise Failure("git_failed", f"git grep in {shorten(str(self._root))} failed: {said}")
        whole = finished.ended == "exit" and finished.stdout.whole
        return Looked(read(finished.stdout.head), whole)

    def not_ignored(self, paths: Sequence[str]) -> list[str]:
        """Those of *paths* that no exclude file of a repository within the project ignores.

        Nothing else that ignores files is left to ask.
        """
        if self._git is None:
            return list(paths)
        of_repository: dict[str, list[str]] = {}
        for path in paths:
            of_repository.setdefault(self._repository(posixpath.dirname(path)), []).append(path)
        asked = Git(self._git, self._environment)
        ignored: set[str] = set()
        for at, inside in of_repository.items():
            if not at:
                continue
            names = [os.fsencode(path[len(at) + 1 :]) for path in inside]
            try:
                rules = asked.rules(self._root / at, names, self._cancel)
            except Failure:  # who cannot be asked may ignore them all
                ignored.update(inside)
            else:
                ignored.update(f"{at}/{os.fsdecode(name)}" for name in rules)
        return [path for path in paths if path not in ignored]

    def _repository(self, directory: str) -> str:
        """The repository within the project that *directory* is in; empty for the project's own."""
        known = self._repositories.get(directory)
        if known is None:
            if os.path.lexists(self._root / directory / ".git"):
                known = directory
            else:
                known = self._repository(posixpath.dirname(directory))
            self._repositories[directory] = known
        return known

    def _ask(self, executable: Path, kind: str, pattern: str) -> Finished:
        asked = (*_GREP, kind, "-e", pattern, "--", *self._scope.pathspecs())
        command = Command(
            (str(executable), *_GIT, *asked), self._root, self._env, head_limit=OUTPUT_LIMIT
        )
        left = max(0.0, self._until - time.monotonic())
        return run(command, deadline=left, cancel=self._cancel)

    def _walk(self, pattern: re.Pattern[bytes]) -> Looked:
        texts: Texts = {}
        read = 0
        for count, path in enumerate(self._files("", ())):
            self._cancel.check()
            if count >= WALKED_FILES or read >= WALKED_BYTES or time.monotonic() > self._until:
                return Looked(texts, whole=False)
            data = contents(self._root, path)
            read += len(data)
            found = Counter(match[0].decode(errors="replace") for match in pattern.finditer(data))
            if found:
                texts[path] = found
        return Looked(texts, whole=True)

    def _files(self, at: str, rules: Rules) -> Iterator[str]:
        """The files of a directory, which ends in a slash, that no ``.gitignore`` ignores."""
        try:
            with os.scandir(self._root / at) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return
        if any(entry.name == ".gitignore" for entry in listed):
            from pathspec import GitIgnoreSpec

            lines = contents(self._root, f"{at}.gitignore").decode(errors="replace").splitlines()
            rules = (*rules, (at, GitIgnoreSpec.from_lines(lines)))
        for entry in listed:
            path = f"{at}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not self._scope.leaves_out(path) and not _ignored(f"{path}/", rules):
                    yield from self._files(f"{path}/", rules)
            elif (
                entry.is_file(follow_symlinks=False)
                and self._scope.holds(path)
                and not _ignored(path, rules)
            ):
                yield path


def _ignored(path: str, rules: Rules) -> bool:
    # One that takes back what a file above it ignores is not heard: nothing ignored is shown.
    return any(spec.match_file(path[len(at) :]) for at, spec in rules)


def read(data: bytes) -> Texts:
    """Read records of ``path NUL match LF``, the last of which may be cut."""
    data = data[: data.rfind(b"\n") + 1]
    if data.count(b"\n") == data.count(b"\0"):
        records = Counter(data.split(b"\n")[:-1])
    else:  # a path has a line feed in it
        records = Counter(match[1] for match in re.finditer(rb"([^\0]*\0[^\n]*)\n", data))
    texts: Texts = {}
    for record, times in records.items():
        path, _, text = record.partition(b"\0")
        texts.setdefault(os.fsdecode(path), Counter())[text.decode(errors="replace")] += times
    return texts


def contents(root: Path, path: str) -> bytes:
    """The content of a file as far as it is read; nothing where it is gone, or binary."""
    try:
        with (root / path).open("rb") as file:
            data = file.read(MAX_FILE)
    except OSError:
        return b""
    return b"" if b"\0" in data else data
