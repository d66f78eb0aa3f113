"""ccc's own reading of the ``.gitignore`` files, to name what it hides although git tracks it.

ccc asks these files before the patterns of its settings, so no pattern can bring such a file
back. The rules here are ccc's (``cocoindex_code/file_walk.py`` and ``load_gitignore_spec``,
0.2.42), with its differences from git: no exclude file but ``.gitignore``, none above the
project's root, a file that does not decode counts as empty, and each nested file's lines are
rewritten relative to the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools.system.tasks import Cancel

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_CHECK_EVERY = 1000


def hidden(root: Path, files: Iterable[str], cancel: Cancel | None = None) -> tuple[str, ...]:
    """Those of *files* (relative to *root*) that ccc leaves out for a ``.gitignore`` line.

    Slow: every file is matched against every line above it.
    """
    reading = _Reading(root)
    found = []
    for count, path in enumerate(files):
        if cancel is not None and count % _CHECK_EVERY == 0:
            cancel.check()
        if reading.hides(path):
            found.append(path)
    return tuple(found)


class _Reading:
    """The ``.gitignore`` files of a project as ccc understands them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._hidden_directories: dict[str, bool] = {"": False}

    def hides(self, path: str) -> bool:
        parent = _parent(path)
        return self._hides_directory(parent) or self._matches(parent, path)

    def _hides_directory(self, path: str) -> bool:
        known = self._hidden_directories.get(path)
        if known is None:
            # A directory is asked with its own file's lines too, and with a final slash.
            known = self._hides_directory(_parent(path)) or self._matches(path, path + "/")
            self._hidden_directories[path] = known
        return known

    def _matches(self, directory: str, path: str) -> bool:
        spec = self._spec(directory)
        return spec is not None and spec.match_file(path)

    def _spec(self, directory: str) -> GitIgnoreSpec | None:
        from pathspec import GitIgnoreSpec

        if directory not in self._specs:
            lines = self._lines(directory)
            if directory:
                above = self._spec(_parent(directory))
                rewritten = list(_below(lines, directory))
                own = GitIgnoreSpec.from_lines(rewritten) if rewritten else None
                spec = above + own if above is not None and own is not None else above or own
            else:
                spec = GitIgnoreSpec.from_lines(lines) if lines else None
            self._specs[directory] = spec
        return self._specs[directory]

    def _lines(self, directory: str) -> list[str]:
        path = self._root / directory / ".gitignore"
        try:
            # ccc decodes it as the locale says, which is what is to be reported.
            text = path.read_text(encoding="locale") if path.is_file() else ""
        except (OSError, UnicodeDecodeError):
            return []
        return text.splitlines()


def _below(lines: Iterable[str], directory: str) -> Iterator[str]:
    """Rewrite the lines of a nested file so that they mean the same from the root."""
    for raw in lines:
        line = raw[1:] if raw.startswith(("\\#", "\\!")) else raw
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        negated = line.startswith("!")
        body = line[negated:].strip()
        if not body:
            continue
        deep = "" if "/" in body else "**/"
        yield f"{'!' if negated else ''}{directory}/{deep}{body.lstrip('/')}"


def _parent(path: str) -> str:
    return path[: max(path.rfind("/"), 0)]
