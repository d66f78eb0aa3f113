"""The files that the import graph is made of: what git does not ignore, of languages it reads."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from vera_ccc_tools.chunks.grammars import language_of
from vera_ccc_tools.git import repositories
from vera_ccc_tools.git.git import Git, GitFailed, GitMissing, Listed, NotAWorkTree
from vera_ccc_tools.import_graph import manifests
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

_LEFT_OUT = frozenset(
    """
    __pycache__ bower_components build dist env node_modules out site-packages target vendor venv
    """.split()
)
"""Directories that a walk without git leaves out beside hidden ones: what is installed, built."""


class Lister:
    """Lists the files of one project, and knows the same answer again."""

    def __init__(self, root: Path, environment: Environment) -> None:
        self._root = root
        self._environment = environment
        self._last: tuple[object, frozenset[str]] | None = None

    def listing(self, cancel: Cancel) -> frozenset[str]:
        """Source files and manifests, from the root with forward slashes; some may be gone.

        Raises:
            Failure: ``git_timeout``.
        """
        walked: list[bytes] = []
        try:
            answers = self._ask([b""], cancel)
        except (GitMissing, NotAWorkTree, GitFailed):
            answers = self._below(cancel)
            walked = list(self._walk(answers, cancel))
        found = {at: listed.raw for at, listed in answers.items()}, walked
        if self._last is None or self._last[0] != found:
            kept = (at + path for at, listed in answers.items() for path in listed.files)
            paths = map(os.fsdecode, (*walked, *kept))
            read = (path for path in paths if language_of(path) or manifests.is_manifest(path))
            self._last = found, frozenset(read)
        return self._last[1]

    def _ask(self, starts: Iterable[bytes], cancel: Cancel) -> dict[bytes, Listed]:
        git = Git.find(self._environment)

        def ask(at: bytes) -> tuple[Listed, Iterable[bytes]]:
            listed = git.listed(self._root / os.fsdecode(at), cancel)
            return listed, [at + each for each in listed.nested]

        return repositories.ask_each(self._root, starts, ask)[0]

    def _below(self, cancel: Cancel) -> dict[bytes, Listed]:
        with suppress(GitMissing):
            return self._ask(repositories.repositories_below(self._root, _is_walked), cancel)
        return {}

    def _walk(self, asked: Container[bytes], cancel: Cancel) -> Iterator[bytes]:
        """Every file that no repository was *asked* for, but for what is usually installed."""
        base = os.fsencode(self._root)
        for directory, names, files in os.walk(base):
            cancel.check()
            at = repositories.place_of(directory, base)
            if at in asked:
                names.clear()
                continue
            names[:] = filter(_is_walked, names)
            yield from (at + name for name in files)


def _is_walked(name: bytes) -> bool:
    return not name.startswith(b".") and os.fsdecode(name) not in _LEFT_OUT
