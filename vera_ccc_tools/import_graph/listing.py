"""The files that the import graph is made of: what git does not ignore, of languages it reads."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vera_ccc_tools.chunks import grammars
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.git import repositories
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
        self._last: tuple[object, Listing] | None = None

    def listing(self, cancel: Cancel) -> Listing:
        """The files now; the very object of the last time when nothing came or went.

        Raises:
            Failure: ``git_timeout``.
        """
        walked: list[bytes] = []
        unreadable: list[bytes] = []
        try:
            answers, failures = self._ask([b""], cancel)
        except (GitMissing, NotAWorkTree, GitFailed):
            answers, failures = self._below(cancel)
            walked = list(self._walk(answers, unreadable, cancel))
        unreadable += failures
        unreadable += [at + path for at, listed in answers.items() for path in listed.unreadable]
        found = {at: listed.raw for at, listed in answers.items()}, walked, unreadable
        if self._last is None or self._last[0] != found:
            kept = (at + path for at, listed in answers.items() for path in listed.files)
            paths = {os.fsdecode(path) for path in (*walked, *kept)}
            hidden = {os.fsdecode(path).rstrip("/") for path in unreadable}
            made = Listing(tuple(sorted(filter(is_read, paths))), tuple(sorted(hidden)))
            self._last = found, made
        return self._last[1]

    def _ask(
        self, starts: Iterable[bytes], cancel: Cancel
    ) -> tuple[dict[bytes, Listed], dict[bytes, Failure]]:
        git = Git.find(self._environ)

        def ask(at: bytes) -> tuple[Listed, Iterable[bytes]]:
            listed = git.listed(self._root / os.fsdecode(at), cancel)
            return listed, [at + each for each in listed.nested]

        return repositories.ask_each(self._root, starts, ask)

    def _below(self, cancel: Cancel) -> tuple[dict[bytes, Listed], dict[bytes, Failure]]:
        with suppress(GitMissing):
            return self._ask(repositories.repositories_below(self._root, _is_walked), cancel)
        return {}, {}

    def _walk(
        self, asked: Container[bytes], unreadable: list[bytes], cancel: Cancel
    ) -> Iterator[bytes]:
        """Every file that no repository was *asked* for, but for what is usually installed."""
        base = os.fsencode(self._root)

        def note(error: OSError) -> None:
            unreadable.append(repositories.place_of(os.fsencode(error.filename), base))

        for directory, names, files in os.walk(base, onerror=note):
            cancel.check()
            at = repositories.place_of(directory, base)
            if at in asked:
                names.clear()
                continue
            names[:] = filter(_is_walked, names)
            yield from (at + name for name in files)


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


def _is_walked(name: bytes) -> bool:
    return not name.startswith(b".") and os.fsdecode(name) not in _LEFT_OUT
